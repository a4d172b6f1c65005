# SPDX-License-Identifier: Apache-2.0
"""The judge of commands: each rule is found where it is broken, and only there."""

from math import inf, nan

import numpy as np
import pytest

from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.runtime.inputs import JointSample
from ros2_dyn_tools.campaign.command_judge import ABOVE_LIMIT, NOT_FINITE, STALE, STEP, CommandJudge

NAMES = ("a", "b")
LIMIT = np.array([10.0, 5.0])
SLEW = np.array([100.0, 50.0])
TIMEOUT = 0.1


class Judged:
    """A judge that is told of states and commands at times, s."""

    def __init__(self, stop_behaviour="none") -> None:
        limits = CommandLimits(NAMES, LIMIT, SLEW, np.full(2, inf))
        self.judge = CommandJudge(limits, TIMEOUT, stop_behaviour)

    def state(self, t, measured=None, names=NAMES, q=None, v=0.1):
        """Pass a message of states that arrives at a time; measured: its stamp, s, 0 for none."""
        measured = t if measured is None else measured
        q = [t] * len(names) if q is None else q
        stamp = round(1e9 * measured) if measured else 0
        self.judge.on_state(JointSample(stamp, names, q, [v] * len(names)), round(1e9 * t), t)

    def command(self, t, effort=(1.0, 1.0), stopped=False):
        """Return the rules that a command at a time breaks."""
        return self.judge.on_command(list(effort), t, stopped)


@pytest.fixture
def judged() -> Judged:
    """Return a judge with a state at 1 s and a command on it."""
    judged = Judged()
    judged.state(1.0)
    assert judged.command(1.0) == []
    return judged


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_command_that_is_not_finite_is_found(judged, value):
    assert NOT_FINITE in judged.command(1.01, (value, 1.0))


@pytest.mark.parametrize(
    ("effort", "broken"), [((10.0, 5.0), []), ((10.1, 1.0), [ABOVE_LIMIT]), ((1.0, -5.1), [ABOVE_LIMIT])]
)
def test_command_above_its_limit_is_found(effort, broken):
    judged = Judged()
    judged.state(1.0)
    assert judged.command(1.0, effort) == broken


def test_step_above_the_slew_limit_is_found_for_each_joint(judged):
    steps = SLEW * MAX_SLEW_STEP
    assert judged.command(1.01, (1.0 + steps[0], 1.0 - steps[1])) == []
    assert judged.command(1.02, (1.0 + steps[0], 1.0 + 0.01)) == [STEP]


def test_step_after_a_gap_or_of_a_new_node_is_not_judged(judged):
    judged.state(1.6)
    assert judged.command(1.6, (9.0, 1.0)) == []
    judged.judge.begin_sequence()
    assert judged.command(1.61, (-9.0, 1.0)) == []


def test_step_from_what_a_controller_held_that_was_restarted_is_not_judged(judged):
    judged.judge.on_placed()
    assert judged.command(1.01, (9.0, 1.0)) == []
    assert judged.command(1.02, (1.0, 1.0)) == [STEP]


def test_command_on_a_state_older_than_the_timeout_is_found(judged):
    assert judged.command(1.1) == []
    assert judged.command(1.101) == [STALE]


@pytest.mark.parametrize(
    ("behaviour", "efforts", "broken"),
    [
        ("hold_gravity", [(1.5, 0.5), (2.0, 0.2), (2.0, 0.2)], []),
        ("hold_gravity", [(1.5, 0.5), (1.4, 0.2)], [STALE]),
        ("zero_effort", [(0.5, 0.5), (0.0, 0.2), (0.0, 0.0)], []),
        ("zero_effort", [(0.5, 0.5), (0.0, 0.6)], [STALE]),
        ("zero_effort", [(1.1, 0.5)], [STALE]),
    ],
    ids=["towards gravity", "back from gravity", "towards zero", "back from zero", "away from zero"],
)
def test_command_on_a_stale_state_may_only_go_on_to_the_safe_effort(behaviour, efforts, broken):
    judged = Judged(behaviour)
    judged.state(1.0)
    judged.command(1.1)
    results = [judged.command(1.11 + 0.01 * k, effort) for k, effort in enumerate(efforts)]
    assert results == [[]] * (len(efforts) - 1) + [broken]


def on_one_state(behaviour, efforts, stopped=True) -> list[list[str]]:
    """Return the rules that commands break which come every 10 ms, the first of them on the only state."""
    judged = Judged(behaviour)
    judged.state(1.0)
    return [judged.command(1.0 + 0.01 * k, effort, stopped) for k, effort in enumerate(efforts)]


def test_commands_on_a_stale_state_that_reached_gravity_compensation_may_be_repeated_and_nothing_else():
    safe = (1.0, 1.0)
    broken = on_one_state("hold_gravity", [safe] * 1000 + [(1.0, 1.0 + 1e-9)])
    assert broken == [[]] * 1000 + [[STALE]]
    creeping = on_one_state("hold_gravity", [(1.0 + 1e-6 * k, 1.0) for k in range(100)])
    assert creeping[50] == []
    assert creeping[-1] == [STALE]
    active = on_one_state("hold_gravity", [safe] * 100, stopped=False)
    assert active[50] == []
    assert active[-1] == [STALE]


@pytest.mark.parametrize("effort", [(1.0, 1.0), (0.0, 0.0)])
def test_commands_on_a_stale_state_that_do_not_end_are_found_where_zero_is_the_safe_effort(effort):
    broken = on_one_state("zero_effort", [effort] * 100)
    assert broken[50] == []
    assert broken[-1] == [STALE]


def test_first_command_on_a_stale_state_is_found():
    judged = Judged("hold_gravity")
    judged.state(1.0)
    assert judged.command(1.2) == [STALE]


def test_delay_counts_as_age(judged):
    judged.state(1.2, measured=1.15)
    assert judged.command(1.249) == []
    assert judged.command(1.251) == [STALE]


def test_state_is_as_old_as_its_oldest_joint(judged):
    judged.state(1.08, names=("a",))
    assert judged.command(1.09) == []
    assert judged.command(1.12) == [STALE]
    judged.state(1.12, names=("b",))
    assert judged.command(1.13) == []


@pytest.mark.parametrize(
    "change",
    [{"q": [1.0, 1.0]}, {"measured": 0.0}, {"measured": 0.95}, {"measured": 5.0}, {"q": [nan, nan]}, {"q": [1.0]}],
    ids=["frozen", "without stamp", "older than the last", "far ahead", "not finite", "short"],
)
def test_message_that_is_no_new_state_leaves_the_age(judged, change):
    judged.state(1.08, **change)
    assert judged.command(1.11) == [STALE]


def test_standing_arm_may_repeat_its_numbers(judged):
    for t in (1.05, 1.1, 1.15):
        judged.state(t, q=[1.0, 1.0], v=0.0)
    assert judged.command(1.2) == []


def test_message_out_of_order_is_not_what_later_ones_are_compared_with(judged):
    judged.state(1.05)
    judged.state(1.08, measured=1.04, q=[7.0, 7.0])
    judged.state(1.1, q=[7.0, 7.0])
    assert judged.command(1.19) == []
    judged.state(1.15, q=[7.0, 7.0])
    assert judged.command(1.21) == [STALE]


def test_clock_that_was_set_back_by_more_than_a_second_is_followed(judged):
    judged.judge.on_state(JointSample(5 * 10**9, NAMES, (1.0, 2.0), (0.1, 0.1)), 5 * 10**9, 1.05)
    judged.judge.on_state(JointSample(2 * 10**9, NAMES, (1.1, 2.1), (0.1, 0.1)), 2 * 10**9, 1.15)
    assert judged.command(1.24) == []
