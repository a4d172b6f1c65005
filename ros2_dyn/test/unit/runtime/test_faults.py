# SPDX-License-Identifier: Apache-2.0
"""The fault matrix of docs/node.md: nothing that is not finite comes out, and outputs are right soon after each fault.

Each fault is played a hundred times in virtual time.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest

from robots import joint, link, robot
from ros2_dyn.dynamics import coriolis, friction, gravity, rnea
from ros2_dyn.errors import Ros2DynError
from ros2_dyn.runtime import ArmRuntime, DesiredSample, JointSample, Settings, Step, Update
from ros2_dyn.runtime.inputs import Description, SettingsChange
from ros2_dyn.runtime.run_work import run_work
from runtime_rig import NAMES, SETTINGS, SMALL_ARM, URDF, description

REPEATS = 100
PERIOD = 10_000_000
"""Of the states, ns."""
FLOATING = robot(link("a"), link("b", 1.0), joint("free", "floating", "a", "b"))
OTHER = robot(link("a"), link("b", 1.0), joint(NAMES[0], "revolute", "a", "b"))


class Driver:
    """Plays states of a moving arm to a runtime that only observes."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.runtime = ArmRuntime(description(), SETTINGS)
        self.now = 100.0
        self.time = 1000 * 10**9
        """By the driver's clock, ns."""
        self.phase = self.rng.uniform(-np.pi, np.pi, 3)
        self.last: JointSample | None = None
        self.steps: list[Step] = []

    def step(self, **changes) -> Update:
        """Play the state of the next instant, with some fields changed."""
        self.time += PERIOD
        return self.play(**changes)

    def play(self, **changes) -> Update:
        """Play the state of this instant, with some fields changed."""
        self.now += 1e-9 * PERIOD
        phase = 1e-9 * (self.time % 10**12) + self.phase
        received = round(self.now * 1e9) + 10**18
        self.last = JointSample(self.time, NAMES, np.sin(phase).tolist(), np.cos(phase).tolist(), (), received)
        return self.take(self.runtime.step(self.last._replace(**changes), self.now))

    def take(self, update: Update) -> Update:
        """Keep what an update holds, and do what it asks for."""
        self.steps += update.steps
        for work in update.work:
            self.take(self.runtime.step(work.run(), self.now))
        return update

    def right(self) -> bool:
        """Play a good state; return whether all efforts of it are right."""
        update = self.step()
        terms = update.terms
        if terms is None or len(update.steps) != 1 or update.steps[0].state.stamp != self.time:
            return False
        q, qd = self.last.position, self.last.velocity
        expected = {
            "gravity": gravity(SMALL_ARM, q),
            "coriolis": coriolis(SMALL_ARM, q, qd),
            "friction": friction(SMALL_ARM, qd),
            "inverse_dynamics": rnea(SMALL_ARM, q, qd, np.zeros(3)) + friction(SMALL_ARM, qd),
        }
        return all(np.allclose(getattr(terms, name), e, rtol=0, atol=1e-9) for name, e in expected.items())


def repeated(**changes) -> Callable[[Driver], None]:
    """Return a fault of some messages in a row."""

    def inject(driver: Driver) -> None:
        for _ in range(driver.rng.integers(1, 6)):
            driver.step(**changes)

    return inject


def one_joint(field: str, value: float) -> Callable[[Driver], None]:
    """Return a fault of one random joint."""

    def inject(driver: Driver) -> None:
        values = [0.1] * 3
        values[driver.rng.integers(3)] = value
        driver.step(**{field: values})

    return inject


def stamps(*jumps: float) -> Callable[[Driver], None]:
    """Return a fault of the driver's clock: it jumps by times, s, and goes on from there."""

    def inject(driver: Driver) -> None:
        for jump in jumps:
            driver.time += round(jump * 1e9)
            driver.step()

    return inject


def halves(driver: Driver) -> None:
    """The driver leaves out some of the joints."""
    for _ in range(driver.rng.integers(1, 20)):
        driver.step(names=NAMES[:2], position=[0.1] * 2, velocity=[0.1] * 2)


def doubled(driver: Driver) -> None:
    """Each message comes three times."""
    for _ in range(4):
        driver.step()
        driver.play()
        driver.play()


def reordered(driver: Driver) -> None:
    """Each two states come in the wrong order."""
    for _ in range(4):
        driver.time += 2 * PERIOD
        driver.play()
        driver.time -= PERIOD
        driver.play()
        driver.time += PERIOD


def two_publishers(driver: Driver) -> None:
    """Another driver, which lags behind, publishes the same joints."""
    for _ in range(4):
        driver.step()
        driver.time -= 3 * PERIOD // 2
        driver.play()
        driver.time += 3 * PERIOD // 2


def burst(driver: Driver) -> None:
    """Many states come at once."""
    for _ in range(20):
        driver.time += PERIOD // 10
        driver.now -= 1e-9 * PERIOD
        driver.play()


def silence(driver: Driver) -> None:
    """The driver stops for a while."""
    pause = driver.rng.uniform(0.05, 5.0)
    driver.now += pause
    driver.time += round(1e9 * pause)


def desired_nonsense(driver: Driver) -> None:
    """Desired states cannot be used."""
    for accelerations in ([], [1.0], [nan] * 3, [inf] * 3, [1e308] * 3):
        driver.take(driver.runtime.step(DesiredSample(0, NAMES, (), (), accelerations), driver.now))
        driver.step()
    driver.now += 0.11  # the huge one can be read, so that it is used for a while


def descriptions(driver: Driver) -> None:
    """A robot comes that is none, or does not fit, or another one; and the first again."""
    xml = ("", "<robot", FLOATING, OTHER)[driver.rng.integers(4)]
    for each in (xml, URDF):
        driver.take(driver.runtime.step(Description(each), driver.now))
        driver.step()


def parameters(driver: Driver) -> None:
    """Parameters come that do not fit the robot."""
    for changes in (
        {"robot.tip_link": "hand"},
        {"robot.joints": ("nose",), "friction.viscous": (), "friction.coulomb": ()},
    ):
        values = {"robot.joints": NAMES, "friction.transition_velocity": 0.05} | changes
        change = SettingsChange(Settings.from_values(values))
        with pytest.raises(Ros2DynError):
            run_work(driver.runtime, driver.runtime.step(change, driver.now), driver.now)
        driver.step()


FAULTS = {
    "no names": repeated(names=()),
    "a joint named twice": repeated(names=(NAMES[0],) * 3),
    "none of the joints": repeated(names=("finger",), position=[0.1], velocity=[0.1]),
    "some of the joints": halves,
    "too few positions": repeated(position=[0.1] * 2),
    "too many velocities": repeated(velocity=[0.1] * 4),
    "a NaN position": one_joint("position", nan),
    "an infinite position": one_joint("position", inf),
    "a NaN velocity": one_joint("velocity", nan),
    "no velocities": repeated(velocity=[]),
    "NaN efforts": repeated(effort=[nan] * 3),
    "too few efforts": repeated(effort=[1.0]),
    "huge velocities": repeated(velocity=[1e200] * 3),
    "huge positions": repeated(position=[1e300] * 3),
    "repeated messages": doubled,
    "reordered messages": reordered,
    "stamps that go back a little": stamps(-0.03, -0.005),
    "stamps that go back far": stamps(-30.0),
    "stamps that jump ahead and back": stamps(3600.0, -3600.0),
    "stamps that jump ahead a little and back": stamps(0.9, -0.9),
    "zero stamps": repeated(stamp=0),
    "two publishers": two_publishers,
    "a burst": burst,
    "silence": silence,
    "desired states that cannot be used": desired_nonsense,
    "robot descriptions": descriptions,
    "parameters": parameters,
}
STATES = {"stamps that jump ahead a little and back": 90, "stamps that go back a little": 2}
"""Number of good states after which outputs are right; 1 for the other faults."""


@pytest.mark.parametrize("fault", FAULTS)
def test_outputs_are_right_soon_after_a_fault(fault):
    driver = Driver(list(FAULTS).index(fault))
    assert driver.right()
    for _ in range(REPEATS):
        FAULTS[fault](driver)
        needed = next((n for n in range(1, 101) if driver.right()), None)
        assert needed is not None
        assert needed <= STATES.get(fault, 1)
    for step in driver.steps:
        assert all(np.all(np.isfinite(term)) for term in step.terms[:7] if len(term))
