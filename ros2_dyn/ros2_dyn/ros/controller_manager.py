# SPDX-License-Identifier: Apache-2.0
"""The manager of the arm's controllers, by its services: ros2_control's controller_manager, or the mock arm."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from builtin_interfaces.msg import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from ros2_dyn_interfaces.srv import ListControllers as ListMockControllers
from ros2_dyn_interfaces.srv import SwitchController as SwitchMockController
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.errors import ProcessError
from ros2_dyn.ros.coroutines import Waiter
from ros2_dyn.runtime.handover_protocol import Controller, Refused

Publishers = dict[str, Publisher]
LIST, SWITCH = "controller_manager/list_controllers", "controller_manager/switch_controller"
"""Services of a manager, relative to the namespace of the node; another one's by remapping."""


class ControllerManager:
    """A manager's two services, and a topic of each trajectory controller; see `Controllers`."""

    def __init__(self, node: Node, types: tuple[Any, Any], waiter: Waiter, publishers: Publishers) -> None:
        """Talk to a manager.

        Args:
            node: the node.
            types: types of the services that list and switch.
            waiter: waits for the answers.
            publishers: those of trajectories, by topic, which are made when they are needed first.
        """
        self._node, self._waiter, self._publishers = node, waiter, publishers
        self._namespace = node.resolve_service_name(SWITCH).rsplit("/", 2)[0]
        self._list, self._switch = (node.create_client(kind, name) for kind, name in zip(types, (LIST, SWITCH)))

    def close(self) -> None:
        """Give up the services."""
        for client in (self._list, self._switch):
            self._node.destroy_client(client)

    async def connect(self, controller: Controller) -> None:
        """Wait until a trajectory controller is there."""
        await self._waiter.wait_for(self._publisher(controller).get_subscription_count)

    async def stay(self, controller: Controller, positions: Mapping[str, float], efforts: Mapping[str, float]) -> None:
        """Let a trajectory controller stay where the arm is, by a trajectory of one point."""
        await self.connect(controller)
        joints = list(positions)
        point = JointTrajectoryPoint(positions=list(positions.values()), velocities=[0.0] * len(joints))
        point.effort = [efforts[joint] for joint in joints] if efforts else []
        point.time_from_start = Duration(nanosec=2_000_000)
        self._publisher(controller).publish(JointTrajectory(joint_names=joints, points=[point]))

    def _publisher(self, controller: Controller) -> Publisher:
        topic = f"{self._namespace}/{controller.name}/joint_trajectory"
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(JointTrajectory, topic, 1)
        return self._publishers[topic]


class Ros2ControlManager(ControllerManager):
    """ros2_control's controller_manager."""

    async def list(self) -> Sequence[Controller]:
        """Return the controllers."""
        listed = (await self._waiter.call(self._list)).controller
        names = {each.name for each in listed}
        return [_controller(each, names) for each in listed]

    async def switch(self, activate: Sequence[str], deactivate: Sequence[str]) -> None:
        """Switch controllers; Humble's response does not say why one fails."""
        response = await self._waiter.call(
            self._switch,
            activate_controllers=list(activate),
            deactivate_controllers=list(deactivate),
            strictness=self._switch.srv_type.Request.STRICT,
            timeout=Duration(sec=2),  # a switch that waits for its hardware gives up before the answer is due
        )
        if not response.ok:
            raise Refused(getattr(response, "message", "") or "controller_manager refused it: see its log")


class MockArmManager(ControllerManager):
    """The mock arm, of whose controllers one is active at a time."""

    async def list(self) -> Sequence[Controller]:
        """Return the controllers."""
        listed = (await self._waiter.call(self._list)).controllers
        return [
            Controller(each.name, each.active, tuple(each.joints), each.takes_efforts, each.takes_trajectories)
            for each in listed
        ]

    async def switch(self, activate: Sequence[str], deactivate: Sequence[str]) -> None:
        """Switch controllers."""
        response = await self._waiter.call(self._switch, controller="".join(activate), deactivate=list(deactivate))
        if not response.success:
            raise Refused(response.message)


def find_manager(node: Node, waiter: Waiter, publishers: Publishers) -> Ros2ControlManager | MockArmManager:
    """Return the manager of the arm's controllers; see `ControllerManager`.

    Raises:
        ProcessError: there is none, or its messages are not installed here.
    """
    name = node.resolve_service_name(SWITCH)
    found = dict(node.get_service_names_and_types()).get(name, [])
    if "ros2_dyn_interfaces/srv/SwitchController" in found:
        return MockArmManager(node, (ListMockControllers, SwitchMockController), waiter, publishers)
    if not found:
        raise ProcessError(node.get_name(), f"there is no service {name}: remap {LIST} and {SWITCH}")
    try:
        from controller_manager_msgs.srv import ListControllers, SwitchController
    except ImportError as error:
        text = f"its messages cannot be imported: install controller_manager_msgs ({error})"
        raise ProcessError(name, text) from error
    return Ros2ControlManager(node, (ListControllers, SwitchController), waiter, publishers)


def _controller(state: Any, names: Collection[str]) -> Controller:
    """Return a controller from its `ControllerState`; what it commands of another one, by its name, it commands too."""
    interfaces = list(state.required_command_interfaces) or list(state.claimed_interfaces)
    joints, efforts = dict[str, None](), False
    for interface in interfaces:
        joint, _, kind = interface.rpartition("/")
        owner, _, of_owner = joint.partition("/")
        joints[of_owner if owner in names else joint] = None
        efforts = efforts or kind == "effort"
    read = {interface.partition("/")[0] for interface in state.required_state_interfaces}
    return Controller(
        state.name,
        state.state == "active",
        tuple(joints),
        efforts,
        state.type.endswith("JointTrajectoryController"),
        tuple(sorted(read)) if not joints and read.issubset(names) else (),
    )
