# SPDX-License-Identifier: Apache-2.0
"""Faults that processes show, while the node commands: it goes on living, and no command breaks the four rules.

Afterwards the node is right again within one second of good states, by their stamps. Each kind of wrong message,
and a hundred of each kind in each mode, are played to the runtime in virtual time, in test/unit/runtime.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from ros2_dyn_interfaces.srv import SetMode

from driven_arms import HOME, MODEL, ObedientArm
from driver import COMMANDED_NODE, LIMIT, STEP, Driver, driving, force, resting_at_home
from ros2_dyn.control.modes import MODES
from ros2_dyn.dynamics import gravity, rnea

EFFORTS = tuple(f"dynamics/{name}" for name in ("inverse_dynamics", "gravity", "coriolis", "friction"))
Fault = Callable[[Driver], None]


class CommandRules:
    """Judges each command that a driver gets: finite, limited, slewed, on a state that is not stale.

    On a stale state a command may only go on towards the effort that carries the arm.
    """

    def __init__(self, driver: Driver, state_timeout: float) -> None:
        """Begin to judge.

        Args:
            driver: whose commands are judged; its `elapsed` is the time.
            state_timeout: maximum age of a state that a command may be based on, s.
        """
        self.violations: list[str] = []
        self._driver, self._timeout = driver, 1e9 * state_timeout
        self._held: np.ndarray | None = None
        driver.on_command.append(self._judge)

    def _judge(self, command: list[float]) -> None:
        effort, age = np.array(command), self._driver.elapsed - self._driver.stated_at
        if not np.all(np.isfinite(effort)):
            self.violations.append(f"not finite: {effort}")
        elif np.any(np.abs(effort) > LIMIT * (1 + 1e-12)):
            self.violations.append(f"above the limit: {effort}")
        if age > self._timeout and not self._descends(effort):
            self.violations.append(f"on a state that is {1e-9 * age:.3f} s old: {effort}")
        if self._held is not None and np.any(np.abs(effort - self._held) > STEP * (1 + 1e-9)):
            self.violations.append(f"a step: {effort} after {self._held}")
        self._held = effort

    def _descends(self, effort: np.ndarray) -> bool:
        """Return whether a command is no farther from the effort that carries the arm than the one before."""
        safe = gravity(MODEL, np.array(self._driver.arm.q))
        before = np.inf if self._held is None else np.abs(self._held - safe)
        return bool(np.all(np.abs(effort - safe) <= before + 1e-6))


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """One node, which goes through all faults."""
    standing = {
        "commands.model_tolerance": 10.0,
        "commands.ramp_time": 0.0,
    }  # this arm does not move, whatever it exerts
    with driving(Driver.of, ObedientArm(), **{"commands.max_force": 10000.0}, **standing) as driver:
        driver.listener.listen(*EFFORTS)
        driver.until(lambda: all(driver.listener.received[name] for name in EFFORTS), "no efforts")
        yield driver


@pytest.fixture(scope="module")
def rules(driver) -> CommandRules:
    """The judge of all commands."""
    return CommandRules(driver, COMMANDED_NODE["states.timeout"])


def burst(driver: Driver) -> None:
    """Publish a thousand states at once."""
    for _ in range(1000):
        driver.time += driver.period // 100
        driver.elapsed += driver.period // 100
        driver.send()
    driver.catch_up()


def restarted_driver(driver: Driver) -> None:
    """Let the driver end, and begin anew elsewhere when its states are too old."""
    driver.end_states()
    driver.tick(60)
    driver.arm.q = HOME + 0.1
    driver.begin_states()


def toggled_modes(driver: Driver) -> None:
    """Ask for two modes in turn, faster than they answer."""
    answers = []
    for i in range(20):
        mode = ("hand_guiding", "monitor", "gravity")[i % 3]
        answers.append(driver.listener.call_async(SetMode, "dynamics/set_mode", mode=mode))
        driver.offer(2)
    driver.listener.until(lambda: all(answer.done() for answer in answers), "no answers")


FAULTS: dict[str, Fault] = {
    "the driver restarts": restarted_driver,
    "a burst of states": burst,
    "modes toggled": toggled_modes,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_leaves_commands_safe_and_the_node_right(driver, rules, fault):
    """Each kind in one of the modes; the modes take turns."""
    mode = list(MODES)[list(FAULTS).index(fault) % len(MODES)]
    driver.desired, driver.wrench = resting_at_home, force(x=0.3, y=0.5, z=-0.3)
    driver.play(5)
    driver.until(lambda: driver.set_mode(mode).success, f"mode {mode} is not entered")
    assert len(driver.play(30)) == 30
    try:
        FAULTS[fault](driver)
    finally:
        driver.arm.q = HOME
        driver.desired = driver.wrench = None
    assert driver.recovers(), "not right within one second of good states"
    driver.set_mode("monitor")
    driver.play(60)
    check_efforts(driver)
    assert rules.violations == []
    assert driver.process.alive


def check_efforts(driver: Driver) -> None:
    """Check the efforts of the next state, and that all that came before are finite."""
    state = driver.step()
    effort, weight, *_ = driver.newest(state, *EFFORTS)
    q, qd = np.array(state.position), np.array(state.velocity)
    assert_allclose(weight.effort, gravity(MODEL, q), rtol=0, atol=1e-9)
    assert_allclose(effort.effort, rnea(MODEL, q, qd, np.zeros(6)), rtol=0, atol=1e-9)
    received = driver.listener.received
    assert all(np.all(np.isfinite(message.effort)) for name in EFFORTS for message in received[name])
