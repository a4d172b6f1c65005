"""The mock arm as a process: contacts and hands, controllers, a coarse and lossy driver, and its parameters."""

import re
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3, WrenchStamped
from rcl_interfaces.srv import ListParameters
from rclpy.duration import Duration as DurationOf
from rclpy.executors import SingleThreadedExecutor
from ros2_dyn_interfaces.srv import ApplyContact, LeadHand, SwitchController
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.dynamics import forward_kinematics, friction, regressor, rnea, static_torque
from ros2_dyn.ros.mock_arm_node import MockArmNode
from ros2_dyn.simulation.perturbed import with_friction
from ros2_dyn.simulation.wall import Wall
from ros_harness import PATIENCE, Listener, Process

HOME = "home:=[0.0, -1.2, 1.4, -1.8, -1.57, 0.0]"
MODEL = mock_arm()
PARAMETERS = MOCK_ARM.parent / "mock_arm.yaml"


def ns(message) -> int:
    """Its stamp."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


class Arm:
    """The process, and all that it says, in order of arrival: (is it the reference, message)."""

    def __init__(self, listener: Listener, *parameters: str) -> None:
        words = [word for parameter in (HOME, *parameters) for word in ("-p", parameter)]
        self.listener, self.process = listener, Process("ros2_dyn.ros.mock_arm_node", *words)
        self.said: list[tuple[bool, JointState | JointTrajectory]] = []
        for type, topic in ((JointState, "joint_states"), (JointTrajectory, "mock_arm/reference")):
            listener.node.create_subscription(
                type, topic, lambda m, is_reference=type is JointTrajectory: self.said.append((is_reference, m)), 1000
            )

    def states(self) -> dict[int, JointState]:
        """By stamp, in the order of arrival."""
        return {ns(message): message for is_reference, message in self.said if not is_reference}

    def references(self) -> dict[int, JointTrajectory]:
        """By stamp."""
        return {ns(message): message for is_reference, message in self.said if is_reference}

    def hear(self, n: int) -> None:
        """Wait for so many more references."""
        enough = len(self.references()) + n
        self.listener.until(lambda: len(self.references()) >= enough, "the arm is silent")

    def unexplained(self, model=MODEL) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """By stamp: positions, and the efforts that the motion needs beyond what the motors apply."""
        states, references = self.states(), self.references()
        stamps = [stamp for stamp in states if stamp in references]
        points = [references[stamp].points[0] for stamp in stamps]
        q, qd, qdd = np.swapaxes([(p.positions, p.velocities, p.accelerations) for p in points], 0, 1)
        efforts = rnea(model, q, qd, qdd) + friction(model, qd) - [states[stamp].effort for stamp in stamps]
        return {stamp: (q[k], efforts[k]) for k, stamp in enumerate(stamps)}

    def apply(self, **request) -> ApplyContact.Response:
        """Call the service."""
        return self.listener.call(ApplyContact, "mock_arm/apply_contact", **request)

    def switch(self, controller: str) -> SwitchController.Response:
        """Call the service."""
        return self.listener.call(SwitchController, "mock_arm/switch_controller", controller=controller)

    def last(self) -> JointState:
        """The newest of the states that have come; one that was measured from now on."""
        self.hear(10)
        return list(self.states().values())[-1]


@pytest.fixture
def start(listener) -> Iterator[Callable[..., Arm]]:
    """Starts an arm, with parameters as on the command line."""
    arms: list[Arm] = []

    def start(*parameters: str) -> Arm:
        arms.append(Arm(listener, *parameters))
        return arms[-1]

    yield start
    for arm in arms:
        if arm.process.alive:
            arm.process.stop()


def test_a_contact_of_the_service_acts_as_asked(start):
    """From then on the motion needs ``J^T F`` more than the motors apply, to 1e-6 N m; then it is over."""
    arm = start()
    arm.hear(400)
    before = max(arm.references())
    force, point = Vector3(x=5.0, y=-20.0, z=10.0), Point(x=0.1, z=0.05)
    answer = arm.apply(link="forearm_link", point=point, force=force, profile="step", duration=1.0, delay=0.2)
    assert (answer.success, answer.message) == (True, "")

    def in_contact() -> list[int]:
        return [stamp for stamp, (_, effort) in arm.unexplained().items() if np.abs(effort).max() > 1e-3]

    def over() -> bool:
        arm.hear(50)
        return bool(in_contact()) and max(arm.unexplained()) > max(in_contact())

    arm.listener.until(over, "the contact does not begin or does not end")
    touching = in_contact()
    assert touching[0] >= before + 200_000_000
    assert 0.9 < (touching[-1] - touching[0]) * 1e-9 <= 1.0
    for stamp, (q, effort) in arm.unexplained().items():
        inside = touching[0] <= stamp <= touching[-1]
        expected = static_torque(MODEL, q, [5.0, -20.0, 10.0, 0, 0, 0], "forearm_link", [0.1, 0, 0.05])
        assert_allclose(effort, expected if inside else np.zeros(6), rtol=0, atol=1e-6)


def test_what_makes_no_sense_is_refused_and_the_arm_goes_on(start):
    """With what was expected; and a force that no arm bears makes it start again."""
    arm = start()
    arm.hear(10)
    good = {"force": Vector3(x=1.0), "profile": "step", "duration": 1.0}
    for wrong, problem in (
        ({"link": "hand"}, "link: the robot 'mock_arm' has no link 'hand'; it has base_link, "),
        ({"force": Vector3(x=np.nan)}, "force of the force on 'tool0': expected 3 finite numbers"),
        ({"point": Point(y=np.inf)}, "point of the force on 'tool0': expected 3 finite numbers"),
        ({"profile": "kick"}, "expected one of impulse, step, ramp, sinusoid, got kick"),
        ({"profile": ""}, "expected one of impulse, step, ramp, sinusoid, got "),
        ({"duration": 0.0}, "duration of the force on 'tool0': expected a positive number of seconds, got 0.0"),
        ({"profile": "ramp", "duration": np.inf}, "expected a positive, finite number of seconds for profile 'ramp'"),
        ({"profile": "sinusoid"}, "frequency of the force on 'tool0': expected a positive, finite number of Hz"),
        ({"delay": -1.0}, "delay: expected a finite number of seconds, not negative, got -1.0"),
        ({"delay": np.nan}, "delay: expected a finite number of seconds, not negative, got nan"),
    ):
        answer = arm.apply(**good | wrong)
        assert not answer.success
        assert problem in answer.message
    arm.hear(50)
    assert all(np.abs(effort).max() < 1e-6 for _, effort in arm.unexplained().values())

    for force in (1e7, 1e300):
        assert arm.apply(**good | {"force": Vector3(x=force)}).success
        arm.hear(100)
    assert all(np.all(np.isfinite(state.position)) for state in arm.states().values())
    _, effort = list(arm.unexplained().values())[-1]
    assert np.abs(effort).max() < 1e-6
    printed = arm.process.stop()
    assert "the arm starts again, without contacts but for walls: t = " in printed
    assert "Traceback" not in printed
    assert arm.process.process.returncode == 0


def test_a_script_counts_time_from_the_start_of_the_node(start, tmp_path):
    """A ramp of 1000 s that begins 2 s after the start: its size tells the time, at every stamp the same start."""
    script = tmp_path / "contacts.yaml"
    force = np.array([1e4, -2e4, 3e4])
    script.write_text(
        "- {link: wrist_1_link, force: [1.0e+4, -2.0e+4, 3.0e+4], profile: ramp, start: 2, duration: 1000}\n"
    )
    launched = time.time()
    arm = start(f"contact_script:={script}")
    arm.hear(10)
    start_of_contact = min(arm.references()) + 2 * 10**9  # or a little before
    arm.listener.until(lambda: max(arm.states(), default=0) > start_of_contact + 10**9, "the arm is silent")
    starts: list[float] = []
    for stamp, (q, effort) in arm.unexplained().items():
        whole = static_torque(MODEL, q, [*force, 0, 0, 0], "wrist_1_link")
        part = effort @ whole / (whole @ whole)
        assert_allclose(effort, part * whole, rtol=0, atol=1e-6)
        if part > 1e-6:
            starts.append(stamp * 1e-9 - 1000 * part - 2)
    assert len(starts) > 50
    assert_allclose(starts, starts[0], rtol=0, atol=1e-3)
    assert launched - 1e-3 <= starts[0] <= min(arm.references()) * 1e-9 + 1e-3  # by the same clock


def test_a_wrong_script_ends_the_node_with_one_line(start, tmp_path):
    """Before anything is published."""
    script = tmp_path / "contacts.yaml"
    script.write_text("- {link: hand, force: [1, 2, 3]}\n")
    arm = start(f"contact_script:={script}")
    printed = arm.process.ended()
    assert arm.process.process.returncode == 1
    assert "entry 1: link: the robot 'mock_arm' has no link 'hand'" in printed
    assert "Traceback" not in printed


def test_dropped_states_are_as_many_as_asked_and_the_reference_is_whole(start):
    """Of 1000 instants half, within a fifth."""
    arm = start("drop_rate:=0.5")
    arm.listener.until(lambda: len(arm.states()) > 10, "no states")
    arm.said.clear()
    arm.hear(1000)
    instants = sorted(arm.references())[:990]
    arrived = arm.states().keys()
    assert 0.4 < sum(stamp in arrived for stamp in instants) / len(instants) < 0.6


@pytest.mark.parametrize("jitter", [0.0, 0.3])
def test_states_are_late_and_the_reference_is_not(start, jitter):
    """When a state comes, references that are younger by the delay have come; jitter makes states overtake others."""
    arm = start("delay:=0.5", f"delay_jitter:={jitter}")
    arm.listener.until(lambda: len(arm.states()) > 10, "no states")
    arm.said.clear()
    arm.listener.until(lambda: len(arm.states()) > 500, "no states")
    newest, lags = 0, []
    for is_reference, message in arm.said:
        newest = max(newest, ns(message))
        if not is_reference:
            lags.append((newest - ns(message)) * 1e-9)
    late = np.median(lags[50:])
    assert 0.4 + jitter / 2 < late < 0.6 + jitter / 2
    backwards = np.diff(list(arm.states())) < 0
    assert np.any(backwards) == (jitter > 0)


def test_a_coarse_and_imperfect_arm(start):
    """Efforts are multiples of the resolution, and friction is in them."""
    rubbing = with_friction(MODEL, [2.0] * 6, [1.0] * 6)
    arm = start(
        "effort_resolution:=0.25",
        "viscous_friction:=[2.0, 2.0, 2.0, 2.0, 2.0, 2.0]",
        "coulomb_friction:=[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]",
    )
    arm.hear(200)
    for state in arm.states().values():
        assert_allclose(np.remainder(state.effort, 0.25), 0)
    assert all(np.abs(effort).max() <= 0.125 + 1e-6 for _, effort in arm.unexplained(rubbing).values())
    assert any(np.abs(effort).max() > 1.0 for _, effort in arm.unexplained().values())


def test_an_arm_with_model_errors_weighs_something_else(start):
    """Efforts are linear in the errors of the inertias: those of one run explain another of the same seed only."""
    runs = []
    for seed in (3, 3, 4):
        arm = start("inertia_error:=0.2", f"seed:={seed}")
        arm.hear(300)
        arm.process.stop()
        references, unexplained = arm.references(), arm.unexplained()
        points = [references[stamp].points[0] for stamp in unexplained]
        motion = [[getattr(p, name) for p in points] for name in ("positions", "velocities", "accelerations")]
        efforts = np.concatenate([effort for _, effort in unexplained.values()])
        runs.append((np.concatenate(regressor(MODEL, *motion)), efforts))
        arm.said.clear()
    errors = np.linalg.lstsq(*runs[0], rcond=1e-9)[0]
    left = [np.linalg.norm(Y @ errors - efforts) / np.linalg.norm(efforts) for Y, efforts in runs]
    assert np.abs(runs[0][1]).max() > 0.1
    assert left[0] < 1e-6
    assert left[1] < 1e-2
    assert left[2] > 0.1


def test_controllers_are_switched_and_take_commands(start):
    """Efforts: held without a step, dropped while inactive, refused, saturated."""
    arm = start()
    command = arm.listener.publisher(Float64MultiArray, "effort_controller/commands")
    arm.hear(100)
    command.publish(Float64MultiArray(data=[1.0] * 6))
    arm.hear(50)
    answer = arm.switch("gripper_controller")
    assert not answer.success
    assert "expected one of demo_controller, effort_controller, trajectory_controller" in answer.message
    assert np.ptp([state.effort for state in arm.states().values()], axis=0).min() > 1e-4  # still the demo

    assert arm.switch(SwitchController.Request.EFFORT).success
    held = arm.last().effort
    stamps, efforts = np.array(list(arm.states())), np.array([state.effort for state in arm.states().values()])
    rates = np.diff(efforts, axis=0) / (1e-9 * np.diff(stamps))[:, None]  # a busy arm leaves states out
    assert np.abs(rates).max() < 250  # N m/s: in 4 ms 1 of some 40 N m that the arm weighs
    arm.hear(300)  # more than a second, after which another refusal is logged
    assert_allclose(arm.last().effort, held)

    command.publish(Float64MultiArray(data=[5.0, -1000.0, 1000.0, 1.0, 0.5, 0.1]))
    taken = [5.0, -150.0, 150.0, 1.0, 0.5, 0.1]
    arm.listener.until(lambda: np.allclose(arm.last().effort, taken), "the command was not taken")
    command.publish(Float64MultiArray(data=[0.0] * 5))
    command.publish(Float64MultiArray(data=[0.0] * 5 + [np.nan]))
    arm.hear(50)
    assert_allclose(arm.last().effort, taken)

    assert arm.switch(SwitchController.Request.DEMO).success
    assert not np.allclose(arm.last().effort, taken)
    printed = arm.process.stop()
    assert "command refused: effort_controller is not active, but demo_controller" in printed
    assert "command refused: expected 6 efforts, got 5" in printed
    assert arm.process.process.returncode == 0


def test_of_waiting_commands_the_newest_acts_at_the_next_tick(listener):
    """One a turn of the executor, they would act late for as long as the machine is busy."""
    arm, executor = MockArmNode(), SingleThreadedExecutor()
    arm.controllers.switch(SwitchController.Request.EFFORT)
    command = listener.publisher(Float64MultiArray, "effort_controller/commands")
    for effort in (1.0, 2.0, 3.0, 4.0):
        command.publish(Float64MultiArray(data=[effort] * 6))
    assert command.wait_for_all_acked(DurationOf(seconds=PATIENCE))
    executor.add_node(arm)
    executor.spin_once(PATIENCE)
    assert_allclose(arm.arm.law.tau, [4.0] * 6)
    executor.shutdown()
    arm.destroy_node()


def test_the_trajectory_controller_tracks_and_holds(start):
    """``effort = effort_d + p (q_d - q) - d qd``: effort_d is 0 at first, and at the end the last one."""
    p, d = np.array([900.0, 1000, 800, 30, 20, 1]), np.array([100.0, 110, 80, 3, 2, 0.1])
    arm = start("controller:=trajectory_controller", f"trajectory_p:={p.tolist()}", f"trajectory_d:={d.tolist()}")
    publisher = arm.listener.publisher(JointTrajectory, "trajectory_controller/joint_trajectory")
    arm.hear(50)

    def feed_forward(goal) -> np.ndarray:
        state = arm.last()
        return np.array(state.effort) - p * (goal - np.array(state.position)) + d * np.array(state.velocity)

    home = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0])
    assert_allclose(feed_forward(home), 0.0, rtol=0, atol=1e-9)

    goal, effort = home + np.array([0.2, -0.1, 0.1, 0.2, -0.2, 0.3]), np.array([1.0, -2.0, 3.0, -1.0, 0.5, 0.1])
    order = [3, 1, 5, 0, 2, 4]
    message = JointTrajectory(joint_names=[MODEL.joint_names[i] for i in order])
    message.header.stamp = arm.last().header.stamp
    positions, efforts = ([values[i] for i in order] for values in (goal, effort))
    for when in (Duration(nanosec=300_000_000), Duration(sec=2)):
        message.points.append(JointTrajectoryPoint(positions=positions, effort=efforts, time_from_start=when))
    publisher.publish(message)
    arm.listener.until(lambda: np.allclose(feed_forward(goal), effort, rtol=0, atol=1e-9), "no feed-forward")
    publisher.publish(JointTrajectory(joint_names=["hand"], points=message.points))
    end = ns(message) + 2_500_000_000
    arm.listener.until(lambda: ns(arm.last()) > end, "the arm is silent")
    assert_allclose(feed_forward(goal), effort, rtol=0, atol=1e-9)
    printed = arm.process.stop()
    assert "trajectory refused: joint_names: expected shoulder_pan_joint" in printed
    assert "Traceback" not in printed


def test_an_operator_leads_the_arm_to_a_wall(start):
    """Motors, hand and wall explain the motion at every stamp, to 1e-6 N m; the wall outlasts a fresh start."""
    home = yaml.safe_load(HOME.split(":=")[1])
    tip = forward_kinematics(MODEL, home)[:3, 3]
    rubbing = with_friction(MODEL, [5.0, 5.0, 5.0, 1.0, 1.0, 1.0])
    arm = start(
        "controller:=effort_controller",
        "viscous_friction:=[5.0, 5.0, 5.0, 1.0, 1.0, 1.0]",
        f"wall_point:={(tip - [0, 0, 0.02]).tolist()}",
        "wall_normal:=[0.0, 0.0, 2.0]",
    )
    arm.listener.listen("mock_arm/contact_wrench", type=WrenchStamped)
    arm.hear(100)
    assert_allclose(arm.last().position, home, rtol=0, atol=1e-9)  # held by the efforts that carry it

    good = {"displacement": Vector3(z=-0.1), "duration": 0.6, "hold": 0.2, "delay": 0.1, "max_force": 30.0}
    for wrong, problem in (
        ({"link": "hand"}, "link: the robot 'mock_arm' has no link 'hand'; it has base_link, "),
        ({"displacement": Vector3(x=np.nan)}, "displacement of the hand on 'tool0': expected 3 finite numbers"),
        ({"duration": 0.0}, "duration of the hand on 'tool0': expected a positive, finite number of seconds, got 0.0"),
        ({"hold": -1.0}, "hold of the hand on 'tool0': expected a number of seconds, not negative, got -1.0"),
        ({"max_force": -1.0}, "max_force of the hand on 'tool0': expected a finite number, not negative"),
        ({"delay": -1.0}, "delay: expected a finite number of seconds, not negative, got -1.0"),
    ):
        answer = arm.listener.call(LeadHand, "mock_arm/lead_hand", **good | wrong)
        assert not answer.success
        assert problem in answer.message
    answer = arm.listener.call(LeadHand, "mock_arm/lead_hand", **good)
    assert (answer.success, answer.message) == (True, "")
    arm.hear(300)

    wrenches = {ns(message): message for message in arm.listener.received["mock_arm/contact_wrench"]}
    assert {message.header.frame_id for message in wrenches.values()} == {"base_link"}
    forces = {stamp: [(v.x, v.y, v.z) for v in (m.wrench.force, m.wrench.torque)] for stamp, m in wrenches.items()}
    compared = [
        (q, effort, forces[stamp]) for stamp, (q, effort) in arm.unexplained(rubbing).items() if stamp in forces
    ]
    assert len(compared) > 200
    for q, effort, wrench in compared:
        assert_allclose(effort, static_torque(MODEL, q, np.ravel(wrench)), rtol=0, atol=1e-6)
    pull, press = (extreme(wrench[0][2] for _, _, wrench in compared) for extreme in (min, max))
    assert -30.0 - 1e-9 <= pull < -5.0
    assert press > 5.0
    assert min(forward_kinematics(MODEL, q)[2, 3] for q, _, _ in compared) > tip[2] - 0.025

    assert arm.apply(force=Vector3(x=1e9), profile="step", duration=1.0).success
    arm.listener.until(lambda: np.allclose(arm.last().position, home, rtol=0, atol=1e-9), "no fresh start")
    arm.said.clear()
    assert arm.listener.call(LeadHand, "mock_arm/lead_hand", **good).success
    arm.hear(250)
    heights = [forward_kinematics(MODEL, q)[2, 3] for q, _ in arm.unexplained().values()]
    assert tip[2] - 0.025 < min(heights) < tip[2] - 0.02


@pytest.mark.parametrize(
    ("parameter", "problem"),
    [
        ("controller:=pid", "controller: expected one of demo_controller, effort_controller, trajectory_controller"),
        ("wall_point:=[0.0, 0.0, 0.1]", "normal of the wall on 'tool0': expected 3 finite numbers, got None"),
        ("trajectory_p:=[1.0]", "trajectory_p: expected 6 finite numbers, not negative"),
        ("armature:=[1.0]", "armature: expected 6 numbers, got 1"),
    ],
)
def test_a_wrong_parameter_ends_the_node_with_one_line(start, parameter, problem):
    """As a wrong script does."""
    arm = start(parameter)
    printed = arm.process.ended()
    assert arm.process.process.returncode == 1
    assert problem in printed
    assert "Traceback" not in printed


def test_the_parameter_file_holds_every_parameter(start):
    """With its default; those that need not be set are commented out."""
    arm = start()
    text = PARAMETERS.read_text(encoding="utf-8")
    written = yaml.safe_load(text)["/**/mock_arm"]["ros__parameters"]
    commented = set(re.findall(r"^    # (\w+): \[", text, re.MULTILINE))
    declared = set(arm.listener.call(ListParameters, "mock_arm/list_parameters").result.names)
    ros = {name for name in declared if name.startswith(("use_sim_time", "start_type", "qos_overrides"))}
    assert written.keys() | commented == declared - ros
    plain = {
        "home",
        "publish_rate",
        "seed",
        "controller",
        "max_step",
        "pace",
        "lockstep_timeout",
        "wall_stiffness",
        "wall_damping",
    }
    assert not {name for name, value in written.items() if value and name not in plain}  # a perfect arm
    assert (written["wall_stiffness"], written["wall_damping"]) == (Wall.stiffness, Wall.damping)
