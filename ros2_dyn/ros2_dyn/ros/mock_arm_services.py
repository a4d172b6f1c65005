# SPDX-License-Identifier: Apache-2.0
"""The services of the mock arm: they switch its controllers, and let forces and hands act on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import Point, Vector3
from rclpy.node import Node
from ros2_dyn_interfaces.msg import Controller
from ros2_dyn_interfaces.srv import ApplyContact, LeadHand, ListControllers, SwitchController

from ros2_dyn.errors import InputError
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.controllers import Controllers
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.simulated_arm import SimulatedArm


class MockArmServices:
    """`~/list_controllers`, `~/switch_controller`, `~/apply_contact` and `~/lead_hand`."""

    def __init__(self, node: Node, arm: SimulatedArm, controllers: Controllers, on_switch: Callable[[], None]) -> None:
        """Create the services.

        Args:
            node: the node.
            arm: the arm that is touched.
            controllers: the arm's controllers.
            on_switch: called after a controller was switched on.
        """
        self._arm, self._controllers, self._on_switch = arm, controllers, on_switch
        node.create_service(SwitchController, "~/switch_controller", _answer(self._switch))
        node.create_service(ListControllers, "~/list_controllers", self._list)
        node.create_service(ApplyContact, "~/apply_contact", _answer(self._apply_contact))
        node.create_service(LeadHand, "~/lead_hand", _answer(self._lead_hand))

    def _switch(self, request: SwitchController.Request) -> None:
        self._controllers.switch(request.controller, request.deactivate)
        self._on_switch()

    def _list(self, request: ListControllers.Request, response: ListControllers.Response) -> ListControllers.Response:
        response.controllers = [Controller(**each._asdict()) for each in self._controllers.list()]
        return response

    def _apply_contact(self, request: ApplyContact.Request) -> None:
        link, start = self._begin(request)
        force, point = _triple(request.force), _triple(request.point)
        self._arm.contacts.append(
            AppliedForce(link, force, point, request.profile, start, request.duration, request.frequency)
        )

    def _lead_hand(self, request: LeadHand.Request) -> None:
        link, start = self._begin(request)
        displacement, point = _triple(request.displacement), _triple(request.point)
        force = request.max_force if request.max_force != 0 else Hand.max_force
        self._arm.contacts.append(
            Hand(link, displacement, point, start, request.duration, request.hold, max_force=force)
        )

    def _begin(self, request: ApplyContact.Request | LeadHand.Request) -> tuple[str, float]:
        """Return the link that is touched, and when the contact begins, s.

        Raises:
            InputError: the robot has no such link, or the delay makes no sense.
        """
        if not 0 <= request.delay < math.inf:
            raise InputError("delay", f"expected a finite number of seconds, not negative, got {request.delay}")
        link = request.link or self._arm.model.default_tip
        self._arm.model.link_frame(link)
        return link, self._arm.t + request.delay


def _answer(act: Callable[[Any], None]) -> Callable[[Any, Any], Any]:
    """Return a service callback that responds with success, or with the message of the `InputError`."""

    def answer(request: Any, response: Any) -> Any:
        try:
            act(request)
            response.success = True
        except InputError as error:
            response.message = str(error)
        return response

    return answer


def _triple(v: Point | Vector3) -> tuple[float, float, float]:
    return v.x, v.y, v.z
