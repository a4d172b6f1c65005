# SPDX-License-Identifier: Apache-2.0
"""From samples to lists in the model's order: by name, and rejected with the joint, the field and the reason."""

import numpy as np
import pytest

from ros2_dyn.errors import MessageError
from ros2_dyn.runtime import DesiredSample, JointSample
from ros2_dyn.runtime.joint_order import JointOrder


@pytest.fixture
def order() -> JointOrder:
    """Return the order of three joints."""
    return JointOrder(["a", "b", "c"])


def state(names="abc", position=(1.0, 2.0, 3.0), velocity=(4.0, 5.0, 6.0)):
    return JointSample(0, tuple(names), position, velocity)


def desired(names="abc", positions=(), velocities=(), accelerations=(7.0, 8.0, 9.0)):
    return DesiredSample(0, tuple(names), positions, velocities, accelerations)


def test_quantities_that_a_desired_state_leaves_out_are_none(order):
    assert order.desired(desired("cab"))[1:] == (None, None, [8, 9, 7])
    full = order.desired(desired(positions=(1.0, 2.0, 3.0), velocities=(0.0, 0.0, 0.0)))
    assert full[1:] == ([1, 2, 3], [0, 0, 0], [7, 8, 9])


def test_velocities_that_a_request_leaves_out_are_zero(order):
    assert order.state(state(velocity=())).qd == [0, 0, 0]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (desired(accelerations=()), r"points\[0\].accelerations: wrong length: expected 3 .* got 0"),
        (desired(positions=(1.0,)), r"points\[0\].positions: wrong length"),
        (desired("abd"), "name: joint missing: 'c'"),
        (desired("abca", accelerations=(1.0,) * 4), "name: joint named twice: 'a'"),
        (desired(accelerations=(1.0, np.inf, 1.0)), "not finite: joint 'b' has inf"),
    ],
)
def test_a_desired_state_that_cannot_be_used_is_rejected_by_name(order, message, text):
    with pytest.raises(MessageError, match=text):
        order.desired(message)
