# SPDX-License-Identifier: Apache-2.0
"""The driver of an arm as the node sees it, in lockstep with the node, in simulated or system time.

The driver owns the simulated time. It publishes the time, the targets and a state, and waits for the node's answer.
What the node does then depends on the states alone, not on the speed of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros2_dyn_interfaces.srv import SetMode
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from driven_arms import HOME, MODEL, Arm, StandingArm
from robots import MOCK_ARM
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP
from ros2_dyn.ros.messages import time_message
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import PATIENCE, Listener, Process, parameter_messages, words

NAMES = list(MODEL.joint_names)
LIMIT = 0.8 * MODEL.effort_limit
"""effort_scale times the limits, N m."""
STEP = 10.0 * LIMIT * MAX_SLEW_STEP
"""Largest step between two commands: slew_rate times the limit times the longest time step, N m."""
URDF = MOCK_ARM.read_text(encoding="utf-8")
START = 10**6 * 10**9
"""Simulated time at the start, ns."""
EVERY_MODE = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""A mode that ends soon must not be replaced by the next one before it is read."""
RESEND_TIME = 2.0
"""Wall time, s, after which a state is published again: it may have been lost, for the node's queue is best effort."""
COMMANDED_NODE: dict[str, Any] = {
    "use_sim_time": True,
    "states.timeout": 0.5,
    "commands.target_timeout": 0.5,
    "commands.ramp_time": 0.05,
}
"""Parameters of a node that a test commands in lockstep."""
LOCKSTEP: dict[str, Any] = {"use_sim_time": True, "states.timeout": 10.0}
"""Parameters of a node that a test only asks in lockstep."""


class Driver:
    """Publishes the states of an arm, and keeps what the node publishes."""

    def __init__(
        self,
        listener: Listener,
        process: Process | None = None,
        *,
        arm: Arm | None = None,
        simulated: bool = False,
        period: float = 0.01,
        answers: str = "dynamics/gravity",
    ) -> None:
        """Create it.

        Args:
            listener: the test's node.
            process: the node that it drives.
            arm: what it measures; a `StandingArm` for None.
            simulated: whether it publishes /clock, too.
            period: of the states, s.
            answers: topic of joint states whose messages answer states, under the same stamp.
        """
        self.listener, self.process = listener, process
        self.arm: Any = StandingArm() if arm is None else arm
        self.time, self.period = START, round(1e9 * period)
        self.elapsed = 0
        """Time that has passed, ns, whatever the clocks show."""
        self.stated_at = 0
        """Value of `elapsed` at the newest state with nothing wrong."""
        self.answers = listener.listen(answers)
        self.commands: list[list[float]] = []
        self.modes: list[str] = []
        self.desired: Callable[[], JointTrajectoryPoint] | None = None
        """Returns what is desired along with each state."""
        self.wrench: WrenchStamped | None = None
        """What is desired along with each state."""
        self.pressed = True
        """Whether the enabling button is held."""
        self._gave_desired = False
        self.on_command: list[Callable[[list[float]], None]] = [lambda effort: self.arm.command(effort)]
        node = listener.node
        self._states: Any = None
        self.begin_states()
        self._clock = node.create_publisher(Clock, "/clock", 10) if simulated else None
        self._desired = node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self._wrenches = node.create_publisher(WrenchStamped, "dynamics/desired_wrench", 10)
        self._enable = node.create_publisher(Bool, "dynamics/enable", 1)
        self._descriptions = node.create_publisher(String, "robot_description", LATCHED)
        self._controller: Any = None
        self.switch_controller(True)
        node.create_subscription(String, "dynamics/mode", lambda m: self.modes.append(m.data), EVERY_MODE)

    @classmethod
    def of(cls, listener: Listener, arm: Arm | None = None, period: float = 0.01, **parameters: Any) -> Driver:
        """Start a node that is to be commanded, and its driver; wait until they have found each other."""
        parameters = COMMANDED_NODE | parameters
        process = Process("ros2_dyn.ros.dynamics_node", *words(**parameters))
        driver = cls(listener, process, arm=arm, simulated=parameters["use_sim_time"], period=period)
        driver.describe()
        driver.begin()
        driver.play(10)
        return driver

    @classmethod
    def with_robot(
        cls,
        listener: Listener,
        arm: Arm | None = None,
        *,
        period: float = 0.01,
        answers: str = "dynamics/gravity",
        **parameters: Any,
    ) -> Driver:
        """Start a node that has its robot as a parameter, and its driver, which publishes nothing yet."""
        process = Process("ros2_dyn.ros.dynamics_node", *words(urdf_file=str(MOCK_ARM), **parameters))
        simulated = parameters.get("use_sim_time", False)
        return cls(listener, process, arm=arm, simulated=simulated, period=period, answers=answers)

    def begin(self) -> None:
        """Publish states until the node answers and all connections are there."""

        def connected() -> bool:
            targets = self._desired.get_subscription_count() and self._wrenches.get_subscription_count()
            return bool(targets and self.modes and self._step_once(0.05))

        self.listener.until(connected, "the node does not answer")

    def close(self) -> str:
        """Stop the node; return what it printed. It must end in order."""
        assert self.process is not None
        printed = self.process.stop()
        assert "Traceback" not in printed, printed
        assert self.process.process.returncode == 0, printed
        return printed

    @property
    def mode(self) -> str:
        """The mode that the node has published last."""
        return self.modes[-1] if self.modes else ""

    # ---- what is published

    def begin_states(self, qos: Any = 10) -> None:
        """Publish states from now on, as a driver that begins; a quality of service that differs is given."""
        self._states = self.listener.node.create_publisher(JointState, "joint_states", qos)

    def end_states(self) -> None:
        """Publish no states until they begin again, as a driver that ends."""
        self.listener.node.destroy_publisher(self._states)

    def switch_controller(self, on: bool) -> None:
        """Let the controller come, or go."""
        node = self.listener.node
        if on:
            self._controller = node.create_subscription(Float64MultiArray, "dynamics/command", self._on_command, 1000)
        else:
            node.destroy_subscription(self._controller)

    def release_button(self) -> None:
        """Publish that the enabling button is released."""
        self.pressed = False
        self._enable.publish(Bool(data=False))

    def describe(self, xml: str = URDF) -> None:
        """Publish a robot description."""
        self._descriptions.publish(String(data=xml))

    def state(self, **changes: Any) -> JointState:
        """Return the state at this instant, with some fields changed."""
        q, qd, effort = self.arm.measure(1e-9 * self.time)
        message = JointState(name=NAMES, position=q, velocity=qd, effort=effort)
        message.header.stamp = time_message(self.time)
        for field, value in changes.items():
            setattr(message, field, value)
        return message

    def send(self, publisher: Any = None, **changes: Any) -> JointState:
        """Publish the time, the targets and the state at this instant, with some of its fields changed."""
        self.tell_time()
        stamp = time_message(self.time)
        if not changes and publisher is None:
            self.stated_at = self.elapsed
        if self.desired is not None:
            message = JointTrajectory(joint_names=NAMES, points=[self.desired()])
            message.header.stamp = stamp
            self._desired.publish(message)
        if self.wrench is not None:
            self.wrench.header.stamp = stamp
            self._wrenches.publish(self.wrench)
        state = self.state(**changes)
        (publisher or self._states).publish(state)
        return state

    def tell_time(self) -> None:
        """Publish the time at this instant, and that the enabling button is held, where these are published."""
        if self.pressed:
            self._enable.publish(Bool(data=True))
        if self._clock is not None:
            self._clock.publish(Clock(clock=time_message(self.time)))

    # ---- lockstep

    def pass_time(self) -> None:
        """Let a period pass; nothing is published."""
        self.time += self.period
        self.elapsed += self.period

    def step(self, **changes: Any) -> JointState:
        """Let a period pass, publish a state, and wait until it is answered, with a command where the node commands."""
        if self._gave_desired and self.desired is None:
            self.pass_time()
            self.send(**changes)  # the node waits with it for its desired state, until the next state comes
        self._gave_desired = self.desired is not None
        self.pass_time()
        before, commands = len(self.commands), self.mode not in ("", "monitor")
        state = self.send(**changes)
        deadline = time.monotonic() + PATIENCE
        while not self._wait(state, RESEND_TIME, before if commands else None):
            assert time.monotonic() < deadline, "the state is not answered"
            self._states.publish(state)
        return state

    def _wait(self, state: JointState, timeout: float, commands: int | None = None) -> bool:
        """Return whether a state is answered within a wall time, s."""

        def done() -> bool:
            if not self.answered(state.header.stamp):
                return False
            return commands is None or len(self.commands) > commands or self.mode == "monitor"

        deadline = time.monotonic() + timeout
        while not done():
            if time.monotonic() >= deadline:
                return False
            self.listener.spin_once()
        return True

    def newest(self, state: JointState, *topics: str) -> list[Any]:
        """Return the messages on some topics of the listener's under the stamp of a state; wait for them."""
        received = [self.listener.received[topic] for topic in topics]

        def came() -> bool:
            return all(messages and messages[-1].header.stamp == state.header.stamp for messages in received)

        self.listener.until(came, f"nothing on one of {topics}")
        return [messages[-1] for messages in received]

    def answered(self, stamp: Time) -> bool:
        """Return whether a state of a stamp has been answered."""
        return any(message.header.stamp == stamp for message in self.answers[-8:])

    def _step_once(self, timeout: float, **changes: Any) -> bool:
        """Publish the next state; return whether it was answered within a wall time, s."""
        self.pass_time()
        return self._wait(self.send(**changes), timeout)

    def play(self, states: int, **changes: Any) -> list[np.ndarray]:
        """Step through a number of states; return the commands that came."""
        before = len(self.commands)
        for _ in range(states):
            self.step(**changes)
        return [np.array(command) for command in self.commands[before:]]

    def until(self, condition: Callable[[], Any], problem: str) -> None:
        """Step until a condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, problem
            self.step()

    def recovers(self, seconds: float = 1.0, timeout: float = 0.3) -> bool:
        """Publish good states for some simulated time, s; return whether one was answered within a wall time, s."""
        return any(self._step_once(timeout) for _ in range(round(1e9 * seconds) // self.period))

    def tick(self, periods: int = 1) -> None:
        """Let periods pass without states. The node has read each before the next begins."""
        for _ in range(periods):
            self.pass_time()
            self.tell_time()
            self.barrier()

    def offer(self, states: int = 1, **changes: Any) -> None:
        """Publish some states that may be rejected. The node has read each before the next comes."""
        for _ in range(states):
            self.pass_time()
            self.send(**changes)
            self.barrier()

    def barrier(self) -> None:
        """Wait until the node has been through its lock, twice: what it decided before has been published."""
        for _ in range(2):
            self.listener.call(GetParameters, "dynamics/get_parameters", names=["use_sim_time"])

    def catch_up(self) -> None:
        """Take all commands that the node has published, however many wait."""
        self.barrier()
        taken = -1
        while taken < len(self.commands):
            taken = len(self.commands)
            for _ in range(50):  # each brings one message of one topic
                self.listener.spin_once()

    # ---- requests, at one instant of the simulated time

    def set_mode(self, mode: str) -> SetMode.Response:
        """Ask for a mode; return the response. No time passes."""
        count, before = len(self.modes), self.mode
        response = self.listener.call(SetMode, "dynamics/set_mode", mode=mode)
        if response.success and before != mode:
            deadline = time.monotonic() + PATIENCE
            while mode not in self.modes[count:]:
                assert time.monotonic() < deadline, f"not {mode} but {self.modes[count:]}: {self.process.printed}"
                self.listener.spin_once()
        return response

    def enter(self, mode: str, states: int = 30) -> list[np.ndarray]:
        """Enter a mode, and step until its ramp is over; return the commands."""
        response = self.set_mode(mode)
        assert response.success, response.message
        commands = self.play(states)
        assert self.mode == mode
        return commands

    def set(self, **parameters: Any) -> Any:
        """Set parameters of the node; return the result. No time passes."""
        name = "dynamics/set_parameters_atomically"
        messages = parameter_messages(**parameters)
        return self.listener.call(SetParametersAtomically, name, parameters=messages).result

    # ---- what comes

    def _on_command(self, message: Float64MultiArray) -> None:
        self.commands.append(list(message.data))
        for take in self.on_command:
            take(self.commands[-1])


D = TypeVar("D", bound=Driver)


@contextmanager
def driving(make: Callable[..., D], *arguments: Any, **given: Any) -> Iterator[D]:
    """Return the driver that a function makes with a listener of its own and its arguments; close both in the end."""
    listener = Listener()
    driver = make(listener, *arguments, **given)
    try:
        yield driver
        driver.close()
    finally:
        driver.process.kill()
        listener.close()


def point(positions: Any = (), velocities: Any = (), accelerations: Any = ()) -> JointTrajectoryPoint:
    """Return a desired state."""
    given = {"positions": positions, "velocities": velocities, "accelerations": accelerations}
    return JointTrajectoryPoint(**{name: list(values) for name, values in given.items()})


def force(frame: str = "", **components: float) -> WrenchStamped:
    """Return a desired wrench."""
    message = WrenchStamped()
    message.header.frame_id = frame
    for name, value in components.items():
        setattr(message.wrench.force, name, value)
    return message


def resting_at_home() -> JointTrajectoryPoint:
    """Return a desired state that a standing arm is at."""
    return point(HOME, np.zeros(6), np.zeros(6))
