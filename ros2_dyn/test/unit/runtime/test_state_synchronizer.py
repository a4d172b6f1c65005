# SPDX-License-Identifier: Apache-2.0
"""Which desired state goes with which measured state, in every order in which two streams can arrive."""

import pytest

from ros2_dyn.runtime.state_synchronizer import QUEUE_SIZE, StateSynchronizer
from ros2_dyn.runtime.states import DesiredState, MeasuredState


def measured(stamp):
    return MeasuredState(stamp, [0.0], [0.0])


def desired(stamp):
    return DesiredState(stamp, None, None, [float(stamp)])


def stamps(states):
    """Return the stamps of the measured and the desired state of each synchronized state."""
    return [(state.measured.stamp, state.desired and state.desired.stamp) for state in states]


@pytest.fixture
def synchronizer() -> StateSynchronizer:
    """Return one with a timeout of 0.1 s."""
    return StateSynchronizer(timeout=0.1)


def match_a_few(synchronizer):
    """Match three states in a row, desired states first."""
    for stamp in (1, 2, 3):
        assert stamps(synchronizer.on_desired(desired(stamp), 0.0)) == []
        assert stamps(synchronizer.on_measured(measured(stamp), 0.0)) == [(stamp, stamp)]


def test_without_desired_states_nothing_waits(synchronizer):
    assert stamps(synchronizer.on_measured(measured(1), 0.0)) == [(1, None)]
    assert stamps(synchronizer.on_measured(measured(2), 0.0)) == [(2, None)]


def test_desired_states_that_come_first_are_matched_by_stamp(synchronizer):
    match_a_few(synchronizer)
    synchronizer.on_desired(desired(4), 0.0)
    synchronizer.on_desired(desired(5), 0.0)
    assert stamps(synchronizer.on_measured(measured(4), 0.0)) == [(4, 4)]
    assert stamps(synchronizer.on_measured(measured(5), 0.0)) == [(5, 5)]


def test_the_newest_desired_state_is_used_while_its_arrival_is_young_enough(synchronizer):
    synchronizer.on_desired(desired(90), 1.0)
    synchronizer.on_desired(desired(91), 1.0)
    assert stamps(synchronizer.on_measured(measured(1), 1.09)) == [(1, 91)]
    assert stamps(synchronizer.on_measured(measured(2), 1.11)) == [(2, None)]


def test_after_three_matches_a_measured_state_waits_for_its_desired_state(synchronizer):
    match_a_few(synchronizer)
    assert stamps(synchronizer.on_measured(measured(4), 0.0)) == []
    assert stamps(synchronizer.on_desired(desired(4), 0.0)) == [(4, 4)]
    assert stamps(synchronizer.on_measured(measured(5), 0.0)) == []
    assert stamps(synchronizer.on_desired(desired(5), 0.0)) == [(5, 5)]


def test_desired_states_that_answer_measured_ones_are_waited_for(synchronizer):
    for stamp in (1, 2, 3):
        assert len(synchronizer.on_measured(measured(stamp), 0.0)) == 1
        synchronizer.on_desired(desired(stamp), 0.0)
    assert stamps(synchronizer.on_measured(measured(4), 0.0)) == []
    assert stamps(synchronizer.on_desired(desired(4), 0.0)) == [(4, 4)]


def test_a_measured_state_waits_for_one_period_at_most(synchronizer):
    match_a_few(synchronizer)
    assert stamps(synchronizer.on_measured(measured(4), 0.05)) == []
    assert stamps(synchronizer.on_measured(measured(5), 0.06)) == [(4, 3), (5, 3)]
    assert stamps(synchronizer.on_measured(measured(6), 0.2)) == [(6, None)]


def test_a_state_that_is_not_believed_is_told_at_once(synchronizer):
    match_a_few(synchronizer)
    doubtful = measured(4)._replace(problem="it jumped")
    assert stamps(synchronizer.on_measured(doubtful, 0.0)) == [(4, 3)]
    assert stamps(synchronizer.on_measured(measured(5), 0.0)) == []  # the stream is worth waiting for as before
    assert stamps(synchronizer.on_desired(desired(5), 0.0)) == [(5, 5)]


def test_desired_states_that_never_find_their_state_are_forgotten(synchronizer):
    for stamp in range(1000):
        synchronizer.on_desired(desired(stamp), 0.0)
    assert stamps(synchronizer.on_measured(measured(999 - QUEUE_SIZE), 0.0)) == [(999 - QUEUE_SIZE, 999)]
    assert stamps(synchronizer.on_measured(measured(1000 - QUEUE_SIZE), 0.0)) == [(1000 - QUEUE_SIZE,) * 2]
