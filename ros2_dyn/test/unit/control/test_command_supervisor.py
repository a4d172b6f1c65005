# SPDX-License-Identifier: Apache-2.0
"""The supervisor of commands: what it lets out, whatever comes in."""

from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.control.modes import MODES
from supervisor_loop import HOLD, IMPLAUSIBLE, LIMITS, PERIOD, SAFE, STOP_BEHAVIOURS, SupervisorLoop
from tiers import FULL

PROOF_STEPS = round(0.3 / PERIOD)
"""Number of states for which an arm that is left has to rest under the last effort."""

# --- modes


def test_nothing_is_commanded_until_a_mode_is_entered():
    loop = SupervisorLoop()
    assert loop.supervisor.mode == "monitor"
    assert loop.step(10) is None
    assert loop.silence(0.2) is None
    assert loop.counts == {}


def test_a_mode_begins_with_a_ramp_from_the_applied_effort():
    loop = SupervisorLoop(ramp_time=0.5)
    loop.enter(applied=[-1.0, 0.5])
    for k in range(1, 125):
        s = k * PERIOD / 0.5
        assert_allclose(loop.step(), (1 - s) * np.array([-1.0, 0.5]) + s * loop.effort, rtol=0, atol=1e-9)
    loop.step(2)
    assert_array_equal(loop.step(), loop.effort)
    assert loop.counts == {}


@pytest.mark.parametrize("behaviour", STOP_BEHAVIOURS)
def test_leaving_goes_to_the_declared_effort_and_ends_commands_once_it_has_held_the_arm(behaviour):
    loop = SupervisorLoop(stop_behaviour=behaviour, ramp_time=0.2)
    loop.enter()
    loop.step(200)
    loop.supervisor.leave()
    assert loop.supervisor.mode == "monitor"
    sent, proof = len(loop.sent), 0 if behaviour == "none" else PROOF_STEPS
    way = {"hold_gravity": 20, "zero_effort": 49, "none": 0}[behaviour]  # at the slew rate, and by a ramp
    loop.step(way + proof)
    assert len(loop.sent) == sent + way + proof
    loop.step(10)
    assert not loop.supervisor.commands
    expected = {"hold_gravity": HOLD, "zero_effort": np.zeros(2), "none": loop.effort}[behaviour]
    n = 1 + proof
    assert_allclose(loop.sent[-n:], np.tile(expected, (n, 1)), rtol=0, atol=1e-12)


def test_a_mode_can_be_entered_while_the_last_is_being_left():
    loop = SupervisorLoop(ramp_time=0.1)
    loop.enter()
    loop.step(50)
    loop.supervisor.leave()
    loop.step(10)
    loop.enter("force")
    loop.step(100)
    assert loop.supervisor.mode == "force"
    assert_array_equal(loop.sent[-1], loop.effort)


# --- events


def test_interventions_are_counted_and_logged_once_a_mode():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.effort = np.array([1e9, -1e9])
    for mode in ("gravity", "force"):
        loop.events.clear()
        loop.enter(mode)
        loop.step(150)
        assert loop.counts["effort limit"] == 150
        logged = [event.text.split(":")[0] for event in loop.events if event.logged]
        assert logged[0] == "effort limit of 'a'"
        assert sum(text.startswith("effort limit") for text in logged) == 1
        if mode == "gravity":
            assert loop.counts["slew limit"] == 49
            assert logged[1:] == ["slew limit of 'a'"]


# --- stops


@pytest.mark.parametrize("mode", ["gravity", "feed_forward"])
def test_a_violated_condition_stops_the_mode_until_it_is_entered_again(mode):
    loop = SupervisorLoop()
    loop.enter(mode)
    loop.step(50)
    assert loop.supervisor.mode == mode
    loop.step(collision=True)
    assert (loop.supervisor.mode, loop.supervisor.reason) == ("stopped", "collision")
    loop.step(200)
    assert loop.supervisor.mode == "stopped"
    loop.enter(mode)
    loop.step(200)
    assert_array_equal(loop.step(), loop.effort)


def test_a_stop_slews_to_the_safe_effort_from_the_same_state_on_and_stays_there():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter(applied=[2.0, 1.0])
    loop.step(10)
    loop.effort = np.array([nan, 0.0])
    assert_allclose(loop.step(), [2.0 - 0.2, 1.0 - 0.08])
    assert (loop.supervisor.mode, loop.supervisor.reason) == ("stopped", "effort not finite")
    loop.effort = np.array([2.0, 1.0])
    loop.step(100)
    assert_array_equal(loop.step(), SAFE)


def test_a_stop_before_the_first_command_keeps_what_held_the_arm_beyond_its_model():
    loop, unmodelled = SupervisorLoop(), np.array([0.5, -0.25])
    loop.enter(applied=HOLD + unmodelled, unmodelled=unmodelled)
    assert_array_equal(loop.supervisor.carried, HOLD + unmodelled)
    loop.step(100, collision=True)
    assert_allclose(loop.sent[-1], SAFE + unmodelled, rtol=0, atol=1e-12)


def test_a_stop_during_a_ramp_ends_the_ramp():
    loop = SupervisorLoop(ramp_time=10.0)
    loop.enter(applied=[2.0, 1.0])
    loop.step(10)
    loop.step(30, collision=True)
    assert_array_equal(loop.sent[-1], SAFE)


def test_a_stop_to_zero_effort_ends_commands_there():
    loop = SupervisorLoop(stop_behaviour="zero_effort", ramp_time=0.0)
    loop.enter()
    loop.step(50)
    loop.step(collision=True)
    assert loop.supervisor.mode == "stopped"
    loop.step(100)
    assert_array_equal(loop.sent[-1], [0.0, 0.0])
    assert (loop.supervisor.mode, loop.supervisor.reason, loop.supervisor.commands) == ("monitor", "collision", False)


def test_a_stop_with_behaviour_none_ends_commands_at_the_same_state():
    loop = SupervisorLoop(stop_behaviour="none")
    loop.enter()
    loop.step(50)
    assert loop.step(collision=True) is None
    assert (loop.supervisor.mode, loop.supervisor.reason) == ("monitor", "collision")


@pytest.mark.parametrize(
    ("names", "effort", "mode"),
    [(("a", "b"), [8.0, 3.0], "stopped"), (("a", "c"), [8.0, 3.0], "monitor"), (("a", "b"), [1.0, 3.0], "monitor")],
    ids=["command fits", "other joints", "command too large"],
)
def test_limits_of_another_robot_stop_the_mode_or_abort_it(names, effort, mode):
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter(applied=[2.0, 1.0])
    loop.step(50)
    limits = CommandLimits(names, np.array(effort), LIMITS.slew_rate, LIMITS.velocity)
    loop.supervisor.replace_limits(limits)
    assert (loop.supervisor.mode, loop.supervisor.reason) == (mode, "robot changed")
    assert loop.supervisor.limits is limits


# --- states that are late, old or implausible


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({"age": 0.11}, "state stale: its stamp is 0.110 s behind the clock"),
        ({"age": -0.5}, "state stale: its stamp is 0.500 s ahead of the clock"),
        ({"age": nan}, "state stale: its stamp is nan s ahead of the clock"),
        ({"age": inf}, "state stale: it has no stamp"),
        (IMPLAUSIBLE, "state stale: it repeats the same numbers"),
    ],
    ids=["old", "ahead", "nan", "no stamp", "implausible"],
)
@pytest.mark.parametrize(("behaviour", "left"), [("hold_gravity", HOLD), ("zero_effort", np.zeros(2)), ("none", None)])
def test_a_state_of_another_time_counts_as_none(behaviour, left, seen, reason):
    loop = SupervisorLoop(stop_behaviour=behaviour, ramp_time=0.0)
    loop.enter(applied=[1.5, -0.5])
    loop.effort = np.array([1.5, -0.5])
    loop.step(50)
    ramped = []
    for _ in range(40):
        assert loop.step(2, **seen) is None
        ramped.append(loop.silence(0.01))
    sent = [effort for effort in ramped if effort is not None]
    assert (not sent) if left is None else np.array_equal(sent[-1], left)
    mode = "stopped" if behaviour == "hold_gravity" else "monitor"
    assert (loop.supervisor.mode, loop.supervisor.reason) == (mode, reason)
    check_what_follows_states_that_come_back(loop)


def check_what_follows_states_that_come_back(loop):
    """Check that nothing follows where commands ended; otherwise that the stop follows the arm until it is left."""
    stopped = loop.supervisor.mode == "stopped"
    loop.step(50)
    assert loop.supervisor.commands == stopped
    if not stopped:
        return
    assert_array_equal(loop.sent[-1], SAFE)
    assert loop.supervisor.mode == "stopped"
    loop.supervisor.leave()
    loop.step(PROOF_STEPS + 50)
    assert (loop.supervisor.mode, loop.supervisor.commands) == ("monitor", False)
    assert_array_equal(loop.sent[-1], HOLD)


@pytest.mark.parametrize(("behaviour", "left"), [("hold_gravity", HOLD), ("zero_effort", np.zeros(2))])
@pytest.mark.parametrize("start", [[1.5, -0.5], [-9.0, 3.9]], ids=["near", "far"])
def test_commands_arrive_at_the_safe_effort_however_far_it_is_when_states_stop(behaviour, left, start):
    """Gravity compensation is repeated there, however long; zero effort ends."""
    loop = SupervisorLoop(stop_behaviour=behaviour, ramp_time=0.0)
    loop.enter(applied=start)
    loop.effort = np.array(start)
    loop.step(50)
    assert loop.silence(0.03) is None  # too short to matter
    assert loop.silence(0.06) is not None
    assert (loop.supervisor.mode, loop.supervisor.commands) == ("stopped", True)
    sent = loop.silences(0.6)
    assert all(np.array_equal(effort, left) for effort in sent[-30:])
    held = behaviour == "hold_gravity"
    repeated = loop.silences(60.0)
    assert_array_equal(repeated, np.tile(left, (6000 if held else 0, 1)).reshape(np.shape(repeated)))
    assert (loop.supervisor.mode, loop.supervisor.last is None) == (("stopped", False) if held else ("monitor", True))
    assert loop.supervisor.reason.startswith("state stale: the newest was measured 0.")
    check_what_follows_states_that_come_back(loop)


def test_a_mode_that_is_left_without_states_ends_in_the_safe_effort():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter(applied=[-9.0, 3.9])
    loop.effort = np.array([-9.0, 3.9])
    loop.step(50)
    loop.silence(0.1)
    loop.supervisor.leave()
    sent = loop.silences(2.2)
    assert_array_equal(sent[-30:], np.tile(HOLD, (30, 1)))
    assert (loop.supervisor.mode, loop.supervisor.last) == ("monitor", None)
    assert loop.step(50) is None


def test_a_mode_that_is_left_long_after_the_last_state_ends_soon():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter()
    loop.step(50)
    loop.silence(60.0)
    loop.supervisor.leave()
    assert_array_equal(loop.silence(0.4), HOLD)
    assert (loop.supervisor.mode, loop.supervisor.last) == ("monitor", None)


@pytest.mark.parametrize("seconds", [0.3, 1.5])
def test_a_mode_whose_states_stop_for_a_while_as_it_is_left_is_left_all_the_same(seconds):
    """The arm is braked again before: it was not seen to rest."""
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter()
    loop.step(50)
    loop.supervisor.leave()
    assert_array_equal(loop.silences(seconds)[-1], HOLD)
    assert loop.step() is not None
    assert loop.supervisor.mode == "monitor"
    loop.step(200)
    assert loop.supervisor.last is None


def test_effort_that_was_repeated_without_states_is_proved_anew_where_the_arm_is_seen():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter()
    loop.step(PROOF_STEPS)
    loop.supervisor.leave()
    assert_array_equal(loop.silences(0.35)[-1], HOLD)
    sent = len(loop.sent)
    loop.step(4 * PROOF_STEPS)
    assert not loop.supervisor.commands
    assert len(loop.sent) - sent >= PROOF_STEPS


def test_no_mode_goes_on_where_it_was_entered_again_on_the_state_that_was_lost():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter(applied=[-9.0, 3.9])
    loop.step(50)
    loop.silence(0.1)
    loop.enter()
    assert loop.silence(0.01) is not None
    assert loop.supervisor.mode == "stopped"


@pytest.mark.parametrize("seen", [IMPLAUSIBLE, {"age": 0.081}, {"age": -0.081}], ids=["implausible", "old", "ahead"])
def test_a_single_state_that_does_not_count_is_passed_over(seen):
    loop = SupervisorLoop()
    loop.enter()
    assert loop.step(age=0.08) is not None
    assert loop.step(age=-0.05) is not None
    assert loop.step(**seen) is None
    assert loop.step() is not None


def test_a_mode_begins_with_the_age_of_its_state():
    loop = SupervisorLoop()
    loop.enter(age=0.05)
    assert loop.silence(0.02) is not None
    assert loop.supervisor.mode == "gravity"
    loop.silence(0.02)
    assert loop.supervisor.mode == "stopped"


def test_the_age_of_a_state_counts_from_its_measurement():
    loop = SupervisorLoop()
    loop.enter()
    loop.step(50)
    assert loop.step(age=0.085) is None
    assert loop.step(age=0.05) is not None
    assert loop.silence(0.02) is not None
    assert loop.supervisor.mode == "gravity"
    loop.silence(0.02)
    assert loop.supervisor.mode == "stopped"


def test_a_mode_goes_on_without_a_step_after_a_state_that_was_late():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter(applied=[2.0, 1.0])
    loop.step(50)
    ramped = loop.silence(0.06)
    assert ramped is not None
    assert not np.array_equal(ramped, loop.effort)
    command = loop.step()
    assert np.all(np.abs(command - ramped) <= PERIOD * LIMITS.slew_rate + 1e-12)
    loop.step(200)
    assert_array_equal(loop.step(), loop.effort)
    assert loop.supervisor.mode == "gravity"


def test_a_state_that_is_later_than_usual_takes_a_part_of_what_drives_the_arm_and_ends_no_ramp():
    loop = SupervisorLoop(ramp_time=2.0)
    loop.enter(applied=SAFE)
    loop.step(50)
    driven, seen = loop.supervisor.last, loop.supervisor.state_at
    assert loop.supervisor.ramp_down(seen + 0.02) is None
    late = loop.supervisor.ramp_down(seen + 0.02, usual=0.012)
    assert np.all(np.abs(late - HOLD) < np.abs(driven - HOLD))
    assert np.all(np.abs(late - driven) < 0.2 * np.abs(HOLD - driven))
    assert loop.supervisor.ramps
    share = (loop.step(5, dt=0.01) - SAFE) / (loop.effort - SAFE)
    assert_allclose(share, (loop.now - 100.0) / 2.0, rtol=0, atol=1e-9)


def test_a_state_after_a_gap_longer_than_the_timeout_stops_the_mode():
    """No timer has called in between, as in a blocked process."""
    loop = SupervisorLoop()
    loop.enter()
    loop.step(50)
    assert loop.step(dt=0.11) is not None
    assert (loop.supervisor.mode, loop.supervisor.reason) == (
        "stopped",
        "state stale: the newest was measured 0.111 s ago",
    )


def test_commands_go_on_from_the_one_before_a_command_that_was_not_published():
    loop = SupervisorLoop(ramp_time=0.0)
    loop.enter(applied=[-9.0, 3.9])
    loop.step(2)
    published = loop.sent[-1]
    loop.step(dt=0.02)
    loop.supervisor.withdraw(loop.now + 0.07)
    assert_array_equal(loop.supervisor.last, published)
    assert loop.supervisor.mode == "gravity"
    loop.supervisor.withdraw(loop.now + 0.09)
    assert (loop.supervisor.mode, loop.supervisor.commands) == ("stopped", True)


# --- whatever comes


@pytest.mark.parametrize("behaviour", STOP_BEHAVIOURS)
@pytest.mark.parametrize("seed", range(3 if FULL else 1))
def test_every_command_of_random_inputs_is_bounded_and_without_steps(behaviour, seed):
    """Modes, states, efforts and pauses are random."""
    rng = np.random.default_rng(seed)
    loop = SupervisorLoop(stop_behaviour=behaviour, ramp_time=float(rng.choice([0.0, 0.1])))
    before, sent, elapsed = None, 0, 0.0
    for _ in range(5000 if FULL else 2000):
        event = rng.random()
        if event < 0.03:
            if not loop.supervisor.commands:
                before = None
                elapsed = 0.0
            loop.enter(rng.choice(list(MODES)), np.zeros(2) if before is None else before)
            before = loop.supervisor.last
        elif event < 0.035:
            loop.supervisor.leave()
        loop.effort = rng.normal(size=2) * rng.choice([1.0, 100.0, 1e300]) + rng.choice([0.0, nan], p=[0.99, 0.01])
        seen = {
            "age": rng.choice([0.01, 0.05, 0.2, -3600.0, nan], p=[0.5, 0.49, 0.004, 0.003, 0.003]),
            "collision": rng.random() < 0.002,
        }
        dt = float(rng.choice([0.0, PERIOD, 0.05, 0.2], p=[0.1, 0.85, 0.04, 0.01]))
        command = loop.step(dt=dt, **seen)
        elapsed += dt
        if command is not None:
            sent += 1
            assert abs(seen["age"]) <= 0.1
            assert dt <= 0.1 or loop.supervisor.mode not in MODES
            assert np.all(np.isfinite(command))
            assert np.all(np.abs(command) <= LIMITS.effort)
            assert np.all(np.abs(command - before) <= min(elapsed, MAX_SLEW_STEP) * LIMITS.slew_rate + 1e-9)
            before, elapsed = command, 0.0
    assert sent > 200
