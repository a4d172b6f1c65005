"""The guard that every command passes: what it lets out, whatever comes in."""

from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from ros2_dyn.control.effort_guard import COMMANDING, LONGEST_STEP, EffortGuard, GuardPolicy, Limits, View

LIMITS = Limits(("a", "b"), np.array([10.0, 4.0]), np.array([50.0, 20.0]), np.array([1.0, 2.0]))
SAFE, HELD = np.array([1.0, -1.0]), np.array([1.2, -0.8])
FROZEN = {"q": np.array([0.1, 0.2]), "qd": np.array([0.0, 1e-6])}
T = 0.004
"""Period of the states, s."""
KINDS = ("gravity", "zero", "cease")


class Loop:
    """A guard in virtual time, fed with states of an arm that moves a little."""

    def __init__(self, **policy) -> None:
        self.guard = EffortGuard(LIMITS, GuardPolicy(**policy))
        self.now = 100.0
        self.effort = np.array([2.0, 1.0])
        self.sent: list[np.ndarray] = []

    def enter(self, mode="gravity", applied=(0.0, 0.0), age=0.0) -> None:
        """A mode."""
        self.guard.enter(mode, applied, age, self.now)

    def step(self, n: int = 1, dt: float = T, **view) -> np.ndarray | None:
        """So many states; the last command."""
        for _ in range(n):
            self.now += dt
            q = np.array([np.sin(self.now), 0.3])
            seen = {"now": self.now, "age": 0.001, "q": q, "qd": np.array([0.5, 0.0])} | view
            command = self.guard.command(View(**seen), lambda mode: self.effort, SAFE, HELD)
            if command is not None:
                self.sent.append(command)
        return command

    def silence(self, seconds: float) -> np.ndarray | None:
        """No state for a while; the last command that came all the same."""
        last = None
        for _ in range(round(seconds / 0.01)):
            self.now += 0.01
            command = self.guard.ease(HELD, self.now)
            last = last if command is None else command
        return last


def test_nothing_leaves_until_a_mode_is_entered():
    """Start-up is monitor."""
    loop = Loop()
    assert loop.guard.mode == "monitor"
    assert loop.step(10) is None
    assert loop.silence(0.2) is None
    assert loop.guard.count == {}


def test_a_mode_begins_with_a_ramp_from_what_the_arm_exerts():
    """Linear in time, and then the law."""
    loop = Loop(ramp_time=0.5)
    loop.enter(applied=[-1.0, 0.5])
    for k in range(1, 125):
        s = k * T / 0.5
        assert_allclose(loop.step(), (1 - s) * np.array([-1.0, 0.5]) + s * loop.effort, rtol=0, atol=1e-9)
    loop.step(2)
    assert_array_equal(loop.step(), loop.effort)
    assert loop.guard.count == {}


def test_efforts_and_their_rates_are_limited():
    """By what each joint bears; counted, and told once."""
    loop = Loop(ramp_time=0.0)
    loop.enter()
    loop.effort = np.array([1e9, -1e9])
    for k in range(1, 50):
        assert_allclose(loop.step(), np.minimum(k * T * LIMITS.slew, LIMITS.effort) * [1, -1], rtol=1e-9)
    loop.step(100)
    assert_array_equal(loop.step(), [10.0, -4.0])
    assert loop.guard.count["effort limit"] == 150
    assert loop.guard.count["slew limit"] == 49
    assert [text.split(":")[0] for text in loop.guard.news] == ["effort limit of 'a'", "slew limit of 'a'"]


def test_a_late_command_makes_no_larger_step():
    """Than that of LONGEST_STEP."""
    loop = Loop(ramp_time=0.0)
    loop.enter()
    loop.effort = np.array([10.0, 4.0])
    assert_allclose(loop.step(dt=0.08), LONGEST_STEP * LIMITS.slew)


def test_what_is_not_finite_stops():
    """From the same state on the safe effort is approached."""
    loop = Loop(ramp_time=0.0)
    loop.enter(applied=[2.0, 1.0])
    loop.step(10)
    loop.effort = np.array([nan, 0.0])
    assert_allclose(loop.step(), [2.0 - 0.2, 1.0 - 0.08])
    assert (loop.guard.mode, loop.guard.reason) == ("stopped", "effort not finite")
    loop.effort = np.array([2.0, 1.0])
    loop.step(100)
    assert_array_equal(loop.step(), SAFE)  # and stays there until a mode is entered


@pytest.mark.parametrize(
    ("mode", "view", "reason"),
    [
        ("gravity", {"qd": np.array([0.0, -2.1])}, "too fast: 'b' moves with -2.1, 2 rad/s or m/s are allowed"),
        ("feed_forward", {"collision": True}, "collision"),
        ("gravity", {"collision": True}, "collision"),
        ("feed_forward", {"target_age": 0.21}, "target stale: 0.210 s old"),
        ("force", {"target_age": inf}, "target stale: inf s old"),
        ("force", {"target_age": nan}, "target stale: nan s old"),
        ("feed_forward", {"target_distance": 0.31}, "target far: 0.31 rad or m from it"),
        ("force", {"min_singular_value": 0.019}, "singularity: smallest singular value 0.019"),
    ],
)
def test_what_stops_a_mode(mode, view, reason):
    """With the reason; and it does not go on by itself."""
    loop = Loop()
    loop.enter(mode)
    loop.step(50)
    assert loop.guard.mode == mode
    loop.step(**view)
    assert (loop.guard.mode, loop.guard.reason) == ("stopped", reason)
    loop.step(200)
    assert loop.guard.mode == "stopped"
    loop.enter(mode)
    loop.step(200)
    assert_array_equal(loop.step(), loop.effort)


@pytest.mark.parametrize(
    ("mode", "view"),
    [
        ("hand_guiding", {"collision": True}),
        ("force", {"collision": True}),
        ("gravity", {"target_age": inf, "min_singular_value": 0.0}),
        ("hand_guiding", {"target_age": inf, "min_singular_value": 0.0}),
        ("feed_forward", {"min_singular_value": 0.0}),
    ],
)
def test_what_does_not_concern_a_mode(mode, view):
    """Does not stop it."""
    loop = Loop()
    loop.enter(mode)
    loop.step(50, **view)
    assert loop.guard.mode == mode


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        ({"age": 0.11}, "state stale: its stamp is 0.110 s behind the clock"),
        ({"age": -0.5}, "state stale: its stamp is 0.500 s ahead of the clock"),
        ({"age": nan}, "state stale: its stamp is nan s ahead of the clock"),
        (FROZEN, "state stale: it repeats the same numbers, though with velocities"),
    ],
)
@pytest.mark.parametrize(("behaviour", "left"), [("gravity", HELD), ("zero", np.zeros(2)), ("cease", None)])
def test_nothing_is_made_of_a_state_of_another_time(behaviour, left, view, reason):
    """It is as if none had come: the safe effort while the last state is young enough, and silence."""
    loop = Loop(stop_behaviour=behaviour, ramp_time=0.0)
    loop.enter(applied=[1.5, -0.5])
    loop.effort = np.array([1.5, -0.5])
    loop.step(50)
    loop.step(**(view if view is FROZEN else {}))
    eased = []
    for _ in range(12):
        assert loop.step(2, **view) is None
        eased.append(loop.silence(0.01))
    sent = [effort for effort in eased if effort is not None]
    assert (not sent) if left is None else np.array_equal(sent[-1], left)
    assert (loop.guard.mode, loop.guard.reason) == ("monitor", reason)
    assert loop.step(50) is None


def test_what_is_no_frozen_state():
    """An arm at rest may repeat itself, a single repetition is passed over, and it need not be looked for."""
    loop = Loop()
    loop.enter()
    loop.step(1000, q=np.array([0.1, 0.2]), qd=np.zeros(2))
    assert len(loop.sent) == 1000
    assert loop.step(**FROZEN) is not None
    assert loop.step(**FROZEN) is None
    assert loop.step() is not None
    off = Loop(detect_frozen=False)
    off.enter()
    off.step(1000, **FROZEN)
    assert len(off.sent) == 1000


@pytest.mark.parametrize(("behaviour", "left"), [("gravity", HELD), ("zero", np.zeros(2)), ("cease", None)])
def test_what_is_left_when_states_stop(behaviour, left):
    """The safe effort, reached before the last state is too old; then silence."""
    loop = Loop(stop_behaviour=behaviour, ramp_time=0.0)
    loop.enter(applied=[1.5, -0.5])
    loop.effort = np.array([1.5, -0.5])
    loop.step(50)
    assert loop.silence(0.03) is None  # too short to matter
    last = loop.silence(0.06)
    assert last is None if left is None else np.array_equal(last, left)
    assert loop.silence(0.3) is None
    assert (loop.guard.mode, loop.guard.last) == ("monitor", None)
    assert loop.guard.reason.startswith("state stale: none for 0.")
    assert loop.step(50) is None


def test_a_mode_begins_with_the_age_of_its_state():
    """Nothing comes of a state that was old already."""
    loop = Loop()
    loop.enter(age=0.05)
    assert loop.silence(0.02) is not None
    assert loop.silence(0.1) is None
    assert not loop.guard.commands


def test_a_state_that_comes_late_but_in_time():
    """The mode goes on from where easing led, without a step."""
    loop = Loop(ramp_time=0.0)
    loop.enter(applied=[2.0, 1.0])
    loop.step(50)
    eased = loop.silence(0.06)
    assert eased is not None
    assert not np.array_equal(eased, loop.effort)
    command = loop.step()
    assert np.all(np.abs(command - eased) <= T * LIMITS.slew + 1e-12)
    loop.step(200)
    assert_array_equal(loop.step(), loop.effort)
    assert loop.guard.mode == "gravity"


def test_a_blocked_executor():
    """States that waited too long are not used, though no timer could say so."""
    loop = Loop()
    loop.enter()
    loop.step(50)
    assert loop.step(dt=0.11) is None
    assert loop.guard.mode == "monitor"


@pytest.mark.parametrize("behaviour", KINDS)
def test_leaving(behaviour):
    """Over the ramp time to the safe effort, and silence; at once where commands are to cease."""
    loop = Loop(stop_behaviour=behaviour, ramp_time=0.2)
    loop.enter()
    loop.step(200)
    loop.guard.leave(loop.now)
    assert loop.guard.mode == "monitor"
    sent = len(loop.sent)
    loop.step(49)
    assert len(loop.sent) == sent + (0 if behaviour == "cease" else 49)
    loop.step(10)
    assert not loop.guard.commands
    expected = {"gravity": HELD, "zero": np.zeros(2), "cease": loop.effort}[behaviour]
    assert_allclose(loop.sent[-1], expected, rtol=0, atol=1e-12)


def test_a_stop_to_zero_falls_silent_there():
    """And the mode is monitor again, with the reason."""
    loop = Loop(stop_behaviour="zero", ramp_time=0.0)
    loop.enter()
    loop.step(50)
    loop.step(collision=True)
    assert loop.guard.mode == "stopped"
    loop.step(100)
    assert_array_equal(loop.sent[-1], [0.0, 0.0])
    assert (loop.guard.mode, loop.guard.reason, loop.guard.commands) == ("monitor", "collision", False)


@pytest.mark.parametrize("behaviour", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_whatever_comes(behaviour, seed):
    """Random modes, states, efforts and pauses: every command is bounded, without steps, and of a fresh state."""
    rng = np.random.default_rng(seed)
    loop = Loop(stop_behaviour=behaviour, ramp_time=float(rng.choice([0.0, 0.1])))
    before, sent, elapsed = None, 0, 0.0
    for _ in range(5000):
        event = rng.random()
        if event < 0.03:
            if not loop.guard.commands:
                before = None
                elapsed = 0.0
            loop.enter(rng.choice(COMMANDING), np.zeros(2) if before is None else before)
            before = loop.guard.last
        elif event < 0.035:
            loop.guard.leave(loop.now)
        loop.effort = rng.normal(size=2) * rng.choice([1.0, 100.0, 1e300]) + rng.choice([0.0, nan], p=[0.99, 0.01])
        view = {
            "age": rng.choice([0.01, 0.05, 0.2, -3600.0, nan], p=[0.5, 0.49, 0.004, 0.003, 0.003]),
            "collision": rng.random() < 0.002,
            "target_age": rng.choice([0.1, inf], p=[0.99, 0.01]),
        }
        dt = float(rng.choice([0.0, T, 0.05, 0.2], p=[0.1, 0.85, 0.04, 0.01]))
        command = loop.step(dt=dt, **view)
        elapsed += dt
        if command is not None:
            sent += 1
            assert abs(view["age"]) <= 0.1
            assert dt <= 0.1
            assert np.all(np.isfinite(command))
            assert np.all(np.abs(command) <= LIMITS.effort)
            assert np.all(np.abs(command - before) <= min(elapsed, LONGEST_STEP) * LIMITS.slew + 1e-9)
            before, elapsed = command, 0.0
    assert sent > 500


def test_the_age_of_a_state_counts_from_its_measurement():
    """Not from its arrival."""
    loop = Loop()
    loop.enter()
    loop.step(50)
    assert loop.step(age=0.085) is None
    assert loop.step(age=0.05) is not None
    assert loop.silence(0.02) is not None
    assert loop.silence(0.02) is None
    assert not loop.guard.commands


def test_a_stop_that_ceases():
    """Sends nothing more, from the same state on."""
    loop = Loop(stop_behaviour="cease")
    loop.enter()
    loop.step(50)
    assert loop.step(collision=True) is None
    assert (loop.guard.mode, loop.guard.reason) == ("monitor", "collision")


def test_entering_again():
    """While the last mode is being left: that is forgotten, also by the log, and so are the numbers of then."""
    loop = Loop(ramp_time=0.1)
    loop.enter()
    loop.effort = np.array([1e9, 0.0])
    loop.step(50)
    loop.guard.leave(loop.now)
    loop.step(10)
    loop.enter("force")
    loop.step(100)
    assert loop.guard.mode == "force"
    assert sum(text.startswith("effort limit") for text in loop.guard.news) == 2
    loop.step(target_age=inf)
    loop.step(300)
    assert (loop.guard.mode, loop.guard.commands) == ("stopped", True)
    loop.guard.leave(loop.now)
    loop.step(100)
    assert not loop.guard.commands
    loop.enter()
    loop.step(**FROZEN)
    loop.guard.lose("nobody listens")
    loop.enter()
    assert loop.step(**FROZEN) is not None


@pytest.mark.parametrize(
    ("names", "effort", "mode"),
    [(("a", "b"), [8.0, 3.0], "stopped"), (("a", "c"), [8.0, 3.0], "monitor"), (("a", "b"), [1.0, 3.0], "monitor")],
)
def test_another_robot(names, effort, mode):
    """A stop within its limits where the last command fits it, else silence."""
    loop = Loop(ramp_time=0.0)
    loop.enter(applied=[2.0, 1.0])
    loop.step(50)
    limits = Limits(names, np.array(effort), LIMITS.slew, LIMITS.velocity)
    loop.guard.end_with(limits)
    assert (loop.guard.mode, loop.guard.reason, loop.guard.limits) == (mode, "robot changed", limits)


def test_going_on_from_another_guard():
    """As the last will does: from its command, and no longer than its state allows."""
    loop = Loop()
    loop.guard.go_on_from(np.array([5.0, 2.0]), loop.now, loop.now - 0.035)
    last = loop.silence(0.04)
    assert_allclose(last, [5.0 - 4 * 0.5, 2.0 - 4 * 0.2])
    assert loop.silence(0.05) is None
