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
from ros2_dyn_interfaces.srv import ApplyContact
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.errors import DivergenceError, InputError
from ros2_dyn.mock_arm.contact import Contact
from ros2_dyn.mock_arm.contact_script import read_contacts
from ros2_dyn.mock_arm.demo_trajectory import DemoTrajectory
from ros2_dyn.mock_arm.imperfect import imperfect, quantise, with_friction
from ros2_dyn.mock_arm.lossy_channel import LossyChannel
from ros2_dyn.mock_arm.simulated_arm import ComputedTorque, HeldEffort, Motion, SimulatedArm
from ros2_dyn.model import RobotModel
from ros2_dyn.node_base import LATCHED, declare, run_node

STEP = 1e-3
"""Integration step of the simulation, and how often late messages are looked for, s."""
CATCH_UP = 100
"""Steps that one tick makes up for at most; after a longer pause or a clock jump the arm goes on where it stopped."""


class MockArmNode(Node):
    """A simulated arm that publishes what a driver publishes and obeys effort commands.

    Until the first command it follows a demo trajectory with its own controller. `~/reference` says how it really
    moves, free of noise, under the stamp of the `joint_states` message of the same instant. How the arm differs from
    its URDF, what pushes it and how badly its states travel is up to the parameters.
    """

    def __init__(self) -> None:
        super().__init__("mock_arm")
        urdf_file = declare(self, "urdf_file", "", "URDF of the arm to simulate; empty: the six-axis mock arm.")
        rate = declare(self, "publish_rate", 250.0, "Rate of joint_states and ~/reference, Hz.", 1.0, 1000.0)
        home = declare(self, "home", Parameter.Type.DOUBLE_ARRAY, "Joint positions at the start, rad or m.")
        self._seed = declare(self, "seed", 1, "Seed of all that is random.")
        path = urdf_file or str(Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.urdf"))
        self.model = RobotModel.from_urdf_file(path)
        self._declare_measurement()
        self._channel = self._declare_channel()
        script = declare(self, "contact_script", "", "YAML file with a list of contacts; empty: none.")
        contacts = read_contacts(script, self.model) if script else []
        trajectory = DemoTrajectory(self.model, self._home(home))
        law = ComputedTorque(trajectory)
        self.arm = SimulatedArm(self._declare_errors(), law, trajectory.home, step=STEP, contacts=contacts)
        self._start = trajectory.home

        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._reference = self.create_publisher(JointTrajectory, "~/reference", 10)
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=Path(path).read_text(encoding="utf-8")))
        self._names = list(self.model.joint_names)
        self._reference_message = JointTrajectory(joint_names=self._names, points=[JointTrajectoryPoint()])

        self._commands = self.create_subscription(Float64MultiArray, "effort_controller/commands", self._on_command, 10)
        self._service = self.create_service(ApplyContact, "~/apply_contact", self._on_apply_contact)
        self._epoch = self.get_clock().now().nanoseconds
        self._timer = self.create_timer(1.0 / rate, self._on_tick)
        self._delivery = None if self._channel is None else self.create_timer(STEP, self._deliver)

    def _declare_measurement(self) -> None:
        self._noise = [
            declare(self, f"{quantity}_noise", 0.0, f"Standard deviation of published {quantity}, {unit}.", high=100.0)
            for quantity, unit in (("position", "rad or m"), ("velocity", "rad/s or m/s"), ("effort", "N m or N"))
        ]
        self._resolution = declare(
            self, "effort_resolution", 0.0, "Published efforts are multiples of it, N m or N; 0: any.", high=100.0
        )
        self._random = np.random.default_rng(self._seed)

    def _declare_channel(self) -> LossyChannel[JointState] | None:
        """What joint_states go through; None: they are published at once."""
        drop_rate = declare(self, "drop_rate", 0.0, "Probability that a joint_states message is lost.", high=1.0)
        delay = declare(self, "delay", 0.0, "Time by which joint_states are late, s.", high=10.0)
        jitter = declare(self, "delay_jitter", 0.0, "Further time by which each may be late, s.", high=10.0)
        if drop_rate == delay == jitter == 0:
            return None
        return LossyChannel(np.random.default_rng([self._seed, 1]), drop_rate, delay, jitter)

    def _declare_errors(self) -> RobotModel:
        """The arm as it is, which is not quite what its URDF says."""
        doubles = Parameter.Type.DOUBLE_ARRAY
        viscous = declare(self, "viscous_friction", doubles, "Of each joint, N m s/rad or N s/m; not set: the URDF's.")
        coulomb = declare(self, "coulomb_friction", doubles, "Of each joint, N m or N; not set: the URDF's.")
        inertia_error = declare(self, "inertia_error", 0.0, "Greatest relative error of the URDF's inertias.", high=0.9)
        friction_error = declare(self, "friction_error", 0.0, "Greatest relative error of friction.", high=0.9)
        nominal = with_friction(self.model, viscous, coulomb)
        return imperfect(nominal, np.random.default_rng([self._seed, 2]), inertia_error, friction_error)

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
            if self._channel is not None:
                self._channel.clear()
        try:
            self.arm.advance(max(1, due))
            self._publish(self.arm.motion())
        except DivergenceError as error:
            self.get_logger().error(f"the arm starts again, without contacts: {error}")
            self.arm.contacts.clear()
            self.arm.place(self._start)
            self._epoch = now

    def _publish(self, motion: Motion) -> None:
        nanoseconds = self._epoch + round(motion.t * 1e9)
        stamp = Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)

        reference = self._reference_message
        reference.header.stamp = stamp
        reference.points[0].positions = array("d", motion.q)
        reference.points[0].velocities = array("d", motion.qd)
        reference.points[0].accelerations = array("d", motion.qdd)
        self._reference.publish(reference)  # first, so that it is there when the state is

        q, qd, tau = (
            value + self._random.normal(0.0, sigma, value.shape) if sigma > 0 else value
            for value, sigma in zip((motion.q, motion.qd, motion.tau), self._noise)
        )
        state = JointState(header=Header(stamp=stamp, frame_id=self.model.base_link), name=self._names)
        state.position, state.velocity = array("d", q), array("d", qd)
        state.effort = array("d", quantise(tau, self._resolution))
        if self._channel is None:
            self._states.publish(state)
        else:
            self._channel.send(self._now(), state)
            self._deliver()

    def _deliver(self) -> None:
        """Publish the states that have been under way for long enough."""
        if self._channel is not None:
            for state in self._channel.due(self._now()):
                self._states.publish(state)

    def _now(self) -> float:
        return self.get_clock().now().nanoseconds * 1e-9

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

    def _on_apply_contact(
        self, request: ApplyContact.Request, response: ApplyContact.Response
    ) -> ApplyContact.Response:
        try:
            self.arm.contacts.append(self._contact(request))
            response.success = True
        except InputError as error:
            response.message = str(error)
        return response

    def _contact(self, request: ApplyContact.Request) -> Contact:
        """What a request asks for.

        Raises:
            InputError: the robot has no such link, or a number makes no sense.
        """
        force, point = ([v.x, v.y, v.z] for v in (request.force, request.point))
        if not 0 <= request.delay < math.inf:
            raise InputError("delay", f"expected a finite number of seconds, not negative, got {request.delay}")
        link = request.link or self.model.default_tip
        self.model.placement(link)
        start = self.arm.t + request.delay
        return Contact(link, force, point, request.profile, start, request.duration, request.frequency)


def main() -> int:
    """The executable `mock_arm_node`."""
    return run_node(MockArmNode)


if __name__ == "__main__":
    sys.exit(main())
