"""Collisions as the node sees them: a process of its own, a moving arm that is pushed, real messages over DDS."""

import time
from collections.abc import Callable, Iterator
from math import exp

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from real_arms import REAL_ARMS, real_arm
from robots import MOCK_ARM, example_robots, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Inertia, Point, Vector3, WrenchStamped
from rclpy.qos import QoSProfile
from ros2_dyn_interfaces.msg import CollisionState
from ros2_dyn_interfaces.srv import ApplyContact, GetCollisionResiduals, SetPayload
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from ros2_dyn.cli.collision_report import collision_report
from ros2_dyn.dynamics import forward_kinematics, gravity, jacobian, rnea
from ros2_dyn.model import Payload
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import Listener, Process

MODEL = mock_arm()
NAMES = list(MODEL.joint_names)
HOME = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0])
W = np.array([2.0, 3.0, 2.5, 4.0, 5.0, 3.5])
PERIOD = 2_000_000
"""Of the states, ns."""
K = 25.0
THRESHOLD = [5.0, 5.0, 5.0, 1.0, 1.0, 1.0]
THRESHOLDS = f"collision_threshold:={THRESHOLD}"
JOINTS = f"joints:=[{', '.join(NAMES)}]"


class PushedArm:
    """A driver that plays an arm in motion, and what the node says of it."""

    def __init__(self, listener: Listener, process: Process) -> None:
        self.listener, self.process = listener, process
        self.i = 500_000
        listener.listen("dynamics/external_effort")
        listener.listen("dynamics/collision", type=CollisionState)
        listener.listen("dynamics/external_wrench", type=WrenchStamped)
        self.stops: list[bool] = []
        listener.node.create_subscription(Bool, "dynamics/collision_stop", lambda m: self.stops.append(m.data), LATCHED)
        self.states = listener.publisher(JointState, "joint_states")
        self.model = MODEL
        self.push: Callable[[np.ndarray], np.ndarray] = lambda q: np.zeros(6)
        self.measured: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] = lambda tau, q, e: tau

    def step(self, moving=True) -> np.ndarray:
        """Publish the state of the next instant, with the effort that the motors exert; the joint positions."""
        self.i += 1
        t = 1e-9 * PERIOD * self.i * moving
        q, qd, qdd = HOME + 0.3 * np.sin(W * t), 0.3 * W * np.cos(W * t), -0.3 * W**2 * np.sin(W * t)
        qd, qdd = qd * moving, qdd * moving
        e = self.push(q)
        tau = rnea(self.model, q, qd, qdd) - e
        message = JointState(name=NAMES, position=q, velocity=qd, effort=self.measured(tau, q, e))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self.i * PERIOD, 10**9)
        self.states.publish(message)
        self.listener.executor.spin_once(timeout_sec=0.001)
        deadline = time.monotonic() + 0.02
        while not self.answered() and time.monotonic() < deadline:
            self.listener.executor.spin_once(timeout_sec=0.002)
        return q

    def answered(self) -> bool:
        """Whether the external effort of the newest state has come: the arm waits for it, so that none is lost."""
        received = self.listener.received["dynamics/external_effort"]
        return bool(received) and self.stamp(received[-1]) == self.i * PERIOD

    def play(self, states: int, moving=True) -> np.ndarray:
        """Publish some states; the last joint positions."""
        for _ in range(states):
            q = self.step(moving)
        return q

    def residual(self) -> np.ndarray:
        """The external effort at the newest state."""
        self.listener.until(self.answered, "no external effort")
        return np.array(self.listener.received["dynamics/external_effort"][-1].effort)

    def newest(self, topic: str):
        """The message of the state that was sent last: states go on until it has been answered."""
        received = self.listener.received[topic]

        def come() -> bool:
            self.step()
            return bool(received) and self.stamp(received[-1]) > before

        before = self.i * PERIOD
        self.listener.until(come, f"nothing on {topic}")
        return received[-1]

    @staticmethod
    def stamp(message) -> int:
        """In ns."""
        return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


@pytest.fixture
def begin() -> Iterator[Callable[..., PushedArm]]:
    """Starts a node with some parameters, and an arm that moves beside it."""
    started: list[PushedArm] = []

    def begin(*parameters: str) -> PushedArm:
        arguments = [f"urdf_file:={MOCK_ARM}", f"observer_bandwidth:={K}", *parameters]
        process = Process("ros2_dyn.ros.dynamics_node", *(text for p in arguments for text in ("-p", p)))
        started.append(PushedArm(Listener(), process))
        started[-1].newest("dynamics/external_effort")
        return started[-1]

    yield begin
    for arm in started:
        printed = arm.process.stop()
        arm.listener.close()
        assert "Traceback" not in printed, printed
        assert arm.process.process.returncode == 0


FORCE = np.array([10.0, -20.0, 15.0])


def tip_push(q: np.ndarray) -> np.ndarray:
    """Efforts of a force at the tip, in the axes of the base."""
    return jacobian(MODEL, q)[:3].T @ FORCE


def test_a_push_at_the_tip(begin):
    """Quiet before; then the external effort, a latched collision, its link, the wrench, a stop; reset ends it."""
    arm = begin(JOINTS, THRESHOLDS)
    listener = arm.listener
    arm.play(200)
    assert_allclose(arm.residual(), 0, atol=0.05)
    assert arm.stops == [False]
    assert not listener.received["dynamics/collision"][-1].collision
    listener.listen("dynamics/wrench_markers", type=MarkerArray)

    arm.push = tip_push
    arm.play(round(8 / K / (1e-9 * PERIOD)))
    q = arm.step()
    assert_allclose(arm.residual(), tip_push(q), rtol=0.02, atol=0.3)
    state = arm.newest("dynamics/collision")
    assert tuple(state.joint_names) == MODEL.joint_names
    assert state.collision
    assert list(state.threshold) == THRESHOLD
    assert list(state.exceeded) == [abs(r) > e for r, e in zip(state.residual, THRESHOLD)]
    listener.until(lambda: arm.step() is not None and arm.stops == [False, True], "no stop")

    wrench = arm.newest("dynamics/external_wrench")
    assert wrench.header.frame_id == MODEL.default_tip
    t = 1e-9 * arm.stamp(wrench)
    R = forward_kinematics(MODEL, HOME + 0.3 * np.sin(W * t))[:3, :3]
    f = wrench.wrench.force
    assert_allclose([f.x, f.y, f.z], R.T @ FORCE, rtol=0, atol=3.0)  # damped, and a little late

    def arrows() -> bool:
        arm.step()
        return any(m.ns == "external_force" for a in listener.received["dynamics/wrench_markers"] for m in a.markers)

    listener.until(arrows, "no marker of the external wrench")

    answer = listener.call(GetCollisionResiduals, "dynamics/get_collision_residuals")
    assert answer.success
    assert answer.collision
    assert answer.external_wrench.header.frame_id == MODEL.default_tip
    assert_allclose(answer.residual, tip_push(q), rtol=0.5, atol=2.0)

    arm.push = lambda q: np.zeros(6)
    arm.play(400)
    assert arm.newest("dynamics/collision").collision  # until it is reset
    assert listener.call(Trigger, "dynamics/reset_collision").success
    arm.play(10)
    assert not arm.newest("dynamics/collision").collision
    listener.until(lambda: arm.step() is not None and arm.stops == [False, True, False], "the stop does not end")


def test_the_link_that_was_touched_is_named(begin):
    """A push on the forearm: its link, and no wrench at the tip."""
    arm = begin(JOINTS, THRESHOLDS)
    arm.push = lambda q: jacobian(MODEL, q, "forearm_link", [-0.3, 0.0, 0.0])[:3].T @ np.array([10.0, 40.0, 50.0])
    arm.play(300)
    assert arm.newest("dynamics/collision").contact_link == "forearm_link"
    answer = arm.listener.call(GetCollisionResiduals, "dynamics/get_collision_residuals")
    assert answer.external_wrench.header.frame_id == ""
    assert "'forearm_link' is touched, not the tip" in answer.message


@pytest.mark.parametrize(
    ("parameters", "measured"),
    [
        ([], lambda tau, q, e: tau),
        (["measured_effort:=gravity_compensated"], lambda tau, q, e: tau - gravity(MODEL, q)),
        (["measured_effort:=external"], lambda tau, q, e: e),
        ([JOINTS, "effort_gain:=[10.0, 10.0, 10.0, 5.0, 5.0, 5.0]"], lambda tau, q, e: tau / [10, 10, 10, 5, 5, 5]),
        (["observer:=direct", "acceleration_cutoff:=200.0"], lambda tau, q, e: tau),
    ],
    ids=["raw", "gravity compensated", "external", "motor currents", "direct"],
)
def test_whatever_drivers_call_effort(begin, parameters, measured):
    """The same external effort."""
    arm = begin(*parameters)
    arm.measured, arm.push = measured, tip_push
    arm.play(round(8 / K / (1e-9 * PERIOD)))
    q = arm.step()
    assert_allclose(arm.residual(), tip_push(q), rtol=0.02, atol=0.4)


def test_a_payload_is_no_collision(begin):
    """Once the node knows of it."""
    arm = begin()
    arm.model = MODEL.carrying(Payload(3.0, (0, 0, 0.1), np.zeros((3, 3))))
    arm.play(300)
    assert np.max(np.abs(arm.residual())) > 5.0
    box = Inertia(m=3.0, com=Vector3(z=0.1))
    assert arm.listener.call(SetPayload, "dynamics/set_payload", inertia=box).success
    arm.play(400)
    assert_allclose(arm.residual(), 0, atol=0.1)


def test_calibration(begin):
    """Refused while nothing moves; then thresholds above all that is seen, as parameters; then a push is detected."""
    arm = begin("calibration_time:=2.0")
    error = np.array([2.0, 3.0, 1.0, 0.5, 0.3, 0.1])
    arm.push = lambda q: error * np.sin(0.05 * arm.i)  # as of a model that is not right
    client = arm.listener.node.create_client(Trigger, "dynamics/calibrate_collision")
    arm.listener.until(client.service_is_ready, "no service")

    def calibrate(moving: bool):
        future = client.call_async(Trigger.Request())
        arm.listener.until(lambda: arm.step(moving) is not None and future.done(), "no answer")
        return future.result()

    still = calibrate(moving=False)
    assert not still.success
    assert "shoulder_pan_joint" in still.message
    assert "never moved" in still.message
    assert np.all(np.isinf(arm.newest("dynamics/collision").threshold))
    arm.play(200)
    done = calibrate(moving=True)
    assert done.success, done.message
    assert 'joints: ["shoulder_pan_joint"' in done.message
    state = arm.newest("dynamics/collision")
    seen = error / np.sqrt(2)  # by an observer of as many 1/s
    assert np.all(np.array(state.threshold) > seen)
    assert np.all(np.array(state.threshold) < 20 * seen)
    arm.play(500)
    assert not arm.newest("dynamics/collision").collision
    arm.push = lambda q: tip_push(q) * 20
    arm.listener.until(lambda: arm.newest("dynamics/collision").collision, "no collision")


def test_the_service_that_stops_the_arm_is_called(begin):
    """Once a collision; and the diagnostics say so."""
    arm = begin(JOINTS, THRESHOLDS, "collision_service:=/controller/stop")
    arm.listener.listen("/diagnostics", type=DiagnosticArray)
    calls = []

    def stop(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        calls.append(request)
        response.success = True
        return response

    arm.listener.node.create_service(Trigger, "/controller/stop", stop)
    arm.play(200)
    arm.push = tip_push
    arm.listener.until(lambda: arm.step() is not None and bool(calls), "the service was not called")
    arm.play(300)
    assert len(calls) == 1

    def told() -> bool:
        arm.step()
        statuses = [s for report in arm.listener.received["/diagnostics"] for s in report.status]
        return any(s.name == "dynamics: collision" and "collision: ~/reset_collision" in s.message for s in statuses)

    arm.listener.until(told, "the diagnostics do not tell")


def test_efforts_that_are_missing_or_not_finite(begin):
    """No observation, no collision, efforts of the model all the same; then it goes on."""
    arm = begin(JOINTS, THRESHOLDS)
    arm.listener.listen("dynamics/gravity")
    for measured in (lambda tau, q, e: [], lambda tau, q, e: tau * np.nan):
        arm.measured = measured
        arm.play(50)
        count = len(arm.listener.received["dynamics/external_effort"])
        arm.newest("dynamics/gravity")
        assert len(arm.listener.received["dynamics/external_effort"]) <= count + 5  # those on their way
    arm.measured = lambda tau, q, e: tau
    arm.play(100)
    assert_allclose(arm.residual(), 0, atol=0.1)
    assert not arm.newest("dynamics/collision").collision


def test_a_slow_listener_gets_the_stop(begin):
    """It is latched: who comes late learns of it."""
    arm = begin(JOINTS, THRESHOLDS)
    arm.push = tip_push
    arm.play(300)
    late: list[bool] = []
    arm.listener.node.create_subscription(
        Bool,
        "dynamics/collision_stop",
        lambda m: late.append(m.data),
        QoSProfile(depth=1, durability=LATCHED.durability),
    )
    arm.listener.until(lambda: arm.step() is not None and late == [True], "not told")


def test_the_low_pass_is_that_of_the_bandwidth(begin):
    """A step of the external effort comes as 1 - exp(-K t)."""
    arm = begin()
    arm.play(200)
    arm.residual()
    first = arm.i
    arm.push = lambda q: np.array([10.0, 0, 0, 0, 0, 0])
    arm.play(60)
    seen = [(arm.stamp(m) / PERIOD - first, m.effort[0]) for m in arm.listener.received["dynamics/external_effort"]]
    steps, rising = np.array([x for x in seen if x[0] > 0]).T
    assert len(steps) == 60
    t = 1e-9 * PERIOD * (steps - 0.5)  # half of the effort's mean over the first interval
    assert_allclose(rising, 10 * (1 - np.exp(-K * t)), rtol=0, atol=0.1 + 10 * (1 - exp(-K * 1e-9 * PERIOD / 2)))


def test_the_mock_arm_is_pushed(listener):
    """Two nodes in two processes: quiet, then a push by the arm's own service, and the link that it acts on."""
    arm = Process("ros2_dyn.ros.mock_arm_node", "-p", f"home:={HOME.tolist()}")
    node = Process("ros2_dyn.ros.dynamics_node", "-p", JOINTS, "-p", THRESHOLDS)
    try:
        listener.listen("dynamics/collision", type=CollisionState)
        states = listener.received["dynamics/collision"]
        listener.until(lambda: len(states) > 200, "no states of the detector")
        assert not any(state.collision for state in states)
        push = {"link": "forearm_link", "point": Point(x=-0.3), "force": Vector3(x=30.0, y=60.0, z=-60.0)}
        answer = listener.call(ApplyContact, "mock_arm/apply_contact", profile="step", duration=1.0, **push)
        assert answer.success, answer.message
        listener.until(lambda: states[-1].collision, "no collision")
        listener.until(lambda: states[-1].contact_link == "forearm_link", "another link")
    finally:
        printed = [process.stop() for process in (node, arm)]
    assert "~/reset_collision ends it" in printed[0]


@pytest.mark.parametrize("name", REAL_ARMS)
def test_a_recording_of_a_real_arm_played_to_the_node(listener, tmp_path, name):
    """The second half, as messages: the residuals of the library, no false alarm; and pushed, a collision."""
    model, recording = real_arm(name)
    report = collision_report(model, recording)
    drives = [joint.dynamics for joint in report.model.joints]
    parameters = {
        "joints": list(model.joint_names),
        "viscous_friction": [drive.viscous for drive in drives],
        "coulomb_friction": [drive.coulomb for drive in drives],
        "armature": [drive.armature for drive in drives],
        "transition_velocity": drives[0].transition_velocity,
        "collision_threshold": list(report.thresholds.constant),
    }
    file = tmp_path / "parameters.yaml"
    file.write_text(yaml.safe_dump({"/**/dynamics": {"ros__parameters": parameters}}), encoding="utf-8")
    process = Process(
        "ros2_dyn.ros.dynamics_node",
        "--params-file",
        str(file),
        "-p",
        f"urdf_file:={example_robots() / REAL_ARMS[name][0]}",
    )
    listener.listen("dynamics/external_effort")
    listener.listen("dynamics/collision", type=CollisionState)
    states = listener.publisher(JointState, "joint_states")
    received = listener.received["dynamics/external_effort"]

    def play(t: float, q, qd, effort) -> None:
        """Publish a state until it is answered: the node may not yet know who listens."""
        message = JointState(name=list(model.joint_names), position=q, velocity=qd, effort=effort)
        at = 10**9 + round(1e9 * t)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(at, 10**9)
        states.publish(message)
        deadline = time.monotonic() + 0.05
        while time.monotonic() < deadline and not (received and PushedArm.stamp(received[-1]) == at):
            listener.executor.spin_once(timeout_sec=0.005)

    rest = report.recording
    before = iter(np.linspace(0.0, 5.0, 1000))

    def heard() -> bool:
        play(next(before), rest.q[0], 0 * rest.qd[0], rest.effort[0])
        return bool(received)

    listener.until(heard, "the node does not answer")
    received.clear()
    for row in zip(rest.t, rest.q, rest.qd, rest.effort):
        play(*row)
    assert len(received) == len(rest.t)
    residuals = np.array([message.effort for message in received])
    assert_allclose(residuals, report.residuals, rtol=0, atol=1e-6)
    states_of_rest = [m for m in listener.received["dynamics/collision"] if m.header.stamp.sec > rest.t[0]]
    assert len(states_of_rest) > len(rest.t) - 200
    assert not any(m.collision for m in states_of_rest)
    for t, q, qd, effort in zip(rest.t + rest.t[-1], rest.q, rest.qd, rest.effort):
        play(t, q, qd, effort + 1.1 * report.smallest[1] * np.eye(model.n)[1])
    assert listener.received["dynamics/collision"][-1].collision
    process.stop()
