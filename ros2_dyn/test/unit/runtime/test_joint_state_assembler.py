# SPDX-License-Identifier: Apache-2.0
"""What becomes of each kind of message on joint_states: the table of docs/node.md, message by message."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import joint, link, robot
from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import JointSample, MeasuredState
from ros2_dyn.runtime.joint_state_assembler import AssemblerOptions, JointStateAssembler

MODEL = RobotModel.from_urdf(
    robot(
        *(link(name, 1.0) for name in ("base", "one", "two", "three")),
        joint("a", "revolute", "base", "one"),
        joint("b", "revolute", "one", "two"),
        joint("c", "continuous", "two", "three"),
    )
)


def assembler(**options) -> JointStateAssembler:
    return JointStateAssembler(MODEL, AssemblerOptions(**options))


def message(
    names="abc", position=(1.0, 2.0, 3.0), velocity=(4.0, 5.0, 6.0), stamp=1.0, effort=(), received=None
) -> JointSample:
    return JointSample(round(stamp * 1e9), tuple(names), position, velocity, effort, received)


def process(taker: JointStateAssembler, sample: JointSample, now: float = 0.0) -> MeasuredState | None:
    return taker.process(sample, now).state


def rejected(taker: JointStateAssembler, sample: JointSample, text: str, now: float = 0.0) -> None:
    with pytest.raises(MessageError, match=text):
        process(taker, sample, now)


def test_joints_are_matched_by_name_in_any_order_with_others_besides():
    taker = assembler()
    assert process(taker, message(stamp=1))[1:3] == ([1, 2, 3], [4, 5, 6])
    mixed = message("cxab", (3.0, np.nan, 1.0, 2.0), (6.0, np.inf, 4.0, 5.0), stamp=2)
    assert process(taker, mixed)[1:3] == ([1, 2, 3], [4, 5, 6])
    assert process(taker, message(stamp=3))[1:3] == ([1, 2, 3], [4, 5, 6])


def test_messages_without_any_joint_of_the_robot_are_passed_over():
    assert process(assembler(), message(["finger"], (0.1,), (0.0,))) is None
    assert process(assembler(), message([], (), ())) is None


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (message("abca", (1.0,) * 4, (1.0,) * 4), "name: joint named twice: 'a'"),
        (message(position=(1.0, 2.0)), "position: wrong length: expected 3 .* got 2"),
        (message(position=()), "position: wrong length: expected 3 .* got 0"),
        (message(velocity=(1.0,) * 4), "velocity: wrong length: expected 3 .* got 4"),
        (message(velocity=()), "velocity: empty: expected velocities, or the parameter states.estimate"),
        (message(position=(1.0, np.nan, 3.0)), "position: not finite: joint 'b' has nan"),
        (message(velocity=(1.0, 2.0, -np.inf)), "velocity: not finite: joint 'c' has -inf"),
        (message("ab", (1.0, 2.0), (3.0, 4.0)), "name: joint missing: 'c' is not in it, and was never seen"),
    ],
)
def test_a_message_that_cannot_be_used_is_rejected_by_name_and_leaves_nothing(bad, text):
    taker = assembler()
    rejected(taker, bad, text)
    assert process(taker, message())[1:3] == ([1, 2, 3], [4, 5, 6])


def test_the_effort_of_a_state_is_none_unless_all_joints_have_one():
    taker = assembler()
    assert process(taker, message(stamp=1)).effort is None
    assert process(taker, message(stamp=2, effort=(7.0, 8.0, 9.0))).effort == [7, 8, 9]
    assert process(taker, message(stamp=3, effort=(7.0,))).effort is None


def test_efforts_are_multiplied_by_their_gains_in_the_order_of_the_model():
    taker = assembler(effort_gain=(10.0, -1.0, 0.5))
    assert process(taker, message("cab", effort=(7.0, 8.0, 9.0))).effort == [80.0, -9.0, 3.5]


def test_some_of_the_joints_are_merged_with_the_newest_of_the_others_while_these_are_young():
    taker = assembler(merge_timeout=0.1)
    rejected(taker, message("a", (1.0,), (4.0,), stamp=1.0), "joint missing: 'b'", now=1.0)
    process(taker, message(stamp=1.01), now=1.01)
    part = process(taker, message("ca", (30.0, 10.0), (60.0, 40.0), stamp=1.05), now=1.05)
    assert part[1:3] == ([10, 2, 30], [40, 5, 60])
    assert part.stamp == 1_050_000_000
    late = message("ca", (0.0, 0.0), (0.0, 0.0), stamp=1.2)
    rejected(taker, late, "'b' is not in it, and was last seen 0.190 s", 1.2)
    assert process(taker, message("b", (2.5,), (0.0,), stamp=1.21), now=1.21)[1] == [0, 2.5, 0]


def test_parts_become_a_state_though_no_whole_message_ever_came():
    taker = assembler(merge_timeout=0.1)
    rejected(taker, message("a", (1.0,), (4.0,), stamp=1.0), "joint missing: 'b' is not in it, and was never seen", 1.0)
    rejected(taker, message("b", (2.0,), (5.0,), stamp=1.0), "joint missing: 'c'", 1.0)
    assert process(taker, message("c", (3.0,), (6.0,), stamp=1.0), 1.0)[1:3] == ([1, 2, 3], [4, 5, 6])


def test_parts_become_states_again_after_all_were_silent():
    taker = assembler(merge_timeout=0.1)
    for t in (1.0, 2.0):
        rejected(taker, message("ab", (1.0, 2.0), (4.0, 5.0), stamp=t), "joint missing: 'c'", t)
        assert process(taker, message("c", (t,), (6.0,), stamp=t), t).q == [1, 2, t]


def test_stamps_of_parts_increase_each_by_themselves():
    """The drivers of two parts measure at times of their own."""
    taker = assembler()
    rejected(taker, message("ab", (1.0, 2.0), (4.0, 5.0), stamp=1.01), "joint missing", 1.01)
    late = process(taker, message("c", (3.0,), (6.0,), stamp=1.0), 1.012)
    assert (late.stamp, late.measured_at) == (1_010_000_000, pytest.approx(1.0))
    rejected(taker, message("c", (3.0,), (6.0,), stamp=1.0), "the same as the last", 1.02)
    rejected(taker, message("ab", (1.0, 2.0), (4.0, 5.0), stamp=1.0), "older than the last", 1.02)


def test_one_stamp_ahead_of_the_clock_does_not_make_the_next_ones_old():
    taker = assembler()
    process(taker, message(stamp=1.0), 1.0)
    ahead = process(taker, message(stamp=1.904), 1.004)
    assert ahead.measured_at == pytest.approx(1.904)
    for i in range(10):
        t = 1.008 + 0.004 * i
        assert process(taker, message(stamp=t), t).measured_at == pytest.approx(t)
    rejected(taker, message(stamp=1.02), "older than the last", 1.05)


def test_stamps_of_a_clock_that_is_always_ahead_must_increase():
    taker = assembler()
    process(taker, message(stamp=1.5), 1.0)
    process(taker, message(stamp=1.504), 1.004)
    rejected(taker, message(stamp=1.502), "older than the last", 1.006)


def test_a_part_with_a_stamp_ahead_of_the_clock_is_not_young_for_longer():
    taker = assembler(merge_timeout=1.0)
    process(taker, message(stamp=1.0), 1.0)
    process(taker, message("c", (3.0,), (6.0,), stamp=1.3), 1.01)
    assert process(taker, message("ab", (1.0, 2.0), (4.0, 5.0), stamp=1.02), 1.02).measured_at < 0.8


def test_a_state_has_a_stamp_where_the_messages_of_all_its_joints_have_one():
    taker = assembler()
    process(taker, message(stamp=1.0), 1.0)
    assert not taker.process(message("c", (3.0,), (6.0,), stamp=0.0), 1.01).stamped
    assert not taker.process(message("ab", (1.0, 2.0), (4.0, 5.0), stamp=1.02), 1.02).stamped
    assert taker.process(message("c", (3.0,), (6.0,), stamp=1.03), 1.03).stamped


def test_a_merged_state_is_as_old_as_its_oldest_joint():
    taker = assembler(merge_timeout=1.0)
    assert process(taker, message(stamp=1.0), now=1.01).measured_at == pytest.approx(1.0)
    assert process(taker, message("ca", (3.0, 1.0), (6.0, 4.0), stamp=1.05), now=1.06).measured_at == pytest.approx(1.0)
    assert process(taker, message("b", (2.0,), (5.0,), stamp=1.1), now=1.11).measured_at == pytest.approx(1.05)


def test_two_halves_of_one_stamp_are_two_states():
    taker = assembler()
    rejected(taker, message("ab", (1.0, 2.0), (4.0, 5.0), stamp=1.0), "joint missing: 'c'")
    process(taker, message(stamp=1.0))
    assert process(taker, message("ab", (1.5, 2.5), (4.0, 5.0), stamp=2.0)).q == [1.5, 2.5, 3.0]
    assert process(taker, message("c", (3.5,), (6.0,), stamp=2.0)).q == [1.5, 2.5, 3.5]


def test_stamps_must_increase_unless_they_go_back_far_which_starts_afresh():
    taker = assembler()
    process(taker, message(stamp=100.0))
    rejected(taker, message(stamp=100.0), "header.stamp: the same as the last")
    rejected(taker, message(stamp=99.5), "header.stamp: older than the last: by 0.5")
    assert taker.process(message(stamp=100.1), 0.0)[1:] == (True, False)
    back = taker.process(message(stamp=5.0), 0.0)
    assert (back.state.stamp, back.restarted) == (5 * 10**9, True)
    rejected(taker, message("a", (1.0,), (4.0,), stamp=1.0), "joint missing")  # all others are of another time


def test_a_message_without_stamp_gets_that_of_its_arrival():
    taker = assembler()
    for _ in range(2):
        assembled = taker.process(message(stamp=0, received=7_250_000_000), 1.0)
        assert assembled.state.stamp == 7_250_000_000
        assert assembled.state.measured_at == 1.0
        assert not assembled.stamped
    assert taker.process(message(stamp=0), 7.5).state.stamp == 7_500_000_000
    assert process(taker, message(stamp=8.0)).stamp == 8 * 10**9


def test_a_state_is_as_old_at_its_arrival_as_its_stamp_is_behind_the_clock():
    state = process(assembler(), message(stamp=1000.0, received=1_000_050_000_000), now=3.0)
    assert state.measured_at == pytest.approx(2.95)


def test_velocities_are_estimated_where_they_are_missing_and_that_is_allowed():
    taker = assembler(estimate_velocity=True)
    rejected(taker, message(velocity=(), stamp=1.0), "velocity: not known yet")
    for i in range(1, 200):
        t = 1 + 0.004 * i
        state = process(taker, message(position=(0.5 * t, -t, 0.0), velocity=(9.0, np.nan, np.inf), stamp=t))
    assert state.qd[0] == 9.0  # what is measured is used
    assert_allclose(state.qd[1:], [-1.0, 0.0], rtol=0, atol=1e-6)


def test_velocities_of_two_halves_of_one_stamp_are_those_of_the_motion():
    taker = assembler(estimate_velocity=True)
    for i in range(1, 100):
        t = 1 + 0.004 * i
        for part in ("ab", "c"):
            try:
                state = process(taker, message(part, (0.5 * t,) * len(part), velocity=(), stamp=t), t)
            except MessageError:
                assert i <= 2
    assert_allclose(state.qd, 0.5, rtol=1e-6)


def test_velocities_of_halves_with_periods_of_their_own_are_those_of_the_motion():
    taker = assembler(estimate_velocity=True)
    for i in range(1, 1000):
        t = 1 + 0.001 * i
        for part, period in (("ab", 3), ("c", 7)):
            if i % period == 0:
                try:
                    state = process(taker, message(part, (0.5 * t,) * len(part), velocity=(), stamp=t), t)
                except MessageError:
                    assert i < 20
    assert_allclose(state.qd, 0.5, rtol=1e-6)


def test_a_huge_position_is_rejected_and_leaves_nothing_in_the_velocities():
    taker = assembler(estimate_velocity=True)
    for i in range(1, 50):
        t = 1 + 0.004 * i
        q = (0.5 * t, 1e308 if i == 20 else 0.0, 0.0)
        if i == 20:
            rejected(taker, message(position=q, velocity=(), stamp=t), "position: too large: joint 'b' has 1e\\+308", t)
        elif i > 1:
            state = process(taker, message(position=q, velocity=(), stamp=t), t)
        else:
            rejected(taker, message(position=q, velocity=(), stamp=t), "not known yet", t)
    assert_allclose(state.qd, [0.5, 0, 0], rtol=0, atol=1e-6)


def test_a_filtered_derivative_lags_by_its_time_constant_and_passes_whole_turns():
    difference = FilteredDerivative(cutoff=5.0, turns=[False, True])
    dt, time_constant = 0.001, 1 / (2 * np.pi * 5.0)
    for i in range(2000):
        t = i * dt
        angle = np.arctan2(np.sin(3 * t), np.cos(3 * t))
        rate = difference.update(t, [t * t, angle])
    assert_allclose(rate, [2 * (t - time_constant), 3.0], rtol=0, atol=2e-3)
    assert difference.update(t + 1.0, [0.0, 0.0]) is None
    assert difference.update(t + 1.001, [0.002, 0.0]) == pytest.approx([2.0, 0.0])
