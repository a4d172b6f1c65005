"""What becomes of each kind of message on joint_states: the policy of docs/node.md, message by message."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("sensor_msgs", reason="ROS 2 is not here")

from ros2_dyn.ros.state_intake import IntakePolicy, StateIntake
from sensor_msgs.msg import JointState

from robots import joint, link, robot
from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.model import RobotModel

MODEL = RobotModel.from_urdf(
    robot(
        *(link(name, 1.0) for name in ("base", "one", "two", "three")),
        joint("a", "revolute", "base", "one"),
        joint("b", "revolute", "one", "two"),
        joint("c", "continuous", "two", "three"),
    )
)


def intake(**policy) -> StateIntake:
    return StateIntake(MODEL, IntakePolicy(**policy))


def message(names="abc", position=(1.0, 2.0, 3.0), velocity=(4.0, 5.0, 6.0), stamp=1.0, effort=()) -> JointState:
    state = JointState(name=list(names), position=position, velocity=velocity, effort=effort)
    state.header.stamp.sec, state.header.stamp.nanosec = int(stamp), round(stamp % 1 * 1e9)
    return state


def take(taker: StateIntake, state: JointState, now: float = 0.0, clock: float = 0.0):
    return taker.take(state, now, lambda: round(clock * 1e9))


def refused(taker: StateIntake, state: JointState, text: str, now: float = 0.0) -> None:
    with pytest.raises(MessageError, match=text):
        take(taker, state, now)


def test_joints_are_matched_by_name():
    """In any order, with others besides, which may hold anything; also when the order changes."""
    taker = intake()
    assert take(taker, message(stamp=1))[1:3] == ([1, 2, 3], [4, 5, 6])
    mixed = message("cxab", (3.0, np.nan, 1.0, 2.0), (6.0, np.inf, 4.0, 5.0), stamp=2)
    assert take(taker, mixed)[1:3] == ([1, 2, 3], [4, 5, 6])
    assert take(taker, message(stamp=3))[1:3] == ([1, 2, 3], [4, 5, 6])


def test_messages_of_others_are_passed_over():
    """A gripper that publishes on the same topic is no fault."""
    assert take(intake(), message(["finger"], (0.1,), (0.0,))) is None
    assert take(intake(), message([], (), ())) is None


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (message("abca", (1.0,) * 4, (1.0,) * 4), "name: joint named twice: 'a'"),
        (message(position=(1.0, 2.0)), "position: wrong length: expected 3 .* got 2"),
        (message(position=()), "position: wrong length: expected 3 .* got 0"),
        (message(velocity=(1.0,) * 4), "velocity: wrong length: expected 3 .* got 4"),
        (message(velocity=()), "velocity: empty: expected velocities, or the parameter estimate_velocity"),
        (message(position=(1.0, np.nan, 3.0)), "position: not finite: joint 'b' has nan"),
        (message(velocity=(1.0, 2.0, -np.inf)), "velocity: not finite: joint 'c' has -inf"),
        (message("ab", (1.0, 2.0), (3.0, 4.0)), "name: joint missing: 'c' is not in it, and was never seen"),
    ],
)
def test_a_state_that_cannot_be_used_is_refused_by_name(bad, text):
    """Nothing of it is kept, and the next good one is read as ever."""
    taker = intake()
    refused(taker, bad, text)
    assert take(taker, message())[1:3] == ([1, 2, 3], [4, 5, 6])


def test_an_effort_may_be_missing():
    """It is only compared with the model's."""
    taker = intake()
    assert take(taker, message(stamp=1)).effort is None
    assert take(taker, message(stamp=2, effort=(7.0, 8.0, 9.0))).effort == [7, 8, 9]
    assert take(taker, message(stamp=3, effort=(7.0,))).effort is None


def test_a_part_of_the_joints_is_merged_with_the_newest_of_the_others():
    """Two drivers on one topic, or a driver that sends what changed; while what is known is young enough."""
    taker = intake(merge_timeout=0.1)
    refused(taker, message("a", (1.0,), (4.0,), stamp=1.0), "joint missing: 'b'", now=1.0)
    take(taker, message(stamp=1.01), now=1.01)
    part = take(taker, message("ca", (30.0, 10.0), (60.0, 40.0), stamp=1.05), now=1.05)
    assert part[1:3] == ([10, 2, 30], [40, 5, 60])
    assert part.stamp == (1, 50_000_000)
    refused(taker, message("ca", (0.0, 0.0), (0.0, 0.0), stamp=1.2), "'b' is not in it, and was last seen 0.190 s", 1.2)
    assert take(taker, message("b", (2.5,), (0.0,), stamp=1.13), now=1.13)[1] == [10, 2.5, 30]


def test_two_halves_may_have_the_same_stamp():
    """Each is a new state of the whole."""
    taker = intake()
    refused(taker, message("ab", (1.0, 2.0), (4.0, 5.0), stamp=1.0), "joint missing: 'c'")
    take(taker, message(stamp=1.0))
    assert take(taker, message("ab", (1.5, 2.5), (4.0, 5.0), stamp=2.0)).q == [1.5, 2.5, 3.0]
    assert take(taker, message("c", (3.5,), (6.0,), stamp=2.0)).q == [1.5, 2.5, 3.5]


def test_stamps_must_increase():
    """A repeated one has been computed, an older one comes late; a clock that was set back starts afresh."""
    taker = intake()
    take(taker, message(stamp=100.0))
    refused(taker, message(stamp=100.0), "header.stamp: the same as the last")
    refused(taker, message(stamp=99.5), "header.stamp: older than the last: by 0.5")
    assert take(taker, message(stamp=100.1)).stamp == (100, 100_000_000)
    assert taker.restarts == 0
    assert take(taker, message(stamp=5.0)).stamp == (5, 0)
    assert taker.restarts == 1
    refused(taker, message("a", (1.0,), (4.0,), stamp=1.0), "joint missing")  # all that was known is of another time


def test_a_message_without_stamp_gets_that_of_its_arrival():
    """So that what is published can be shown."""
    taker = intake()
    assert take(taker, message(stamp=0), clock=7.25).stamp == (7, 250_000_000)
    assert take(taker, message(stamp=0), clock=7.25).stamp == (7, 250_000_000)
    assert take(taker, message(stamp=8.0)).stamp == (8, 0)


def test_velocities_are_estimated_only_if_that_is_allowed():
    """Missing or NaN: a filtered difference of the positions, which ends at the true rate."""
    taker = intake(estimate_velocity=True, velocity_cutoff=50.0)
    refused(taker, message(velocity=(), stamp=1.0), "velocity: not known yet")
    for i in range(1, 200):
        t = 1 + 0.004 * i
        state = take(taker, message(position=(0.5 * t, -t, 0.0), velocity=(9.0, np.nan, np.nan), stamp=t))
    assert state.qd[0] == 9.0  # what is measured is used
    assert_allclose(state.qd[1:], [-1.0, 0.0], rtol=0, atol=1e-6)


def test_a_filtered_difference_lags_and_passes_whole_turns():
    """At a ramp it lags by its time constant; a continuous joint may jump from pi to -pi; a gap starts it afresh."""
    difference = FilteredDerivative(cutoff=5.0, turns=[False, True])
    dt, time_constant = 0.001, 1 / (2 * np.pi * 5.0)
    for i in range(2000):
        t = i * dt
        angle = np.arctan2(np.sin(3 * t), np.cos(3 * t))
        rate = difference.update(t, [t * t, angle])
    assert_allclose(rate, [2 * (t - time_constant), 3.0], rtol=0, atol=2e-3)
    assert difference.update(t + 1.0, [0.0, 0.0]) is None
    assert difference.update(t + 1.001, [0.002, 0.0]) == pytest.approx([2.0, 0.0])
