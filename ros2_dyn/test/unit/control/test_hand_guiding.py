# SPDX-License-Identifier: Apache-2.0
"""Hand-guiding is the sum of its laws."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from control_states import SEVEN, moving
from ros2_dyn.control.hand_guiding import HandGuidingParameters, assistance, hand_guiding
from ros2_dyn.control.soft_limits import soft_limits
from ros2_dyn.control.tip_friction import Anchor, tip_friction


def test_hand_guiding_is_the_sum_of_its_laws():
    """Weight and damping, its share of the joints' friction, the tip's friction, the hand's help, the walls."""
    state = moving(SEVEN, 2)
    hand = np.array([6.0, 0.0, 8.0, 1.0, 2.0, 3.0])
    lower, upper, effort_limit = state.q - 2.0, state.q + 2.0, np.full(7, 50.0)
    assert state.qd[4] < 0
    lower[4] = state.q[4] - 0.05  # it comes in
    guiding = HandGuidingParameters(damping=3.0, friction=0.6, assistance=1.5, deadband=4.0, margin=0.1, bandwidth=20.0)
    anchor = Anchor(state.pose[:3, 3] + 2e-3, state.pose[:3, :3])  # it slides, so that the anchor follows
    held, next_anchor = tip_friction(state, anchor, guiding.tip)
    expected = state.gravity - 3.0 * state.M @ state.qd + 0.6 * state.friction + held
    expected = expected + 1.5 * 0.6 * hand @ state.J  # 10 N, of which 4 do not count
    wall = soft_limits(state, lower, upper, effort_limit, 0.1, 20.0)
    assert np.count_nonzero(wall) == 1
    tau, after = hand_guiding(state, anchor, guiding, lower, upper, effort_limit, hand)
    assert_allclose(tau, expected + wall, rtol=0, atol=1e-10)
    assert_array_equal(after.position, next_anchor.position)
    assert_array_equal(after.rotation, next_anchor.rotation)
    unknown, _ = hand_guiding(state, anchor, guiding, lower, upper, effort_limit)
    assert_allclose(tau - unknown, 0.9 * hand @ state.J, rtol=0, atol=1e-10)


def test_assistance_is_proportional_beyond_its_deadband():
    """Nothing up to it, no step there, then in proportion; along the hand's own force, with its share of the moment."""
    hand = np.array([3.0, 0.0, -4.0, 0.5, -1.0, 0.2])  # 5 N
    for deadband in (5.0, 6.0, inf):
        assert_array_equal(assistance(hand, 2.0, deadband), 0)
    assert_allclose(assistance(hand, 2.0, 5.0 - 1e-9), 0, atol=1e-8)
    for gain, deadband in ((1.0, 0.0), (2.0, 3.0), (0.5, 4.0)):
        assert_allclose(assistance(hand, gain, deadband), gain * (5.0 - deadband) / 5.0 * hand, rtol=1e-12)
    assert_array_equal(assistance([0, 0, 0, 1, 2, 3], 2.0, 0.0), 0)
