"""From messages to arrays: by name, and refused with the joint, the field and the reason."""

import numpy as np
import pytest

pytest.importorskip("sensor_msgs", reason="ROS 2 is not here")

from ros2_dyn.ros.joint_order import JointOrder
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.errors import MessageError


@pytest.fixture
def order() -> JointOrder:
    """Three joints."""
    return JointOrder(["a", "b", "c"])


def state(names="abc", position=(1.0, 2.0, 3.0), velocity=(4.0, 5.0, 6.0)):
    return JointState(name=list(names), position=position, velocity=velocity)


def trajectory(names="abc", positions=(), velocities=(), accelerations=(7.0, 8.0, 9.0)):
    point = JointTrajectoryPoint(positions=positions, velocities=velocities, accelerations=accelerations)
    return JointTrajectory(joint_names=list(names), points=[point])


def test_joints_are_matched_by_name(order):
    """In any order, with others besides; also when the order changes from one message to the next."""
    for _ in range(2):
        assert order.given(state())[1:3] == ([1, 2, 3], [4, 5, 6])
        mixed = order.given(state("cxab", (3.0, 99.0, 1.0, 2.0), (6.0, 99.0, 4.0, 5.0)))
        assert mixed[1:3] == ([1, 2, 3], [4, 5, 6])


def test_what_a_desired_state_leaves_open_is_none(order):
    """So that the measured state can stand in."""
    assert order.desired(trajectory("cab"))[1:] == (None, None, [8, 9, 7])
    full = order.desired(trajectory(positions=(1.0, 2.0, 3.0), velocities=(0.0, 0.0, 0.0)))
    assert full[1:] == ([1, 2, 3], [0, 0, 0], [7, 8, 9])


def test_a_state_in_a_request_may_leave_out_velocities(order):
    """Zero then."""
    assert order.given(state(velocity=())).qd == [0, 0, 0]


def test_extra_joints_may_hold_anything(order):
    """They are none of our business."""
    message = state("abcx", (1.0, 2.0, 3.0, np.nan), (4.0, 5.0, 6.0, np.inf))
    assert order.given(message)[1:3] == ([1, 2, 3], [4, 5, 6])


@pytest.mark.parametrize(
    ("message", "reason", "text"),
    [
        (state("ab", (1.0, 2.0), (3.0, 4.0)), "joint missing", r"name: joint missing: 'c' in \[a, b\]"),
        (state("abca", (1.0,) * 4, (1.0,) * 4), "joint named twice", "name: joint named twice: 'a'"),
        (state(position=(1.0, 2.0)), "wrong length", "position: wrong length: expected 3 .* got 2"),
        (state(velocity=(1.0,) * 4), "wrong length", "velocity: wrong length: expected 3 .* got 4"),
        (state("", (), ()), "joint missing", "'a' in"),
        (state(position=(1.0, np.nan, 3.0)), "not finite", "position: not finite: joint 'b' has nan"),
        (state(velocity=(1.0, 2.0, -np.inf)), "not finite", "velocity: not finite: joint 'c' has -inf"),
    ],
)
def test_a_state_that_cannot_be_used_is_refused_by_name(order, message, reason, text):
    """And the next good one is read as ever."""
    with pytest.raises(MessageError, match=text) as refusal:
        order.given(message)
    assert refusal.value.reason == reason
    assert order.given(state()).q == [1, 2, 3]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (JointTrajectory(joint_names=["a", "b", "c"]), "points: empty: expected one point with accelerations"),
        (trajectory(accelerations=()), r"points\[0\].accelerations: wrong length: expected 3 .* got 0"),
        (trajectory(positions=(1.0,)), r"points\[0\].positions: wrong length"),
        (trajectory("abd"), "name: joint missing: 'c'"),
        (trajectory(accelerations=(1.0, np.inf, 1.0)), "not finite: joint 'b' has inf"),
    ],
)
def test_a_desired_state_that_cannot_be_used_is_refused_by_name(order, message, text):
    """With the field of the point that is wrong."""
    with pytest.raises(MessageError, match=text):
        order.desired(message)
