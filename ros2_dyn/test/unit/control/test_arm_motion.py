# SPDX-License-Identifier: Apache-2.0
"""Whether an arm is at rest, and how fast it has been, by the positions of its joints."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn.control.stop.motion import ArmMotion


def observed(position, until, period=0.004, memory=0.3) -> ArmMotion:
    """Return what is known of two joints, the first at a position, rad, that is a function of time, s."""
    motion = ArmMotion(memory)
    for k in range(1 + round(until / period)):
        motion.add(k * period, [position(k * period), 0.5])
    return motion


def test_arm_is_not_at_rest_before_it_has_been_seen_long_enough():
    assert not observed(lambda t: 0.0, 0.096).at_rest(0.001, 0.1)
    assert observed(lambda t: 0.0, 0.1).at_rest(0.001, 0.1)


@pytest.mark.parametrize("period", [0.001, 0.004, 0.05])
def test_arm_that_has_stopped_is_at_rest_after_the_time_that_is_asked(period):
    moves = lambda t: 0.1 * min(t, 1.0)  # noqa: E731
    assert not observed(moves, 1.05, period).at_rest(1e-6, 0.1)
    assert observed(moves, 1.15, period).at_rest(1e-6, 0.1)


def test_arm_that_was_not_seen_for_a_while_is_not_at_rest_from_before_it_was_seen_again():
    """It went 0.1 rad meanwhile."""
    motion = observed(lambda t: 0.0, 0.5)
    for k in range(75):
        motion.add(0.7 + 0.004 * k, [0.1, 0.5])
        assert not motion.at_rest(0.003, 0.3)
        assert (motion.speed(0.06)[0] > 0) == (k < 15)
    motion.add(1.0, [0.1, 0.5])
    assert motion.at_rest(0.003, 0.3)


def test_arm_that_swings_is_not_at_rest_where_it_passes_its_middle():
    swings = lambda t: 0.01 * np.sin(2 * np.pi * t / 0.06)  # noqa: E731
    for k in range(16):
        motion = observed(swings, 0.6 + 0.004 * k)
        assert not motion.at_rest(0.003, 0.06)
        assert motion.speed(0.06)[0] > 0.3


@pytest.mark.parametrize("period", [0.001, 0.004, 0.02, 0.1])
def test_speed_is_that_of_the_time_that_is_asked_or_of_the_last_two_states(period):
    assert_allclose(observed(lambda t: -0.4 * t, 0.5, period).speed(0.06), [0.4, 0.0], rtol=1e-9)


def test_speed_is_unknown_before_the_arm_has_been_seen_for_that_time():
    assert observed(lambda t: t, 0.05).speed(0.06) is None
    motion = ArmMotion(0.3)
    assert motion.speed(0.06) is None


def test_state_that_is_older_than_the_one_before_counts_as_one_of_the_same_time():
    motion = observed(lambda t: 0.4 * t, 0.2)
    motion.add(0.1, [0.08, 0.5])
    assert_allclose(motion.speed(0.06), [0.4, 0.0], rtol=1e-9)


def test_positions_of_a_robot_with_other_joints_are_forgotten():
    motion = observed(lambda t: 0.0, 0.5)
    motion.add(0.504, [0.0, 0.0, 0.0])
    assert not motion.at_rest(0.001, 0.1)


def test_motion_of_an_hour_takes_no_more_room_than_one_of_a_second():
    """A joint moves and rests by turns: it is told right all the time."""
    motion = ArmMotion(0.3)
    for k in range(50_000):
        t = 0.004 * k
        motion.add(t, [0.05 * (t // 1.0), 0.5])
        assert motion.at_rest(0.01, 0.3) == (t >= 0.3 and (t < 1.0 or t % 1.0 > 0.3005)) or abs(t % 1.0 - 0.3) < 0.01
