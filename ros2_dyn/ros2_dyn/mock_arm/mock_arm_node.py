"""The mock arm as a ROS 2 node: joint states and a reference out, effort commands in, as a driver would."""

from __future__ import annotations

import math
import sys
from array import array
from pathlib import Path

import numpy as np
from ament_index_python.packages import get_package_share_directory
from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.mock_arm.demo_trajectory import DemoTrajectory
from ros2_dyn.mock_arm.simulated_arm import ComputedTorque, HeldEffort, Motion, SimulatedArm
from ros2_dyn.model import RobotModel
from ros2_dyn.node_base import LATCHED, declare, run_node

STEP = 1e-3
"""Integration step of the simulation, s."""
CATCH_UP = 100
"""Steps that one tick makes up for at most; after a longer pause or a clock jump the arm goes on where it stopped."""


class MockArmNode(Node):
    """A simulated arm that publishes what a driver publishes and obeys effort commands.

    Until the first command it follows a demo trajectory with its own controller. `~/reference` says how it really
    moves, free of noise, under the stamp of the `joint_states` message of the same instant.
    """

    def __init__(self) -> None:
        super().__init__("mock_arm")
        urdf_file = declare(self, "urdf_file", "", "URDF of the arm to simulate; empty: the six-axis mock arm.")
        rate = declare(self, "publish_rate", 250.0, "Rate of joint_states and ~/reference, Hz.", 1.0, 1000.0)
        home = declare(self, "home", Parameter.Type.DOUBLE_ARRAY, "Joint positions at the start, rad or m.")
        self._noise = [
            declare(self, f"{quantity}_noise", 0.0, f"Standard deviation of published {quantity}, {unit}.", high=100.0)
            for quantity, unit in (("position", "rad or m"), ("velocity", "rad/s or m/s"), ("effort", "N m or N"))
        ]
        self._random = np.random.default_rng(declare(self, "seed", 1, "Seed of the noise."))

        path = urdf_file or str(Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.urdf"))
        self.model = RobotModel.from_urdf_file(path)
        trajectory = DemoTrajectory(self.model, self._home(home))
        self.arm = SimulatedArm(self.model, ComputedTorque(trajectory), trajectory.home, step=STEP)

        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._reference = self.create_publisher(JointTrajectory, "~/reference", 10)
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=Path(path).read_text(encoding="utf-8")))
        names = list(self.model.joint_names)
        self._state_message = JointState(name=names)
        self._state_message.header.frame_id = self.model.base_link
        self._reference_message = JointTrajectory(joint_names=names, points=[JointTrajectoryPoint()])

        self._commands = self.create_subscription(Float64MultiArray, "effort_controller/commands", self._on_command, 10)
        self._epoch = self.get_clock().now().nanoseconds
        self._timer = self.create_timer(1.0 / rate, self._on_tick)

    def _home(self, home: list[float] | None) -> list[float]:
        if home:
            return list(home)
        return np.clip(0.0, self.model.lower, self.model.upper).tolist()

    def _on_tick(self) -> None:
        """Simulate up to now, and publish that instant."""
        now = self.get_clock().now().nanoseconds
        due = round((now - self._epoch) * 1e-9 / STEP) - round(self.arm.t / STEP)
        if abs(due) > CATCH_UP:
            self._epoch += round((due - 1) * STEP * 1e9)
            due = 1
        self.arm.advance(max(1, due))
        self._publish(self.arm.motion())

    def _publish(self, motion: Motion) -> None:
        nanoseconds = self._epoch + round(motion.t * 1e9)
        stamp = Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)

        reference = self._reference_message
        reference.header.stamp = stamp
        reference.points[0].positions = array("d", motion.q)
        reference.points[0].velocities = array("d", motion.qd)
        reference.points[0].accelerations = array("d", motion.qdd)
        self._reference.publish(reference)  # first, so that it is there when the state is

        state = self._state_message
        state.header.stamp = stamp
        measured = [
            value + self._random.normal(0.0, sigma, value.shape) if sigma > 0 else value
            for value, sigma in zip((motion.q, motion.qd, motion.tau), self._noise)
        ]
        state.position, state.velocity, state.effort = (array("d", value) for value in measured)
        self._states.publish(state)

    def _on_command(self, message: Float64MultiArray) -> None:
        """Take a command as a forward_command_controller does: all of it or nothing, then hold it."""
        if len(message.data) != self.model.n:
            self._refuse(f"expected {self.model.n} efforts, got {len(message.data)}")
        elif not all(map(math.isfinite, message.data)):
            self._refuse(f"not finite: {list(message.data)}")
        else:
            self.arm.law = HeldEffort(message.data, self.model.effort_limit)

    def _refuse(self, problem: str) -> None:
        self.get_logger().error(f"command refused: {problem}", throttle_duration_sec=1.0)


def main() -> int:
    """The executable `mock_arm_node`."""
    return run_node(MockArmNode)


if __name__ == "__main__":
    sys.exit(main())
