"""The mock arm as a ROS 2 node: joint states and a reference out, commands in, as of a driver and its controllers."""

from __future__ import annotations

import math
import sys
from array import array
from pathlib import Path

import numpy as np
from ament_index_python.packages import get_package_share_directory
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Vector3, WrenchStamped
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros2_dyn_interfaces.srv import ApplyContact, LeadHand, SwitchController
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import DivergenceError, InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.node_base import LATCHED, declare, run_node
from ros2_dyn.ros.on_demand import OnDemand, waiting
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.contact_script import read_contacts
from ros2_dyn.simulation.controllers import DEMO, NAMES, Controllers, gains_of_inertia
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.interpolated_trajectory import TrajectoryPoint, read_waypoints
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn.simulation.perturbed import perturbed, quantise, with_armature, with_friction
from ros2_dyn.simulation.simulated_arm import HeldEffort, Motion, SimulatedArm
from ros2_dyn.simulation.wall import Wall

STEP = 1e-3
"""Integration step of the simulation, and how often late messages are looked for, s."""
CATCH_UP = 100
"""Steps that one tick makes up for at most; after a longer pause or a clock jump the arm goes on where it stopped."""


class MockArmNode(Node):
    """A simulated arm that publishes what a driver publishes and obeys the controllers that users of ros2_control know.

    `~/reference` says how it really moves, and `~/contact_wrench` what pushes it, free of noise, under the stamp of the
    `joint_states` message of the same instant. How the arm differs from its URDF, what it touches and how badly its
    states travel is up to the parameters; services switch controllers and let contacts and hands act on it.
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
        self._start = DemoTrajectory(self.model, self._home(home)).home
        real = self._declare_errors()
        carrying = HeldEffort(gravity(self.model, self._start), self.model.effort_limit)
        self.arm = SimulatedArm(real, carrying, self._start, step=STEP, contacts=self._declare_contacts())
        self.controllers = self._declare_controllers()

        self._states = self.create_publisher(JointState, "joint_states", 10)
        self._reference = self.create_publisher(JointTrajectory, "~/reference", 10)
        self._contact_wrench = self.create_publisher(WrenchStamped, "~/contact_wrench", 10)
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=Path(path).read_text(encoding="utf-8")))
        self._names = list(self.model.joint_names)
        self._reference_message = JointTrajectory(joint_names=self._names, points=[JointTrajectoryPoint()])

        # Read at each tick: one at a time beside the ticks, they would queue up where a machine is busy, and act late.
        self._commands = self.create_subscription(
            Float64MultiArray,
            "effort_controller/commands",
            self._on_command,
            10,
            callback_group=OnDemand(lambda: False),
        )
        self._inputs = [
            self.create_subscription(
                JointTrajectory, "trajectory_controller/joint_trajectory", self._on_trajectory, 10
            ),
            self.create_service(ApplyContact, "~/apply_contact", self._on_apply_contact),
            self.create_service(LeadHand, "~/lead_hand", self._on_lead_hand),
            self.create_service(SwitchController, "~/switch_controller", self._on_switch_controller),
        ]
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
        armature = declare(self, "armature", doubles, "Rotor inertia of each joint, kg m^2 or kg; not set: none.")
        self._nominal = with_armature(with_friction(self.model, viscous, coulomb), armature)
        return perturbed(self._nominal, np.random.default_rng([self._seed, 2]), inertia_error, friction_error)

    def _declare_contacts(self) -> list[Contact]:
        """What the arm touches from the start."""
        doubles = Parameter.Type.DOUBLE_ARRAY
        script = declare(self, "contact_script", "", "YAML file with a list of contacts; empty: none.")
        point = declare(self, "wall_point", doubles, "Point of a wall before the tip, m, base frame; not set: no wall.")
        normal = declare(self, "wall_normal", doubles, "Its normal, to where the arm is free, in the base's axes.")
        stiffness = declare(self, "wall_stiffness", Wall.stiffness, "Stiffness of the wall, N/m.")
        damping = declare(self, "wall_damping", Wall.damping, "Damping of the wall (Hunt and Crossley), s/m.")
        contacts = read_contacts(script, self.model) if script else []
        if point or normal:
            contacts.append(Wall(self.model.default_tip, point, normal, stiffness=stiffness, damping=damping))
        return contacts

    def _declare_controllers(self) -> Controllers:
        doubles = Parameter.Type.DOUBLE_ARRAY
        controller = declare(self, "controller", DEMO, f"The active controller at the start: {', '.join(NAMES)}.")
        p = declare(self, "trajectory_p", doubles, "Gains of trajectory_controller, N m/rad or N/m.")
        d = declare(self, "trajectory_d", doubles, "As well, N m s/rad or N s/m; not set: 40 rad/s, damped critically.")
        default_p, default_d = gains_of_inertia(self._nominal, self._start)
        controllers = Controllers(self.arm, p or default_p, d or default_d)
        controllers.switch(controller)
        return controllers

    def _home(self, home: list[float] | None) -> list[float]:
        if home:
            return list(home)
        return np.clip(0.0, self.model.lower, self.model.upper).tolist()

    def _on_tick(self) -> None:
        """Simulate up to now under the newest command, and publish that instant."""
        for command in waiting(self._commands):
            self._on_command(command)
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
            problem = f"the arm starts again, without contacts but for walls: {error}"
            self.get_logger().error(problem, throttle_duration_sec=1.0)
            self.arm.contacts[:] = [contact for contact in self.arm.contacts if isinstance(contact, Wall)]
            self.arm.place(self._start)
            self.controllers.restart()
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
        if self._contact_wrench.get_subscription_count() > 0:
            self._contact_wrench.publish(self._wrench_message(stamp))

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

    def _wrench_message(self, stamp: Time) -> WrenchStamped:
        """What all contacts exert on the arm, about the origin of the tip, in the base's axes."""
        message = WrenchStamped(header=Header(stamp=stamp, frame_id=self.model.base_link))
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = self.arm.contact_wrench().tolist()
        return message

    def _deliver(self) -> None:
        """Publish the states that have been under way for long enough."""
        if self._channel is not None:
            for state in self._channel.due(self._now()):
                self._states.publish(state)

    def _now(self) -> float:
        return self.get_clock().now().nanoseconds * 1e-9

    def _on_command(self, message: Float64MultiArray) -> None:
        try:
            self.controllers.command(message.data)
        except InputError as error:
            self.get_logger().error(f"command refused: {error.problem}", throttle_duration_sec=1.0)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        points = [
            TrajectoryPoint(_nanoseconds(point.time_from_start) * 1e-9, point.positions, point.velocities, point.effort)
            for point in message.points
        ]
        stamp = _nanoseconds(message.header.stamp)
        start = None if stamp == 0 else (stamp - self._epoch) * 1e-9
        try:
            self.controllers.follow(read_waypoints(self.model.joint_names, message.joint_names, points), start)
        except InputError as error:
            self.get_logger().error(f"trajectory refused: {error}", throttle_duration_sec=1.0)

    def _on_switch_controller(
        self, request: SwitchController.Request, response: SwitchController.Response
    ) -> SwitchController.Response:
        try:
            self.controllers.switch(request.controller)
            response.success = True
        except InputError as error:
            response.message = str(error)
        return response

    def _on_apply_contact(
        self, request: ApplyContact.Request, response: ApplyContact.Response
    ) -> ApplyContact.Response:
        try:
            self.arm.contacts.append(self._contact(request))
            response.success = True
        except InputError as error:
            response.message = str(error)
        return response

    def _contact(self, request: ApplyContact.Request) -> AppliedForce:
        """What a request asks for.

        Raises:
            InputError: the robot has no such link, or a number makes no sense.
        """
        link, start = self._begin(request)
        force, point = _triple(request.force), _triple(request.point)
        return AppliedForce(link, force, point, request.profile, start, request.duration, request.frequency)

    def _on_lead_hand(self, request: LeadHand.Request, response: LeadHand.Response) -> LeadHand.Response:
        try:
            self.arm.contacts.append(self._hand(request))
            response.success = True
        except InputError as error:
            response.message = str(error)
        return response

    def _hand(self, request: LeadHand.Request) -> Hand:
        """What a request asks for; errors as above."""
        link, start = self._begin(request)
        displacement, point = _triple(request.displacement), _triple(request.point)
        force = request.max_force if request.max_force != 0 else Hand.max_force
        return Hand(link, displacement, point, start, request.duration, request.hold, max_force=force)

    def _begin(self, request: ApplyContact.Request | LeadHand.Request) -> tuple[str, float]:
        """On which link, and when, s."""
        if not 0 <= request.delay < math.inf:
            raise InputError("delay", f"expected a finite number of seconds, not negative, got {request.delay}")
        link = request.link or self.model.default_tip
        self.model.link_frame(link)
        return link, self.arm.t + request.delay


def _triple(v: Point | Vector3) -> tuple[float, float, float]:
    return v.x, v.y, v.z


def _nanoseconds(time: Time | Duration) -> int:
    return int(time.sec) * 10**9 + int(time.nanosec)


def main() -> int:
    """The executable `mock_arm_node`."""
    return run_node(MockArmNode)


if __name__ == "__main__":
    sys.exit(main())
