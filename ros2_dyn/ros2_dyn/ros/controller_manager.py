# SPDX-License-Identifier: Apache-2.0
"""The manager of the arm's controllers, by its services: ros2_control's controller_manager, or the mock arm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy import task
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from ros2_dyn_interfaces.msg import Controller as ControllerMessage
from ros2_dyn_interfaces.srv import ListControllers as ListMockControllers
from ros2_dyn_interfaces.srv import SwitchController as SwitchMockController
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.errors import ProcessError
from ros2_dyn.runtime.handover_protocol import Controller, Refused

PERIOD = 0.01
"""How often it is looked whether what is awaited is there, s."""
LIST, SWITCH = "/list_controllers", "/switch_controller"
TRAJECTORY_TYPE = "JointTrajectoryController"
"""End of the types of controllers that follow trajectories."""
STAY_TIME = Duration(nanosec=2_000_000)
"""Time of the point at which a trajectory controller stays."""
FAIL_BEFORE = 0.5
"""Part of the time for an answer after which a switch that waits for its hardware gives up."""


class Waiter:
    """Lets coroutines of a node wait for a time, or for a condition."""

    def __init__(self, node: Node, now: Callable[[], float], timeout: float) -> None:
        """Make it; `close` ends it.

        Args:
            node: whose executor runs the coroutines.
            now: the time, s.
            timeout: time within which answers have to come, s.
        """
        self.timeout = timeout
        self._node, self._now = node, now
        self._turn = task.Future(executor=node.executor)
        self._timer = node.create_timer(PERIOD, self.wake, clock=Clock(clock_type=ClockType.STEADY_TIME))

    async def pause(self, seconds: float) -> None:
        """Wait for a time, s."""
        await self._until(lambda: False, seconds)

    async def wait_for(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds.

        Raises:
            Refused: it does not within the time for an answer.
        """
        await self._until(condition, self.timeout)
        if not condition():
            raise Refused(f"no answer within {self.timeout:g} s")

    def wake(self, *_: Any) -> None:
        """Look now whether what is awaited is there."""
        if not self._turn.done():
            self._turn.set_result(None)

    def close(self) -> None:
        """End."""
        self._node.destroy_timer(self._timer)

    async def _until(self, condition: Callable[[], object], seconds: float) -> None:
        deadline = self._now() + seconds
        while not condition() and self._now() < deadline:
            self._turn = task.Future(executor=self._node.executor)
            await self._turn


class ControllerManager(ABC):
    """Two services, which list and switch the controllers, and a topic of each trajectory controller."""

    def __init__(self, node: Node, name: str, waiter: Waiter, publishers: dict[str, Publisher]) -> None:
        """Talk to a manager.

        Args:
            node: the node.
            name: full name of the manager.
            waiter: waits for the answers.
            publishers: those of trajectories, by topic, which are made when they are needed first.
        """
        self._node, self._namespace, self._waiter, self._publishers = node, name.rpartition("/")[0], waiter, publishers
        list_type, switch_type = self._types()
        self._list = node.create_client(list_type, name + LIST)
        self._switch = node.create_client(switch_type, name + SWITCH)

    def close(self) -> None:
        """Give up the services."""
        for client in (self._list, self._switch):
            self._node.destroy_client(client)

    async def list(self) -> Sequence[Controller]:
        """Return the controllers; see `Controllers`."""
        return self._listed(await self._call(self._list, self._list.srv_type.Request()))

    async def switch(self, activate: Sequence[str], deactivate: Sequence[str]) -> None:
        """Switch controllers by their names, all or none; see `Controllers`."""
        if problem := self._problem(await self._call(self._switch, self._request(activate, deactivate))):
            raise Refused(problem)

    async def connect(self, controller: Controller) -> None:
        """Wait until a trajectory controller is there; see `Controllers`."""
        await self._waiter.wait_for(self._publisher(controller).get_subscription_count)

    async def stay(self, controller: Controller, positions: Mapping[str, float], efforts: Mapping[str, float]) -> None:
        """Let a trajectory controller stay where the arm is, by a trajectory of one point; see `Controllers`."""
        await self.connect(controller)
        joints = list(positions)
        point = JointTrajectoryPoint(positions=list(positions.values()), velocities=[0.0] * len(joints))
        point.effort = [efforts[joint] for joint in joints] if efforts else []
        point.time_from_start = STAY_TIME
        self._publisher(controller).publish(JointTrajectory(joint_names=joints, points=[point]))

    def _publisher(self, controller: Controller) -> Publisher:
        topic = f"{self._namespace}/{controller.name}/joint_trajectory"
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(JointTrajectory, topic, 1)
        return self._publishers[topic]

    async def _call(self, client: Any, request: Any) -> Any:
        """Return the response of a service; it wakes who waits, since an activated controller needs its trajectory."""
        await self._waiter.wait_for(client.service_is_ready)
        future = client.call_async(request)
        future.add_done_callback(self._waiter.wake)
        try:
            await self._waiter.wait_for(future.done)
        except Refused:
            client.remove_pending_request(future)
            raise
        return future.result()

    @abstractmethod
    def _types(self) -> tuple[Any, Any]:
        """Return the types of the services that list and switch."""

    @abstractmethod
    def _listed(self, response: Any) -> tuple[Controller, ...]:
        """Return the controllers of a response."""

    @abstractmethod
    def _request(self, activate: Sequence[str], deactivate: Sequence[str]) -> Any:
        """Return the request of a switch."""

    @abstractmethod
    def _problem(self, response: Any) -> str:
        """Return why a switch failed; empty if it did not."""


class Ros2ControlManager(ControllerManager):
    """ros2_control's controller_manager."""

    def _types(self) -> tuple[Any, Any]:
        from controller_manager_msgs.srv import ListControllers, SwitchController

        return ListControllers, SwitchController

    def _listed(self, response: Any) -> tuple[Controller, ...]:
        return tuple(map(_controller, response.controller))

    def _request(self, activate: Sequence[str], deactivate: Sequence[str]) -> Any:
        request = self._switch.srv_type.Request(
            activate_controllers=list(activate), deactivate_controllers=list(deactivate)
        )
        request.strictness = request.STRICT
        seconds, rest = divmod(FAIL_BEFORE * self._waiter.timeout, 1.0)
        request.timeout = Duration(sec=int(seconds), nanosec=int(1e9 * rest))
        return request

    def _problem(self, response: Any) -> str:
        """Return why a switch failed; Humble's response does not say why."""
        if response.ok:
            return ""
        return getattr(response, "message", "") or "controller_manager refused it: see its log"


class MockArmManager(ControllerManager):
    """The mock arm, of whose controllers one is active at a time."""

    def _types(self) -> tuple[Any, Any]:
        return ListMockControllers, SwitchMockController

    def _listed(self, response: Any) -> tuple[Controller, ...]:
        return tuple(map(_mock_controller, response.controllers))

    def _request(self, activate: Sequence[str], deactivate: Sequence[str]) -> Any:
        return SwitchMockController.Request(controller="".join(activate), deactivate=list(deactivate))

    def _problem(self, response: Any) -> str:
        return "" if response.success else str(response.message)


def find_manager(node: Node, name: str, waiter: Waiter, publishers: dict[str, Publisher]) -> ControllerManager:
    """Return the manager of a name, which may be relative to the node's namespace; see `ControllerManager`.

    Raises:
        ProcessError: there is none, or its messages are not installed here.
    """
    name = node.resolve_service_name(name)
    types = dict(node.get_service_names_and_types()).get(name + SWITCH, [])
    if "ros2_dyn_interfaces/srv/SwitchController" in types:
        return MockArmManager(node, name, waiter, publishers)
    if not types:
        raise ProcessError(name, f"there is no service {name}{SWITCH}: set the parameter controller_manager")
    try:
        return Ros2ControlManager(node, name, waiter, publishers)
    except ImportError as error:
        raise ProcessError(
            name, f"its messages cannot be imported: install controller_manager_msgs ({error})"
        ) from error


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
