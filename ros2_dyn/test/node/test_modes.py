"""The modes of the node, and what leaves on ~/command: a process of its own, states as a driver sends them."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from ros2_dyn.control.effort_guard import LONGEST_STEP, EffortGuard, GuardPolicy, Limits
from ros2_dyn.ros.last_will import Duty, LastWill
from ros2_dyn_interfaces.srv import SetMode
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.dynamics import gravity, rnea, static_torque
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import PATIENCE, Listener, Process

MODEL = mock_arm()
NAMES = list(MODEL.joint_names)
HOME = np.array([0.3, -1.2, 1.4, -1.8, -1.57, 0.2])
PERIOD = 0.01
"""Of the states, s."""
TIMEOUT = 1.0
"""State timeout of the tests, s: the machine may be busy, and Fast DDS holds up who outlives a killed process."""
LIMIT = 0.8 * MODEL.effort_limit
STEP = 10.0 * LIMIT * LONGEST_STEP
URDF = MOCK_ARM.read_text(encoding="utf-8")


class Driver:
    """Plays the states of an arm that moves a little about a posture, and keeps the commands."""

    def __init__(self, listener: Listener, *parameters: str) -> None:
        timeouts = [f"{what}_timeout:={TIMEOUT}" for what in ("state", "target", "desired")]
        words = [word for parameter in (*timeouts, "ramp_time:=0.05", *parameters) for word in ("-p", parameter)]
        self.listener, self.spin = listener, listener.spin
        self.process = Process("ros2_dyn.ros.dynamics_node", *words)
        self.listener.listen("dynamics/command", type=Float64MultiArray)
        self.commands = self.listener.received["dynamics/command"]
        self.modes: list[str] = []
        listener.node.create_subscription(String, "dynamics/mode", lambda m: self.modes.append(m.data), LATCHED)
        self.states = listener.publisher(JointState, "joint_states")
        self.descriptions = listener.publisher(String, "robot_description", LATCHED)
        self.descriptions.publish(String(data=URDF))
        self.effort: np.ndarray | None = None
        self.q, self.speed = HOME, 0.01
        self.desired: Callable[[], JointTrajectoryPoint] | None = None
        self.wrench: WrenchStamped | None = None
        self.desired_out = listener.publisher(JointTrajectory, "dynamics/desired")
        self.parameters = listener.node.create_client(SetParametersAtomically, "dynamics/set_parameters_atomically")
        self.set_mode_client = listener.node.create_client(SetMode, "dynamics/set_mode")
        self.wrench_out = listener.publisher(WrenchStamped, "dynamics/desired_wrench")
        listener.until(lambda: self.modes == ["monitor"], "no mode")

    def step(self, offset: float = 0.0, **changes) -> None:
        """Publish a state, with targets if there are any, and let messages come and go."""
        now = self.listener.node.get_clock().now().nanoseconds + round(1e9 * offset)
        if self.desired is not None:
            message = JointTrajectory(joint_names=NAMES, points=[self.desired()])
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
            self.desired_out.publish(message)
        if self.wrench is not None:
            self.wrench_out.publish(self.wrench)
        qd = self.speed * np.cos(1e-9 * (now % 10**12) + np.arange(6))
        message = JointState(name=NAMES, position=self.q, velocity=qd)
        message.effort = gravity(MODEL, self.q) if self.effort is None else self.effort
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
        for field, value in changes.items():
            setattr(message, field, value)
        self.states.publish(message)
        self.spin(PERIOD)

    def until(self, condition: Callable[[], bool], problem: str, offset: float = 0.0) -> None:
        """States until something is the case."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, problem
            self.step(offset)

    def play(self, seconds: float, **changes) -> list[np.ndarray]:
        """States for a while; the commands that came."""
        before = len(self.commands)
        for _ in range(round(seconds / PERIOD)):
            self.step(**changes)
        return [np.array(command.data) for command in self.commands[before:]]

    def set_mode(
        self, mode: str, offset: float = 0.0, meanwhile: Callable[[], None] = lambda: None
    ) -> SetMode.Response:
        """Call the service, while states go on, and do something before it answers."""
        self.until(self.set_mode_client.service_is_ready, "no service", offset)
        future = self.set_mode_client.call_async(SetMode.Request(mode=mode))
        meanwhile()
        self.until(future.done, "no answer", offset)
        return future.result()

    def enter(self, mode: str) -> list[np.ndarray]:
        """A mode, until its ramp is over; the commands meanwhile."""
        before = len(self.commands)
        answer = self.set_mode(mode)
        assert answer.success, answer.message
        self.play(0.3)
        assert self.modes[-1] == mode
        return [np.array(command.data) for command in self.commands[before:]]

    def set(self, **parameters):
        """Change parameters of the node."""
        changes = [Parameter(name, value=value).to_parameter_msg() for name, value in parameters.items()]
        self.until(self.parameters.service_is_ready, "no service")
        future = self.parameters.call_async(SetParametersAtomically.Request(parameters=changes))
        self.until(future.done, "no answer")
        return future.result().result

    def told(self) -> dict[str, str]:
        """What the next diagnostics say of the mode: its values, and the message."""
        found: list[DiagnosticArray] = []
        subscription = self.listener.node.create_subscription(DiagnosticArray, "/diagnostics", found.append, 10)
        self.until(lambda: bool(found), "no diagnostics")
        self.listener.node.destroy_subscription(subscription)
        (status,) = [status for status in found[-1].status if status.name == "dynamics: mode"]
        return {"message": status.message} | {pair.key: pair.value for pair in status.values}


@pytest.fixture
def begin(listener) -> Iterator[Callable[..., Driver]]:
    """Starts a node with parameters, and its driver."""
    drivers: list[Driver] = []

    def begin(*parameters: str) -> Driver:
        drivers.append(Driver(listener, *parameters))
        driver = drivers[-1]
        listener.listen("dynamics/gravity")
        heard = listener.received["dynamics/gravity"]
        driver.until(lambda: len(heard) > 20, "the node does not answer")
        return driver

    yield begin
    for driver in drivers:
        if driver.process.alive:
            printed = driver.process.stop()
            assert "Traceback" not in printed, printed


def desired_at_home() -> JointTrajectoryPoint:
    """A target that the arm is near."""
    return JointTrajectoryPoint(positions=HOME, velocities=[0.0] * 6, accelerations=[1.0] * 6)


def force(frame: str = "", **components: float) -> WrenchStamped:
    """A desired wrench."""
    message = WrenchStamped()
    message.header.frame_id = frame
    for name, value in components.items():
        setattr(message.wrench.force, name, value)
    return message


def test_every_mode_commands_what_it_is_for(begin):
    """Gravity, with what each adds; without a step larger than the slew limit; and monitor ends it."""
    driver = begin("gravity_damping:=0.0", "guiding_damping:=0.0", "force_damping:=0.0", "force_rate:=1000.0")
    driver.speed = 0.0
    driver.desired, driver.wrench = desired_at_home, force("wrist_3_link", x=3.0, z=-10.0)
    g = gravity(MODEL, HOME)
    push = static_torque(MODEL, HOME, [3.0, 0, -10.0, 0, 0, 0], frame="wrist_3_link")
    expected = {
        "gravity": g,
        "hand_guiding": g,
        "feed_forward": rnea(MODEL, HOME, np.zeros(6), np.ones(6)),
        "force": g + push,
    }
    everything = []
    assert driver.play(0.3) == []
    for mode, effort in expected.items():
        everything += driver.enter(mode)
        commands = driver.play(0.2)
        assert len(commands) >= 15
        assert_allclose(commands[-1], effort, rtol=0, atol=1e-9)
        everything += commands
    assert np.linalg.norm(push) > 1
    assert driver.set_mode("monitor").success
    everything += driver.play(0.5)
    assert np.max(np.abs(np.diff(everything, axis=0)) / STEP) <= 1
    assert driver.play(0.3) == []
    assert driver.modes == ["monitor", *expected, "monitor"]
    assert_allclose(everything[-1], g, rtol=0, atol=0.1)  # what the controller goes on with


def test_what_the_modes_refuse(begin):
    """With the reason, and nothing is commanded."""
    driver = begin("tip_link:=wrist_3_link")

    def refused(mode: str) -> str:
        answer = driver.set_mode(mode)
        assert not answer.success
        assert driver.modes[-1] == "monitor"
        assert driver.play(0.1) == []
        return answer.message

    assert "expected one of monitor, gravity, hand_guiding, feed_forward, force; got 'dance'" in refused("dance")
    assert "got 'stopped'" in refused("stopped")
    assert "it follows ~/desired, and none is usable" in refused("feed_forward")
    assert "it follows ~/desired_wrench, and none is usable" in refused("force")
    driver.desired = lambda: JointTrajectoryPoint(positions=HOME + 1, accelerations=[0.0] * 6)
    driver.play(0.1)
    assert "the desired positions are 1 rad or m away, tracking_tolerance is 0.3" in refused("feed_forward")
    driver.wrench = force("nowhere", x=1.0)
    driver.play(0.1)
    assert "none is usable" in refused("force")
    driver.wrench, driver.q = force(x=1.0), np.array([0.3, -1.2, 0.0, -1.8, 0.0, 0.2])
    driver.play(0.2)
    assert "near a singularity" in refused("force")
    driver.q = HOME
    driver.effort = np.full(6, 100.0)
    driver.play(0.1)
    assert "joint 'wrist_1_joint' exerts 100 N m or N, effort_scale allows 22.4" in refused("gravity")
    driver.effort = None
    assert driver.set(command_joints=[*NAMES[:5], "nose"]).successful
    assert "command_joints names 'nose', which is none of the robot's joints" in refused("gravity")
    assert driver.set(command_joints=NAMES).successful
    assert driver.set(state_timeout=0.02).successful
    assert "set state_timeout to 0.0" in refused("gravity")
    assert driver.set(state_timeout=TIMEOUT).successful
    other = driver.listener.node.create_publisher(Float64MultiArray, "dynamics/command", 1)
    driver.play(0.3)
    assert "'listener' publishes on /dynamics/command, too" in refused("gravity")
    driver.listener.node.destroy_publisher(other)
    driver.play(0.3)
    assert driver.set_mode("gravity").success


@pytest.mark.parametrize(("offset", "problem"), [(-3.0, "s behind this node's clock"), (3.0, "s ahead of this node's")])
def test_states_of_another_clock_are_refused(begin, offset, problem):
    """Nobody can tell how old they are."""
    driver = begin()
    driver.play(0.2, offset=offset)
    answer = driver.set_mode("gravity", offset)
    assert not answer.success
    assert problem in answer.message


def test_no_mode_begins_while_simulated_time_stands_still(begin):
    """By its clock the last state is young for ever."""
    driver = begin("use_sim_time:=true")
    clock = driver.listener.publisher(Clock, "/clock")

    for _ in range(50):
        now = Clock(clock=driver.listener.node.get_clock().now().to_msg())
        clock.publish(now)
        driver.step(header=Header(stamp=now.clock))
    driver.spin(2 * TIMEOUT)
    answer = driver.listener.call(SetMode, "dynamics/set_mode", mode="gravity")
    assert not answer.success
    assert "behind this node's clock, state_timeout allows 0.8 s" in answer.message


def test_robots_without_limits_are_refused(begin):
    """The joint is named."""
    driver = begin()
    driver.descriptions.publish(String(data=URDF.replace('effort="150"', 'effort="0"')))
    driver.play(1.0)
    answer = driver.set_mode("gravity")
    assert "joint 'shoulder_pan_joint' has no effort limit in the robot description (it says 0)" in answer.message


def test_a_collision_stops_and_is_to_be_reset(begin):
    """Feed-forward goes over to gravity compensation at once; no mode is entered until ~/reset_collision."""
    threshold = f"collision_threshold:={[10.0] * 6}"
    driver = begin(f"joints:=[{','.join(NAMES)}]", threshold, "observer_bandwidth:=50.0")
    driver.desired = desired_at_home
    driver.enter("feed_forward")
    driver.effort = gravity(MODEL, HOME) + np.array([40.0, 0, 0, 0, 0, 0])
    driver.until(lambda: driver.modes[-1] == "stopped", "no stop")
    driver.effort = None
    assert driver.told()["message"] == "stopped, since collision"
    commands = driver.play(0.5)
    assert_allclose(commands[-1], gravity(MODEL, HOME), rtol=0, atol=0.5)
    answer = driver.set_mode("gravity")
    assert "a collision is latched: ~/reset_collision ends it" in answer.message
    assert driver.listener.call(Trigger, "dynamics/reset_collision").success
    driver.play(0.1)
    assert driver.set_mode("gravity").success


def test_targets_that_stop_stop_the_mode(begin):
    """And it does not begin again by itself."""
    driver = begin("target_timeout:=0.2")
    for mode in ("feed_forward", "force"):
        driver.desired, driver.wrench = desired_at_home, force(z=5.0)
        driver.play(0.1)
        driver.enter(mode)
        driver.desired, driver.wrench = None, None
        driver.play(0.5)
        assert driver.modes[-1] == "stopped"
        driver.desired, driver.wrench = desired_at_home, force(z=5.0)
        driver.play(0.3)
        assert driver.modes[-1] == "stopped"
        assert driver.told()["message"].startswith("stopped, since target stale")


def test_states_that_stop_end_commands(begin):
    """Within the timeout, at the effort that carries the arm; and they do not begin again by themselves."""
    driver = begin("force_rate:=1000.0")
    driver.wrench = force(z=20.0)
    driver.play(0.1)
    driver.enter("force")
    count = len(driver.commands)
    driver.spin(1.2 * TIMEOUT)
    eased = driver.commands[count:]
    assert 1 <= len(eased) <= 50
    assert_allclose(eased[-1].data, gravity(MODEL, HOME), rtol=0, atol=1e-6)
    assert driver.modes[-1] == "monitor"
    assert driver.play(0.3) == []
    told = driver.told()
    assert told["message"].startswith("monitor, since state stale")
    assert told["guard: state stale"] == "1"
    assert int(told["guard: state late"]) >= 1


def test_parameters_of_the_guard_stay_while_it_guards(begin):
    """Refused until the mode is left; gains may change."""
    driver = begin()
    driver.enter("gravity")
    for change in ({"effort_scale": 0.9}, {"state_timeout": 2.0}, {"command_joints": NAMES[::-1]}):
        answer = driver.set(**change)
        assert not answer.successful
        assert "cannot be changed while gravity commands: enter monitor first" in answer.reason
        driver.play(0.05)
    assert driver.set(gravity_damping=2.0).successful
    driver.play(0.2)
    assert driver.modes[-1] == "gravity"
    assert driver.set_mode("monitor").success
    driver.play(0.3)
    assert driver.set(effort_scale=0.9).successful


def test_a_guard_that_changes_while_a_mode_is_prepared(begin):
    """The last will was told of another; it is told anew, and the one before says nothing."""
    driver = begin("gravity_damping:=0.0")
    assert driver.set(effort_scale=0.75).successful
    assert driver.set_mode("monitor").success  # node and test have found each other now

    def narrow() -> None:
        driver.play(0.05)  # the request for the mode is to come first
        assert driver.set(effort_scale=0.7).successful

    answer = driver.set_mode("gravity", meanwhile=narrow)
    assert not answer.success
    assert "the robot or parameters of the guard changed meanwhile: ask again" in answer.message
    assert driver.play(0.3) == []
    commands = driver.enter("gravity")
    assert_allclose(commands, np.broadcast_to(gravity(MODEL, HOME), (len(commands), 6)), rtol=0, atol=1e-6)


def test_the_order_of_the_controller(begin):
    """Is that of command_joints, which may be some of the joints."""
    order = [NAMES[i] for i in (5, 1, 2)]
    driver = begin(f"command_joints:=[{','.join(order)}]", "gravity_damping:=0.0")
    driver.enter("gravity")
    assert_allclose(driver.play(0.2)[-1], gravity(MODEL, HOME)[[5, 1, 2]], rtol=0, atol=1e-9)


def test_a_robot_that_carries_itself(begin):
    """Is commanded without gravity."""
    driver = begin(
        "command_effort:=gravity_compensated", "measured_effort:=gravity_compensated", "gravity_damping:=0.0"
    )
    driver.effort = np.zeros(6)
    driver.play(0.1)
    driver.enter("gravity")
    assert_allclose(driver.play(0.2)[-1], np.zeros(6), rtol=0, atol=1e-9)


def test_a_new_description_ends_a_mode(begin):
    """A robot of the same joints stops under the new model; of other joints there is silence."""
    driver = begin("gravity_damping:=0.0")
    driver.enter("gravity")
    driver.descriptions.publish(String(data=URDF.replace('<mass value="8.393"/>', '<mass value="9.393"/>')))
    driver.until(lambda: driver.modes[-1] == "stopped", "no stop")
    heavier = driver.play(0.5)[-1]
    assert abs(heavier[1] - gravity(MODEL, HOME)[1]) > 0.5
    driver.descriptions.publish(String(data=URDF.replace("wrist_3_joint", "last_joint")))
    driver.until(lambda: driver.modes[-1] == "monitor", "no silence")
    assert driver.told()["message"] == "monitor, since robot changed"


@pytest.mark.parametrize(("behaviour", "left"), [("gravity", gravity(MODEL, HOME)), ("zero", np.zeros(6))])
def test_the_last_will_of_a_node_that_is_killed(begin, behaviour, left):
    """Another process passes to the safe effort, without a step, while the last state is young enough."""
    driver = begin(f"stop_behaviour:={behaviour}", "force_rate:=1000.0")
    driver.wrench = force(z=20.0)
    driver.play(0.1)
    commands = driver.enter("force")
    driver.until(lambda: driver.listener.knows_last_will("dynamics/command"), "no last will")
    commands += driver.play(1.0)
    driver.process.kill()
    count = len(driver.commands)
    commands += driver.play(1.2 * TIMEOUT)
    assert len(driver.commands) - count > 5
    assert np.max(np.abs(np.diff(commands, axis=0)) / STEP) <= 1
    assert_allclose(commands[-1], left, rtol=0, atol=1e-6)
    assert driver.play(0.5) == []


def test_a_last_will_that_is_released_says_nothing(listener):
    """Whatever is noted; one that is needed goes from the newest command to the effort that carries the arm."""
    listener.listen("command", type=Float64MultiArray)
    commands = listener.received["command"]
    duty = Duty("somebody", "/", "/command", [0], [100.0], TIMEOUT, "gravity")
    for end in (LastWill.release, LastWill.hand_over):
        assert commands == []
        will = LastWill()
        assert will.entrust(duty, 1) == ""
        guard = EffortGuard(Limits(("joint",), np.ones(1), np.array(duty.slew), np.ones(1)), GuardPolicy())
        guard.enter("gravity", [0.5], 0.0, time.monotonic())
        will.note(guard, np.zeros(1))
        end(will)
        listener.spin(1.2 * TIMEOUT)
    assert commands[0].data[0] == 0.5
    assert commands[-1].data[0] == 0.0
    assert not will.alive


def test_a_last_will_waits_for_all_who_listen(listener):
    """It is ready when it has found as many as the node."""
    listener.listen("command", type=Float64MultiArray)
    late = threading.Timer(1.0, listener.listen, ["command"], {"type": Float64MultiArray})
    late.start()
    will = LastWill()
    assert will.entrust(Duty("somebody", "/", "/command", [0], [100.0], TIMEOUT, "gravity"), 2) == ""
    assert late.finished.is_set()
    will.release()


def test_a_node_that_ends_in_order_leaves_the_same(begin):
    """As Ctrl-C ends it."""
    driver = begin("force_rate:=1000.0")
    driver.wrench = force(z=20.0)
    driver.play(0.1)
    driver.enter("force")
    assert "Traceback" not in driver.process.stop()
    driver.spin(1.2 * TIMEOUT)
    assert_allclose(driver.commands[-1].data, gravity(MODEL, HOME), rtol=0, atol=1e-6)


def test_without_a_last_will_the_mode_stops(begin):
    """Somebody killed that process."""
    driver = begin()
    driver.enter("gravity")
    tasks = Path(f"/proc/{driver.process.process.pid}/task").iterdir()
    (child,) = [child for task in tasks for child in (task / "children").read_text().split()]
    os.kill(int(child), signal.SIGKILL)
    driver.until(lambda: driver.modes[-1] == "stopped", "no stop")
    assert driver.told()["message"].startswith("stopped, since last will gone")
    assert driver.set_mode("gravity").success
