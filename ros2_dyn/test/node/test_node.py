"""The node, end to end: a process of its own, real messages over DDS, and a mock arm in another process."""

from collections.abc import Callable, Iterator
from itertools import count
from threading import Event, Thread

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import MOCK_ARM, joint, link, mock_arm, robot

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Inertia, Point, Vector3, Wrench, WrenchStamped
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.task import Future
from ros2_dyn_interfaces.srv import GetDynamics, GetJacobian, SetPayload, SwitchController, WrenchToTorque
from scipy.interpolate import CubicSpline
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

from ros2_dyn.dynamics import (
    coriolis,
    gravity,
    jacobian,
    jacobian_dot,
    joint_wrenches,
    kinetic_energy,
    mass_matrix,
    potential_energy,
    rnea,
    static_torque,
)
from ros2_dyn.dynamics import friction as friction_of
from ros2_dyn.model import JointDynamics, Payload, RobotModel
from ros2_dyn.ros import dynamics_node
from ros2_dyn.ros import robot as robot_of_node
from ros2_dyn.ros.dynamics_node import DynamicsNode
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import PATIENCE, Listener, Process

MODEL = mock_arm()
Q = [0.1, -1.2, 1.4, -1.8, -1.5, 0.3]
QD = [0.5, -0.4, 0.3, -0.2, 0.1, 0.6]
QDD = [1.0, 2.0, -1.0, 0.5, -0.5, 3.0]


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    """Starts processes and ends them with the test."""
    processes: list[Process] = []

    def start(module: str, *arguments: str) -> Process:
        processes.append(Process(module, *arguments))
        return processes[-1]

    yield start
    for process in processes:
        if process.alive:
            process.stop()


@pytest.fixture
def dynamics(start) -> Process:
    """The node `dynamics` with the mock arm's URDF."""
    return start("ros2_dyn.ros.dynamics_node", "-p", f"urdf_file:={MOCK_ARM}")


def state(stamp=1, names=MODEL.joint_names, position=Q, velocity=QD) -> JointState:
    message = JointState(name=list(names), position=position, velocity=velocity)
    message.header.stamp.nanosec = stamp
    return message


def desired(stamp=1, accelerations=QDD, positions=(), velocities=()) -> JointTrajectory:
    point = JointTrajectoryPoint(positions=positions, velocities=velocities, accelerations=accelerations)
    message = JointTrajectory(joint_names=list(MODEL.joint_names), points=[point])
    message.header.stamp.nanosec = stamp
    return message


STAMPS = count(1001)
TOPICS = ("dynamics/inverse_dynamics", "dynamics/gravity", "dynamics/coriolis")


def efforts_of(listener: Listener, publish: Callable[[int], None]) -> dict[str, JointState]:
    """Publish, with ever new stamps, until the efforts of one of them have come on every topic."""

    def complete() -> bool:
        if all(listener.received[topic] for topic in TOPICS):
            return len({listener.received[topic][-1].header.stamp.nanosec for topic in TOPICS}) == 1
        publish(next(STAMPS))
        return False

    for topic in TOPICS:
        listener.received[topic].clear()
    listener.until(complete, "no efforts")
    return {topic: listener.received[topic][-1] for topic in TOPICS}


def test_the_predicted_effort_is_the_applied_effort(listener, start):
    """Two nodes in two processes: along the arm's motion, and after an effort command, they agree to 1e-6 N m."""
    arm = start("ros2_dyn.ros.mock_arm_node", "-p", "home:=[0.0, -1.2, 1.4, -1.8, -1.57, 0.0]")
    start("ros2_dyn.ros.dynamics_node", "-r", "~/desired:=/mock_arm/reference")  # the robot comes from the topic
    listener.listen("joint_states", *TOPICS)
    listener.listen("mock_arm/reference", type=JointTrajectory)

    def compare(after: tuple[int, int], enough: int) -> None:
        """Wait for enough instants that both have spoken of, and compare."""

        def common() -> list[tuple[JointState, JointState]]:
            """What the arm applied, and what the node predicted, of the same stamps."""
            applied, predicted = (
                {(m.header.stamp.sec, m.header.stamp.nanosec): m for m in listener.received[topic]}
                for topic in ("joint_states", TOPICS[0])
            )
            return [(applied[stamp], predicted[stamp]) for stamp in applied if stamp in predicted and stamp > after]

        listener.until(lambda: len(common()) > enough, "no efforts")
        applied, predicted = np.swapaxes([[a.effort, p.effort] for a, p in common()], 0, 1)
        assert_allclose(predicted, applied, rtol=0, atol=1e-6)
        assert np.ptp(applied, axis=0)[1] > 0.1  # the arm does move

    def settled() -> tuple[int, int]:
        """The stamp of a state after the node has had a desired state of the same stamp."""
        if not listener.received[TOPICS[0]]:
            return (0, 0)
        effort = listener.received[TOPICS[0]][-1]
        return (effort.header.stamp.sec + 1, effort.header.stamp.nanosec)  # a second later, discovery is over

    listener.until(lambda: settled() > (0, 0), "no efforts")
    compare(settled(), 200)

    assert listener.call(
        SwitchController, "mock_arm/switch_controller", controller=SwitchController.Request.EFFORT
    ).success
    command = listener.publisher(Float64MultiArray, "effort_controller/commands")
    efforts = [2.0, -40.0, -10.0, -1.0, 0.2, 0.1]
    command.publish(Float64MultiArray(data=efforts))
    listener.until(
        lambda: np.allclose(listener.received["joint_states"][-1].effort, efforts), "the command was not taken"
    )
    latest = listener.received["joint_states"][-1].header.stamp
    received = listener.received[TOPICS[0]]
    listener.until(
        lambda: (received[-1].header.stamp.sec, received[-1].header.stamp.nanosec) > (latest.sec, latest.nanosec),
        "no efforts after the command",
    )
    assert_allclose(received[-1].effort, efforts, rtol=0, atol=1e-6)

    # Like a forward_command_controller: a wrong size or a non-finite number is refused, and the last command held.
    command.publish(Float64MultiArray(data=[1.0]))
    command.publish(Float64MultiArray(data=[np.nan] * 6))
    count = len(listener.received["joint_states"])
    listener.until(lambda: len(listener.received["joint_states"]) > count + 100, "the arm is silent")
    assert_allclose(listener.received["joint_states"][-1].effort, efforts)
    assert arm.alive
    assert "command refused: expected 6 efforts, got 1" in arm.stop()


def test_efforts_are_those_of_the_library(listener, dynamics):
    """Joint states in any order, extra joints among them; stamps and names come back; desired states by stamp."""
    listener.listen(*TOPICS)
    states = listener.publisher(JointState, "joint_states")
    order = [3, 1, 5, 0, 2, 4]

    def shuffled(values, extra):
        return [*(values[i] for i in order), extra]

    def publish(stamp):
        names = shuffled(MODEL.joint_names, "gripper")
        states.publish(state(stamp, names, shuffled(Q, np.nan), shuffled(QD, np.nan)))

    efforts = efforts_of(listener, publish)
    for message in efforts.values():
        assert tuple(message.name) == MODEL.joint_names
        assert message.header.stamp.nanosec > 1000
    assert_allclose(efforts[TOPICS[1]].effort, gravity(MODEL, Q), rtol=0, atol=1e-10)
    assert_allclose(efforts[TOPICS[2]].effort, coriolis(MODEL, Q, QD), rtol=0, atol=1e-10)
    # Without a desired state the acceleration is zero.
    assert_allclose(efforts[TOPICS[0]].effort, gravity(MODEL, Q) + coriolis(MODEL, Q, QD), rtol=0, atol=1e-10)

    wanted = listener.publisher(JointTrajectory, "dynamics/desired")

    def publish_both(stamp):
        wanted.publish(desired(stamp))
        states.publish(state(stamp))

    def accelerated() -> bool:
        tau = efforts_of(listener, publish_both)[TOPICS[0]].effort
        return np.allclose(tau, rnea(MODEL, Q, QD, QDD), rtol=0, atol=1e-10)

    listener.until(accelerated, "the desired accelerations were not used")

    def publish_elsewhere(stamp):
        wanted.publish(desired(stamp, positions=[0.0] * 6, velocities=[1.0] * 6))
        states.publish(state(stamp))

    def elsewhere() -> bool:
        tau = efforts_of(listener, publish_elsewhere)[TOPICS[0]].effort
        return np.allclose(tau, rnea(MODEL, np.zeros(6), np.ones(6), QDD), rtol=0, atol=1e-10)

    listener.until(elsewhere, "the desired positions and velocities were not used")
    # Gravity and Coriolis are those of the measured state all the same.
    assert_allclose(listener.received[TOPICS[1]][-1].effort, gravity(MODEL, Q), rtol=0, atol=1e-10)


def test_a_burst_of_desired_states_is_paired_by_stamp(listener, dynamics):
    """A state finds the desired state of its stamp among many that came before it, and after it in time."""
    listener.listen(*TOPICS)
    states = listener.publisher(JointState, "joint_states")
    wanted = listener.publisher(JointTrajectory, "dynamics/desired")
    efforts_of(listener, lambda stamp: states.publish(state(stamp)))  # discovery is over
    for first in range(10**8, 10**8 + 200, 20):
        for stamp in range(first, first + 20):
            wanted.publish(desired(stamp, accelerations=[float(stamp - first)] * 6))
        states.publish(state(first + 10))

        def arrived(stamp=first + 10) -> bool:
            return listener.received[TOPICS[0]][-1].header.stamp.nanosec == stamp

        listener.until(arrived, "no efforts")
        tau = rnea(MODEL, Q, QD, [10.0] * 6)
        assert_allclose(listener.received[TOPICS[0]][-1].effort, tau, rtol=0, atol=1e-10)


def test_bad_messages_leave_the_node_alive(listener, dynamics):
    """Each is refused; the good message that follows is answered, and nothing non-finite was published."""
    listener.listen(*TOPICS)
    states = listener.publisher(JointState, "joint_states")
    wanted = listener.publisher(JointTrajectory, "dynamics/desired")
    descriptions = listener.node.create_publisher(String, "robot_description", LATCHED)
    bad_states = [
        JointState(),
        state(names=MODEL.joint_names[:5], position=Q[:5], velocity=QD[:5]),
        state(position=Q[:4]),
        state(velocity=[]),
        state(velocity=[*QD, 1.0]),
        state(position=[np.nan] * 6),
        state(velocity=[np.inf] * 6),
        state(velocity=[1e200] * 6),
        state(names=["shoulder_pan_joint"] * 6),
    ]
    bad_desired = [
        JointTrajectory(),
        desired(accelerations=[]),
        desired(accelerations=[1.0]),
        desired(accelerations=[np.nan] * 6),
        desired(positions=[1.0]),
        JointTrajectory(joint_names=["x"], points=[JointTrajectoryPoint(accelerations=[1.0])]),
    ]
    for i in range(10):
        for message in bad_states:
            states.publish(message)
        for message in bad_desired:
            wanted.publish(message)
        descriptions.publish(String(data=f"<robot{i}"))
        efforts = efforts_of(listener, lambda stamp: states.publish(state(stamp)))
        assert_allclose(efforts[TOPICS[1]].effort, gravity(MODEL, Q), rtol=0, atol=1e-10)
    assert dynamics.alive
    assert all(np.all(np.isfinite(m.effort)) for topic in TOPICS for m in listener.received[topic])
    printed = dynamics.stop()
    warnings = [line for line in printed.splitlines() if "refused a message" in line]
    assert warnings
    assert "Traceback" not in printed
    assert dynamics.process.returncode == 0


def test_warnings_come_once_a_second_at_most_and_count_all(listener, dynamics):
    """A driver gone wrong at 1 kHz does not fill the log."""
    states = listener.publisher(JointState, "joint_states")
    listener.listen("/rosout", type=Log)

    def warnings():
        return [log for log in listener.received["/rosout"] if "refused a message on joint_states" in log.msg]

    def two_warnings() -> bool:
        states.publish(JointState(name=["elbow_joint"], position=[0.0], velocity=[0.0]))
        return len(warnings()) >= 2

    listener.until(two_warnings, "no warning")
    first, second = warnings()[:2]
    times = [log.stamp.sec + 1e-9 * log.stamp.nanosec for log in (first, second)]
    assert times[1] - times[0] > 0.99
    assert "name: joint missing: 'shoulder_pan_joint' is not in it, and was never seen (" in second.msg
    assert int(second.msg.split("(")[-1].split()[0]) > 2  # refused so far


def test_get_jacobian(listener, dynamics):
    """At a given state, and at the measured one; a wrong request gets an answer that says why."""
    name = "dynamics/get_jacobian"
    nothing = listener.call(GetJacobian, name)
    assert not nothing.success
    assert "no usable message has been received on joint_states" in nothing.message

    point = Point(x=0.1, y=-0.2, z=0.3)
    given = listener.call(GetJacobian, name, state=state(), link="forearm_link", point=point, frame="tool0")
    where = ("forearm_link", [0.1, -0.2, 0.3], "tool0")
    assert given.success, given.message
    assert tuple(given.joint_names) == MODEL.joint_names
    assert_allclose(np.reshape(given.jacobian, (6, 6)), jacobian(MODEL, Q, *where), rtol=0, atol=1e-12)
    assert_allclose(np.reshape(given.jacobian_dot, (6, 6)), jacobian_dot(MODEL, Q, QD, *where), rtol=0, atol=1e-12)

    states = listener.publisher(JointState, "joint_states")
    listener.listen(*TOPICS)
    efforts_of(listener, lambda stamp: states.publish(state(stamp)))
    measured = listener.call(GetJacobian, name)
    J = jacobian(MODEL, Q)
    assert_allclose(np.reshape(measured.jacobian, (6, 6)), J, rtol=0, atol=1e-12)
    assert_allclose(measured.singular_values, np.linalg.svd(J)[1], rtol=0, atol=1e-12)
    assert_allclose(measured.manipulability, abs(np.linalg.det(J)), rtol=1e-9)
    assert not measured.near_singularity
    stretched = listener.call(GetJacobian, name, state=state(position=[0.0] * 6, velocity=[]))
    assert stretched.success
    assert stretched.near_singularity
    assert not np.any(stretched.jacobian_dot)

    for request, problem in (
        ({"link": "hand"}, "no link 'hand'"),
        ({"frame": "hand"}, "no link 'hand'"),
        ({"state": state(position=Q[:3])}, "position: wrong length"),
        ({"point": Point(x=np.nan)}, "point: expected finite numbers"),
    ):
        refused = listener.call(GetJacobian, name, **request)
        assert not refused.success
        assert problem in refused.message
        assert len(refused.jacobian) == 0


def test_wrench_to_torque(listener, dynamics):
    """J^T F in any frame, with the weight of the arm if asked for."""
    wrench = WrenchStamped(
        header=Header(frame_id="tool0"),
        wrench=Wrench(force=Vector3(x=1.0, y=2.0, z=3.0), torque=Vector3(x=0.1, y=0.2, z=0.3)),
    )
    F = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    request = {"state": state(), "wrench": wrench, "point": Point(z=0.1)}
    plain = listener.call(WrenchToTorque, "dynamics/wrench_to_torque", **request)
    tau = static_torque(MODEL, Q, F, point=[0, 0, 0.1], frame="tool0")
    assert plain.success, plain.message
    assert tuple(plain.joint_names) == MODEL.joint_names
    assert_allclose(plain.effort, tau, rtol=0, atol=1e-12)
    held = listener.call(WrenchToTorque, "dynamics/wrench_to_torque", include_gravity=True, **request)
    assert_allclose(held.effort, tau + gravity(MODEL, Q), rtol=0, atol=1e-12)

    wrench.wrench.force.x = np.inf
    refused = listener.call(WrenchToTorque, "dynamics/wrench_to_torque", **request)
    assert not refused.success
    assert "wrench: expected finite numbers" in refused.message


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-p", "urdf_file:=/nowhere.urdf"], "file '/nowhere.urdf': cannot be read"),
        (["-p", "robot_description:=<robot/>"], "robot: it has no root link"),
        (["-p", f"urdf_file:={MOCK_ARM}", "-p", "tip_link:=hand"], "link: the robot 'mock_arm' has no link 'hand'"),
        (["-p", "gravity:=[0.0, 9.81]"], "gravity: expected shape (..., 3), got (2,)"),
        (["-p", "desired_timeout:=-1.0"], "desired_timeout"),
        (["-p", "desired_timeout:=soon"], "desired_timeout"),
    ],
)
def test_a_wrong_parameter_ends_the_node_with_one_line(start, arguments, problem):
    """It names the parameter and what was expected; the exit status is 1."""
    process = start("ros2_dyn.ros.dynamics_node", *arguments)
    printed = process.ended()
    assert process.process.returncode == 1
    assert problem in printed
    assert "Traceback" not in printed


def test_joint_wrenches_and_friction(listener, start):
    """The reaction through each joint in its link's frame; friction as the parameter file says, and in the effort."""
    names = ", ".join(MODEL.joint_names)
    friction = [
        "-p",
        "viscous_friction:=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]",
        "-p",
        "coulomb_friction:=[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]",
    ]
    start("ros2_dyn.ros.dynamics_node", "-p", f"urdf_file:={MOCK_ARM}", "-p", f"joints:=[{names}]", *friction)
    wrench, markers = "dynamics/joint_wrench/elbow_joint", "dynamics/wrench_markers"
    listener.listen(wrench, type=WrenchStamped)
    listener.listen(markers, type=MarkerArray)
    listener.listen("dynamics/friction", *TOPICS)
    states = listener.publisher(JointState, "joint_states")
    stamps = iter(range(1, 10**9))

    def answered() -> bool:
        states.publish(state(next(stamps)))
        return all(listener.received[topic] for topic in (wrench, markers, "dynamics/friction", TOPICS[0]))

    listener.until(answered, "not all topics came")
    drives = [JointDynamics(viscous=i + 1.0, coulomb=1.0) for i in range(6)]
    model = MODEL.with_joint_dynamics(dict(zip(MODEL.joint_names, drives)))
    expected = friction_of(model, QD)
    assert_allclose(listener.received["dynamics/friction"][-1].effort, expected, rtol=0, atol=1e-10)
    tau = rnea(MODEL, Q, QD, np.zeros(6)) + expected
    assert_allclose(listener.received[TOPICS[0]][-1].effort, tau, rtol=0, atol=1e-10)
    message = listener.received[wrench][-1]
    f, m = message.wrench.force, message.wrench.torque
    assert message.header.frame_id == "forearm_link"
    assert_allclose([f.x, f.y, f.z, m.x, m.y, m.z], joint_wrenches(MODEL, Q, QD, np.zeros(6))[2], rtol=0, atol=1e-10)
    arrows = listener.received[markers][-1].markers
    assert len(arrows) == 12
    assert_allclose([arrows[4].points[1].x, arrows[4].points[1].z], [0.002 * f.x, 0.002 * f.z], rtol=0, atol=1e-12)


def test_a_trajectory_gets_its_efforts(listener, dynamics):
    """In every point; what it leaves out follows from a spline; a wrong one is refused and the node goes on."""
    listener.listen("dynamics/trajectory_with_effort", type=JointTrajectory)
    sent = listener.publisher(JointTrajectory, "dynamics/desired_trajectory")
    answers = listener.received["dynamics/trajectory_with_effort"]
    times = np.linspace(0.5, 2.5, 9)

    def trajectory(velocities=True, accelerations=True) -> JointTrajectory:
        message = JointTrajectory(joint_names=["extra", *MODEL.joint_names[::-1]])
        for t in times:
            q = [9.0, *(np.array(Q)[::-1] + t**3)]
            point = JointTrajectoryPoint(positions=q, time_from_start=Duration(sec=int(t), nanosec=round(t % 1 * 1e9)))
            point.velocities = [0.0, *np.full(6, 3 * t**2)] if velocities else []
            point.accelerations = [0.0, *np.full(6, 6 * t)] if accelerations else []
            message.points.append(point)
        return message

    def answer(message: JointTrajectory) -> np.ndarray:
        answers.clear()
        sent.publish(message)
        listener.until(lambda: bool(answers), "no answer")
        efforts = np.array([point.effort for point in answers[-1].points])
        assert not np.any(efforts[:, 0])
        return efforts[:, :0:-1]

    qs, ones = np.array(Q) + times[:, None] ** 3, np.ones(6)
    expected = rnea(MODEL, qs, 3 * times[:, None] ** 2 * ones, 6 * times[:, None] * ones)
    assert_allclose(answer(trajectory()), expected, rtol=0, atol=1e-9)
    # A cubic is its own Hermite spline, so that accelerations may be missing.
    assert_allclose(answer(trajectory(accelerations=False)), expected, rtol=0, atol=1e-4)
    at_rest = answer(trajectory(False, False))
    spline = CubicSpline(times, qs, bc_type="clamped")
    assert_allclose(at_rest, rnea(MODEL, qs, spline(times, 1), spline(times, 2)), rtol=0, atol=1e-9)

    backwards = trajectory(False, False)
    backwards.points[3].time_from_start.sec = 0
    for bad in (JointTrajectory(), backwards):
        sent.publish(bad)
    assert_allclose(answer(trajectory()), expected, rtol=0, atol=1e-9)


def test_get_dynamics(listener, dynamics):
    """Every term; the acceleration in the order of the request's state."""
    given = listener.call(GetDynamics, "dynamics/get_dynamics", state=state(), acceleration=QDD)
    assert given.success, given.message
    assert_allclose(np.reshape(given.mass_matrix, (6, 6)), mass_matrix(MODEL, Q), rtol=0, atol=1e-12)
    assert_allclose(given.coriolis, coriolis(MODEL, Q, QD), rtol=0, atol=1e-10)
    assert_allclose(given.gravity, gravity(MODEL, Q), rtol=0, atol=1e-10)
    assert_allclose(given.effort, rnea(MODEL, Q, QD, QDD), rtol=0, atol=1e-10)
    assert_allclose(given.kinetic_energy, kinetic_energy(MODEL, Q, QD), rtol=1e-12)
    assert_allclose(given.potential_energy, potential_energy(MODEL, Q), rtol=0, atol=1e-10)
    turned = state(names=MODEL.joint_names[::-1], position=Q[::-1], velocity=QD[::-1])
    other = listener.call(GetDynamics, "dynamics/get_dynamics", state=turned, acceleration=QDD[::-1])
    assert_allclose(other.effort, given.effort, rtol=0, atol=1e-12)
    refused = listener.call(GetDynamics, "dynamics/get_dynamics", state=state(), acceleration=[1.0])
    assert not refused.success
    assert "acceleration: wrong: expected 6 finite numbers" in refused.message


def test_a_payload_is_ramped_in_and_removed(listener, dynamics):
    """Efforts pass from without to with it; mass 0 takes it off again; a wrong one changes nothing."""
    listener.listen(*TOPICS)
    states = listener.publisher(JointState, "joint_states")

    def weight() -> np.ndarray:
        return np.array(
            efforts_of(listener, lambda stamp: states.publish(state(stamp, velocity=[0.0] * 6)))[TOPICS[1]].effort
        )

    box = Inertia(m=2.0, com=Vector3(z=0.1), ixx=0.1, iyy=0.1, izz=0.1)
    loaded = gravity(MODEL.carrying(Payload(2.0, (0, 0, 0.1), 0.1 * np.eye(3))), Q)
    bare = gravity(MODEL, Q)
    assert listener.call(SetPayload, "dynamics/set_payload", inertia=box, ramp_time=2.0).success
    between = weight()
    share = (between - bare)[1] / (loaded - bare)[1]
    assert 0 <= share < 1
    assert_allclose(between, bare + share * (loaded - bare), rtol=0, atol=1e-10)
    listener.until(lambda: np.allclose(weight(), loaded, rtol=0, atol=1e-10), "the payload was not taken")
    elsewhere = listener.call(SetPayload, "dynamics/set_payload", inertia=box, link="forearm_link")
    assert "'tool0' carries a payload; remove it first" in elsewhere.message
    for wrong in ({"inertia": Inertia(m=-1.0)}, {"inertia": box, "ramp_time": -1.0}, {"inertia": box, "link": "hand"}):
        assert not listener.call(SetPayload, "dynamics/set_payload", **wrong).success
    assert_allclose(weight(), loaded, rtol=0, atol=1e-10)
    assert listener.call(SetPayload, "dynamics/set_payload").success
    listener.until(lambda: np.allclose(weight(), bare, rtol=0, atol=1e-10), "the payload was not removed")


def test_rviz_is_told_of_topics_that_are_there(listener, dynamics):
    """Every topic of the RViz configuration is one of the node's, of the type that the display wants."""
    types = {
        "rviz_default_plugins/Effort": "sensor_msgs/msg/JointState",
        "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
        "rviz_default_plugins/Wrench": "geometry_msgs/msg/WrenchStamped",
    }

    def wanted(displays) -> dict[str, str]:
        """Topics and types of some displays, and of the groups among them."""
        topics = {d["Topic"]["Value"]: types[d["Class"]] for d in displays if "Topic" in d}
        return topics | {k: v for d in displays for k, v in wanted(d.get("Displays", [])).items()}

    config = yaml.safe_load((MOCK_ARM.parent / "dynamics.rviz").read_text(encoding="utf-8"))
    topics = wanted(config["Visualization Manager"]["Displays"])
    assert len(topics) == 10
    assert config["Visualization Manager"]["Global Options"]["Fixed Frame"] == MODEL.base_link

    def there() -> dict[str, str]:
        return {name: found for name, (found, *_) in listener.node.get_topic_names_and_types()}

    listener.until(lambda: topics.items() <= there().items(), "topics that RViz shows are missing")
    # Displays drop what has no frame.
    listener.listen(*TOPICS)
    states = listener.publisher(JointState, "joint_states")
    efforts = efforts_of(listener, lambda stamp: states.publish(state(stamp)))
    assert all(message.header.frame_id == MODEL.base_link for message in efforts.values())


def test_states_do_not_wait_for_kernels(listener, monkeypatch):
    """A payload on another link, a robot and a trajectory need kernels, which are made aside."""
    node, executor = DynamicsNode(), SingleThreadedExecutor()
    executor.add_node(node)
    end: Future = Future()
    thread = Thread(target=executor.spin_until_future_complete, args=(end,), daemon=True)
    thread.start()
    descriptions = listener.publisher(String, "robot_description", LATCHED)
    states = listener.publisher(JointState, "joint_states")
    trajectories = listener.publisher(JointTrajectory, "dynamics/desired_trajectory")
    listener.listen(*TOPICS)
    listener.listen("dynamics/trajectory_with_effort", type=JointTrajectory)

    def publish(stamp: int) -> None:
        states.publish(state(stamp))

    xml = MOCK_ARM.read_text(encoding="utf-8")
    descriptions.publish(String(data=xml))
    efforts_of(listener, publish)
    gate, entered = Event(), Event()

    def slow(function):
        def wait(*arguments):
            entered.set()
            assert gate.wait(PATIENCE)
            return function(*arguments)

        return wait

    monkeypatch.setattr(robot_of_node, "kernels", slow(robot_of_node.kernels))
    monkeypatch.setattr(dynamics_node, "effort_along", slow(dynamics_node.effort_along))
    client = listener.node.create_client(SetPayload, "dynamics/set_payload")
    listener.until(client.service_is_ready, "no service")
    box = Inertia(m=2.0, com=Vector3(z=0.1))
    point = JointTrajectoryPoint(positions=Q, velocities=QD, accelerations=QDD)
    for begin, done in (
        (lambda: client.call_async(SetPayload.Request(inertia=box, link="forearm_link")).done, None),
        (
            lambda: trajectories.publish(JointTrajectory(joint_names=list(MODEL.joint_names), points=[point])),
            lambda: bool(listener.received["dynamics/trajectory_with_effort"]),
        ),
        (
            lambda: descriptions.publish(String(data=xml.replace('"mock_arm"', '"other"'))),
            lambda: node._robot.model.name == "other",
        ),
    ):
        gate.clear()
        entered.clear()
        done = begin() or done
        listener.until(entered.is_set, "the work has not begun")
        for _ in range(5):
            efforts_of(listener, publish)
        assert not done()
        gate.set()
        listener.until(done, "the work was not done")
    loaded = MODEL.carrying(Payload(2.0, (0, 0, 0.1), np.zeros((3, 3)), "forearm_link"))  # the other carries it, too
    assert_allclose(efforts_of(listener, publish)[TOPICS[1]].effort, gravity(loaded, Q), rtol=0, atol=1e-10)
    end.set_result(None)
    thread.join()  # first: an executor that is shut down while it spins breaks in its own thread
    executor.shutdown()
    node.destroy_node()


def test_what_is_done_aside_goes_on_in_order(listener):
    """Executors run the newest of waiting tasks first, so that an older robot description would come last."""
    node = DynamicsNode()
    listener.executor.add_node(node)
    order: list[int] = []

    def begin() -> None:
        for k in range(3):
            node._aside(lambda k=k: k, lambda done: order.append(done.result()))
        node._worker.submit(lambda: None).result(PATIENCE)  # all is done, and nothing has gone on

    listener.executor.create_task(begin)
    listener.until(lambda: len(order) == 3, "not all has gone on")
    assert order == [0, 1, 2]
    listener.executor.remove_node(node)
    node.destroy_node()


def test_parameters_change_as_a_whole(listener, dynamics):
    """All or none; what is refused says why, and the efforts are as before."""
    listener.listen(*TOPICS)
    states = listener.publisher(JointState, "joint_states")

    def weight() -> list[float]:
        return efforts_of(listener, lambda stamp: states.publish(state(stamp)))[TOPICS[1]].effort

    def set_parameters(**values):
        parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        return listener.call(
            SetParametersAtomically, "dynamics/set_parameters_atomically", parameters=parameters
        ).result

    weight()
    assert set_parameters(gravity=[0.0, 0.0, 9.81], tip_link="forearm_link").successful
    kept = listener.call(GetDynamics, "dynamics/get_dynamics")  # at the measured state, which is still known
    assert_allclose(kept.gravity, gravity(MODEL, Q, (0, 0, 9.81)), rtol=0, atol=1e-10)
    assert_allclose(weight(), gravity(MODEL, Q, (0, 0, 9.81)), rtol=0, atol=1e-10)
    for values, reason in (
        ({"gravity": [0.0, 0.0, -1.0], "tip_link": "hand"}, "no link 'hand'"),
        ({"gravity": [1.0]}, "gravity: expected shape"),
        ({"acceleration": "guessed"}, "acceleration: expected one of zero, estimated; got 'guessed'"),
        ({"joints": ["elbow_joint", "nose"]}, "no joint 'nose'"),
        ({"armature": [1.0, 2.0]}, "armature: expected 0 numbers as `joints` has, got 2"),
        ({"urdf_file": "/other.urdf"}, "read"),
    ):
        result = set_parameters(**values)
        assert not result.successful
        assert reason in result.reason
    assert_allclose(weight(), gravity(MODEL, Q, (0, 0, 9.81)), rtol=0, atol=1e-10)


def test_diagnostics_tell_how_it_is(listener, dynamics):
    """A status for each concern, once a second: silent, fed with nonsense, fed well."""
    listener.listen("/diagnostics", type=DiagnosticArray)

    def concern(name: str):
        reports = listener.received["/diagnostics"]
        statuses = reports[-1].status if reports else []
        return next((status for status in statuses if status.name == f"dynamics: {name}"), None)

    def says(name: str, text: str) -> Callable[[], bool]:
        return lambda: concern(name) is not None and text in concern(name).message

    listener.until(says("joint_states", "no usable state yet"), "not silent")
    states = listener.publisher(JointState, "joint_states")
    stamps = iter(range(1, 10**9))

    def feed(message: JointState, until: Callable[[], bool]) -> Callable[[], bool]:
        def step() -> bool:
            message.header.stamp.nanosec = next(stamps)
            states.publish(message)
            return until()

        return step

    listener.until(feed(JointState(name=["finger"]), says("joint_states", "hold none of the joints")), "not seen")
    listener.until(feed(state(position=[np.nan] * 6), says("joint_states", "refused")), "not refused")
    assert "refused: not finite" in {pair.key for pair in concern("joint_states").values}
    listener.until(feed(state(), says("joint_states", "fine")), "not fine")
    assert concern("tick").message == "acceleration: zero"
    assert {"latency p50 (ms)", "latency p99 (ms)"} <= {pair.key for pair in concern("tick").values}
    assert says("model", "fine")()
    assert says("mode", "monitor")()
    listener.until(feed(state(position=[0.0] * 6), says("singularity", "near a singularity")), "no singularity")
    other = listener.node.create_publisher(JointState, "joint_states", 10)
    listener.until(feed(state(), says("joint_states", "2 publishers on one topic")), "the second is not seen")
    listener.node.destroy_publisher(other)
    listener.until(feed(state(), says("joint_states", "fine")), "the second is still seen")
    assert all(status.hardware_id == "mock_arm" for status in listener.received["/diagnostics"][-1].status)


def test_a_new_robot_takes_over_and_a_wrong_one_does_not(listener, start):
    """On the topic robot_description, while states come."""
    start("ros2_dyn.ros.dynamics_node")
    listener.listen(*TOPICS)
    descriptions = listener.publisher(String, "robot_description", LATCHED)
    states = listener.publisher(JointState, "joint_states")
    xml = MOCK_ARM.read_text(encoding="utf-8")

    def weight() -> list[float]:
        return efforts_of(listener, lambda stamp: states.publish(state(stamp)))[TOPICS[1]].effort

    descriptions.publish(String(data=xml))
    assert_allclose(weight(), gravity(MODEL, Q), rtol=0, atol=1e-10)
    floating = robot(link("a"), link("b", 1.0), joint("free", "floating", "a", "b"))
    for wrong in ("<robot", floating):
        descriptions.publish(String(data=wrong))
    assert_allclose(weight(), gravity(MODEL, Q), rtol=0, atol=1e-10)
    heavier = xml.replace('<mass value="3.7"/>', '<mass value="5.7"/>').replace(
        '<mass value="8.393"/>', '<mass value="9.393"/>'
    )
    assert heavier != xml
    descriptions.publish(String(data=heavier))
    listener.until(
        lambda: np.allclose(weight(), gravity(RobotModel.from_urdf(heavier), Q), rtol=0, atol=1e-10),
        "the old robot stays",
    )


def test_a_xacro_file_will_do(listener, start, tmp_path):
    """It is expanded; a broken one ends the node with one line."""
    pytest.importorskip("xacro", reason="xacro is not installed")
    text = MOCK_ARM.read_text(encoding="utf-8").replace(
        "<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1
    )
    good, bad = tmp_path / "arm.urdf.xacro", tmp_path / "bad.urdf.xacro"
    good.write_text(text, encoding="utf-8")
    bad.write_text('<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${no}"/></robot>')
    start("ros2_dyn.ros.dynamics_node", "-p", f"urdf_file:={good}")
    given = listener.call(GetDynamics, "dynamics/get_dynamics", state=state())
    assert_allclose(given.gravity, gravity(MODEL, Q), rtol=0, atol=1e-10)
    process = start("ros2_dyn.ros.dynamics_node", "-p", f"urdf_file:={bad}")
    printed = process.ended()
    assert "xacro cannot expand it" in printed
    assert process.process.returncode == 1
