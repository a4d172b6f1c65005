"""Which desired state goes with which measured state, in every order that two streams can arrive."""

import pytest

pytest.importorskip("sensor_msgs", reason="ROS 2 is not here")

from ros2_dyn.ros.joint_order import DesiredState, MeasuredState
from ros2_dyn.ros.pairing import Pairing


def measured(stamp):
    return MeasuredState((0, stamp), [0.0], [0.0])


def desired(stamp):
    return DesiredState((0, stamp), None, None, [float(stamp)])


def stamps(pairs):
    """Stamps of measured and desired state of each pair."""
    return [(pair.measured.stamp[1], pair.desired and pair.desired.stamp[1]) for pair in pairs]


@pytest.fixture
def pairing() -> Pairing:
    """With a timeout of 0.1 s."""
    return Pairing(timeout=0.1)


def pair_a_few(pairing):
    """Three pairs with desired states first, which makes a habit."""
    for stamp in (1, 2, 3):
        assert stamps(pairing.desired_arrived(desired(stamp), 0.0)) == []
        assert stamps(pairing.measured_arrived(measured(stamp), 0.0)) == [(stamp, stamp)]


def test_without_desired_states_nothing_waits(pairing):
    """Each measured state goes out alone."""
    assert stamps(pairing.measured_arrived(measured(1), 0.0)) == [(1, None)]


def test_desired_states_that_come_first_are_paired_by_stamp(pairing):
    """Also when newer ones have arrived since."""
    pair_a_few(pairing)
    pairing.desired_arrived(desired(4), 0.0)
    pairing.desired_arrived(desired(5), 0.0)
    assert stamps(pairing.measured_arrived(measured(4), 0.0)) == [(4, 4)]
    assert stamps(pairing.measured_arrived(measured(5), 0.0)) == [(5, 5)]


def test_the_newest_is_used_while_young_enough(pairing):
    """By the time it arrived, as its stamp may be of another clock."""
    pairing.desired_arrived(desired(90), 1.0)
    pairing.desired_arrived(desired(91), 1.0)
    assert stamps(pairing.measured_arrived(measured(1), 1.09)) == [(1, 91)]
    assert stamps(pairing.measured_arrived(measured(2), 1.11)) == [(2, None)]


def test_once_paired_a_measured_state_waits_for_its_desired_state(pairing):
    """The desired state's arrival completes the pair."""
    pair_a_few(pairing)
    assert stamps(pairing.measured_arrived(measured(4), 0.0)) == []
    assert stamps(pairing.desired_arrived(desired(4), 0.0)) == [(4, 4)]
    assert stamps(pairing.measured_arrived(measured(5), 0.0)) == []
    assert stamps(pairing.desired_arrived(desired(5), 0.0)) == [(5, 5)]


def test_a_stream_that_answers_each_state_gets_waited_for(pairing):
    """Desired states computed from the measured ones always come second."""
    for stamp in (1, 2, 3):
        assert len(pairing.measured_arrived(measured(stamp), 0.0)) == 1
        pairing.desired_arrived(desired(stamp), 0.0)
    assert stamps(pairing.measured_arrived(measured(4), 0.0)) == []
    assert stamps(pairing.desired_arrived(desired(4), 0.0)) == [(4, 4)]


def test_a_state_waits_for_one_period_at_most(pairing):
    """When the desired states stop, the held state goes out with the next, and none is held after that."""
    pair_a_few(pairing)
    assert stamps(pairing.measured_arrived(measured(4), 0.05)) == []
    assert stamps(pairing.measured_arrived(measured(5), 0.06)) == [(4, 3), (5, 3)]
    assert stamps(pairing.measured_arrived(measured(6), 0.2)) == [(6, None)]


def test_what_never_finds_its_state_is_forgotten(pairing):
    """Memory stays bounded, and old stamps do not come back."""
    for stamp in range(1000):
        pairing.desired_arrived(desired(stamp), 0.0)
    assert stamps(pairing.measured_arrived(measured(10), 0.0)) == [(10, 999)]
    assert stamps(pairing.measured_arrived(measured(995), 0.0)) == [(995, 995)]
