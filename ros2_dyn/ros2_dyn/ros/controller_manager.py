# SPDX-License-Identifier: Apache-2.0
"""The manager of the arm's controllers, by its services: ros2_control's controller_manager, or the mock arm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy import task
from rclpy.node import Node
from ros2_dyn_interfaces.msg import Controller as ControllerMessage
from ros2_dyn_interfaces.srv import ListControllers as ListMockControllers
from ros2_dyn_interfaces.srv import SwitchController as SwitchMockController

from ros2_dyn.errors import ProcessError
from ros2_dyn.runtime.handover_protocol import Controller

Then = Callable[[Any], None]
LIST, SWITCH = "/list_controllers", "/switch_controller"
TRAJECTORY_TYPE = "JointTrajectoryController"
"""End of the types of controllers that follow trajectories."""
FAIL_BEFORE = 0.5
"""Part of the time for an answer after which a switch that waits for its hardware gives up."""


class ControllerManager(ABC):
    """Two services: one lists the controllers, the other switches them."""

    def __init__(self, node: Node, name: str, list_type: Any, switch_type: Any) -> None:
        """Talk to a manager by its full name."""
        self._list = node.create_client(list_type, name + LIST)
        self._switch = node.create_client(switch_type, name + SWITCH)

    @property
    def ready(self) -> bool:
        """Whether both services are there."""
        return self._list.service_is_ready() and self._switch.service_is_ready()

    @abstractmethod
    def list(self, then: Then) -> None:
        """List the controllers: a tuple of `Controller` is passed on."""

    @abstractmethod
    def switch(self, activate: Sequence[str], deactivate: Sequence[str], then: Then) -> None:
        """Switch controllers, all or none; why that failed is passed on, empty if it did not."""

    def destroy(self, node: Node) -> None:
        """Give up the clients."""
        for client in (self._list, self._switch):
            node.destroy_client(client)


class Ros2ControlManager(ControllerManager):
    """ros2_control's controller_manager."""

    def __init__(self, node: Node, name: str, timeout: float) -> None:
        """Talk to it by its full name; its answers are awaited for a time, s."""
        from controller_manager_msgs.srv import ListControllers, SwitchController

        super().__init__(node, name, ListControllers, SwitchController)
        self._requests = ListControllers.Request, SwitchController.Request
        self._timeout = timeout

    def list(self, then: Then) -> None:
        """See `ControllerManager`."""
        _call(self._list, self._requests[0](), lambda response: then(tuple(map(_controller, response.controller))))

    def switch(self, activate: Sequence[str], deactivate: Sequence[str], then: Then) -> None:
        """See `ControllerManager`."""
        request = self._requests[1](activate_controllers=list(activate), deactivate_controllers=list(deactivate))
        request.strictness = request.STRICT
        seconds, rest = divmod(FAIL_BEFORE * self._timeout, 1.0)
        request.timeout = Duration(sec=int(seconds), nanosec=int(1e9 * rest))
        _call(self._switch, request, lambda response: then("" if response.ok else _why(response)))


class MockArmManager(ControllerManager):
    """The mock arm."""

    def __init__(self, node: Node, name: str) -> None:
        """Talk to it by its full name."""
        super().__init__(node, name, ListMockControllers, SwitchMockController)

    def list(self, then: Then) -> None:
        """See `ControllerManager`."""
        _call(
            self._list,
            ListMockControllers.Request(),
            lambda response: then(tuple(map(_mock_controller, response.controllers))),
        )

    def switch(self, activate: Sequence[str], deactivate: Sequence[str], then: Then) -> None:
        """See `ControllerManager`; one controller is active at a time."""
        request = SwitchMockController.Request(controller="".join(activate), deactivate=list(deactivate))
        _call(self._switch, request, lambda response: then("" if response.success else response.message))


def find_manager(node: Node, name: str, timeout: float) -> ControllerManager:
    """Return the manager of a name, which may be relative to the node's namespace.

    Raises:
        ProcessError: there is none, or its messages are not installed here.
    """
    name = node.resolve_service_name(name)
    types = dict(node.get_service_names_and_types()).get(name + SWITCH, [])
    if "ros2_dyn_interfaces/srv/SwitchController" in types:
        return MockArmManager(node, name)
    if not types:
        raise ProcessError(name, f"there is no service {name}{SWITCH}: set the parameter controller_manager")
    try:
        return Ros2ControlManager(node, name, timeout)
    except ImportError as error:
        raise ProcessError(
            name, f"its messages cannot be imported: install controller_manager_msgs ({error})"
        ) from error


def _call(client: Any, request: Any, then: Then) -> None:
    """Call a service; an answer that does not come is not passed on."""

    def done(future: task.Future) -> None:
        response = future.result()
        if response is not None:
            then(response)

    client.call_async(request).add_done_callback(done)


def _controller(state: Any) -> Controller:
    """Return a controller from its `ControllerState`."""
    interfaces = list(state.required_command_interfaces) or list(state.claimed_interfaces)
    split = [interface.rpartition("/") for interface in interfaces]
    joints = tuple(dict.fromkeys(joint for joint, _, _ in split))
    efforts = any(kind == "effort" for _, _, kind in split)
    return Controller(state.name, state.state == "active", joints, efforts, state.type.endswith(TRAJECTORY_TYPE))


def _mock_controller(message: ControllerMessage) -> Controller:
    """Return a controller of the mock arm from its message."""
    return Controller(
        message.name, message.active, tuple(message.joints), message.takes_efforts, message.takes_trajectories
    )


def _why(response: Any) -> str:
    """Return why a switch failed; Humble's response does not tell."""
    return getattr(response, "message", "") or "controller_manager refused it: see its log"
