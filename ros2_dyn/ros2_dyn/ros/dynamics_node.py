"""The node `dynamics`: follows measured and desired states, publishes efforts, and answers services."""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros2_dyn_interfaces.srv import GetJacobian, WrenchToTorque
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import MessageError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.node_base import LATCHED, run_node
from ros2_dyn.ros.joint_order import MeasuredState
from ros2_dyn.ros.pairing import KEPT, Pair
from ros2_dyn.ros.parameters import declare_parameters
from ros2_dyn.ros.refusals import Refusals
from ros2_dyn.ros.robot import Efforts, Robot
from ros2_dyn.ros.services import fill_jacobian, fill_torque

NEWEST_ONLY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class DynamicsNode(Node):
    """Joint efforts of any URDF robot, from its measured and desired states."""

    def __init__(self) -> None:
        super().__init__("dynamics")
        self._settings = declare_parameters(self)
        self._refusals = Refusals(self.get_logger())
        self._effort_publishers = {
            topic: self.create_publisher(JointState, f"~/{topic}", 10) for topic in Efforts._fields
        }
        self._message = JointState()
        self._robot: Robot | None = None
        self._description = ""

        if self._settings.robot_description:
            self._use(RobotModel.from_urdf(self._settings.robot_description))
        elif self._settings.urdf_file:
            self._use(RobotModel.from_urdf_file(self._settings.urdf_file))
        else:
            self.get_logger().info("waiting for the topic robot_description")
            self.create_subscription(String, "robot_description", self._on_description, LATCHED)

        self._desired = self.create_subscription(JointTrajectory, "~/desired", self._on_desired, KEPT)
        self.create_subscription(JointState, "joint_states", self._on_state, NEWEST_ONLY)
        self.create_service(GetJacobian, "~/get_jacobian", self._get_jacobian)
        self.create_service(WrenchToTorque, "~/wrench_to_torque", self._wrench_to_torque)

    def _use(self, model: RobotModel) -> None:
        """Take a model, or raise and keep the one before."""
        self._robot = Robot(model, self._settings)
        self._message.name = list(model.joint_names)
        self.get_logger().info(
            f"using '{model.name}' with the joints {', '.join(model.joint_names)}, tip link '{self._robot.tip_link}'"
        )

    def _on_description(self, message: String) -> None:
        if message.data == self._description:
            return
        try:
            self._use(RobotModel.from_urdf(message.data))
            self._description = message.data
        except Ros2DynError as error:
            self.get_logger().error(f"robot_description refused: {error}")

    def _on_desired(self, message: JointTrajectory) -> None:
        if self._robot is None:
            return
        try:
            desired = self._robot.order.desired(message)
        except MessageError as error:
            self._refusals.refuse("~/desired", error)
            return
        self._publish(self._robot, self._robot.pairing.desired_arrived(desired, time.monotonic()))

    def _take_waiting_desired(self) -> None:
        """Read all that has come on ~/desired: the executor would bring one a turn, and late when there are many."""
        with self._desired.handle:
            while (taken := self._desired.handle.take_message(JointTrajectory, False)) is not None:
                self._on_desired(taken[0])

    def _on_state(self, message: JointState) -> None:
        if self._robot is None:
            return
        self._take_waiting_desired()
        try:
            self._robot.state = self._robot.order.measured(message)
        except MessageError as error:
            self._refusals.refuse("joint_states", error)
            return
        self._publish(self._robot, self._robot.pairing.measured_arrived(self._robot.state, time.monotonic()))

    def _publish(self, robot: Robot, pairs: list[Pair]) -> None:
        for pair in pairs:
            try:
                efforts = robot.efforts(pair)
            except MessageError as error:
                self._refusals.refuse("joint_states", error)
                continue
            stamp = self._message.header.stamp
            stamp.sec, stamp.nanosec = pair.measured.stamp
            for publisher, effort in zip(self._effort_publishers.values(), efforts):
                self._message.effort = array("d", effort)
                publisher.publish(self._message)

    def _get_jacobian(self, request: GetJacobian.Request, response: GetJacobian.Response) -> GetJacobian.Response:
        return self._answer(request, response, fill_jacobian, self._settings.singularity_threshold)

    def _wrench_to_torque(
        self, request: WrenchToTorque.Request, response: WrenchToTorque.Response
    ) -> WrenchToTorque.Response:
        return self._answer(request, response, fill_torque, self._settings.gravity)

    def _answer(self, request: Any, response: Any, fill: Callable[..., None], *parameters: Any) -> Any:
        """Fill a response at the requested state, or say in it why that cannot be done."""
        try:
            robot, state = self._requested(request.state)
            fill(request, response, robot.model, state, robot.tip_link, *parameters)
            response.joint_names = list(robot.model.joint_names)
            response.success = True
        except Ros2DynError as error:
            response.message = str(error)
        return response

    def _requested(self, message: JointState) -> tuple[Robot, MeasuredState]:
        if self._robot is None:
            raise MessageError("state", "no robot yet", "no robot_description has been received")
        if message.name:
            return self._robot, self._robot.order.given(message)
        if self._robot.state is None:
            raise MessageError("state", "empty", "no usable message has been received on joint_states either")
        return self._robot, self._robot.state


def main() -> int:
    """The executable `dynamics_node`."""
    return run_node(DynamicsNode)


if __name__ == "__main__":
    sys.exit(main())
