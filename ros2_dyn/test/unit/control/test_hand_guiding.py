# SPDX-License-Identifier: Apache-2.0
"""Hand-guiding is the sum of its laws."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from control_states import SEVEN, arm_at, moving
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.modes.hand_guiding import HandGuiding, HandGuidingSettings, assistance
from ros2_dyn.control.soft_limits import WALL_BANDWIDTH, WALL_WIDTH, soft_limits
from ros2_dyn.control.tip_friction import Anchor, TipFriction, tip_friction


def test_hand_guiding_is_the_sum_of_its_laws():
    """Weight and damping, its share of the joints' friction, the tip's friction, the hand's help, the walls."""
    state = moving(SEVEN, 2)
    hand = np.array([6.0, 0.0, 8.0, 1.0, 2.0, 3.0])
    lower, upper = state.q - 2.0, state.q + 2.0
    assert state.qd[4] < 0
    lower[4] = state.q[4] - 0.05  # it comes in
    commands = CommandSettings(max_tip_speed=10.0)
    told = {"commands": commands, "walls": (lower, upper)}
    parameters = HandGuidingSettings(damping=3.0, friction=0.6, assist_gain=1.5)
    before = state.pose.copy()
    before[:3, 3] += 2e-3  # from there the tip slides
    anchor = Anchor(before[:3, 3], before[:3, :3])
    held, _ = tip_friction(state, anchor, TipFriction())
    expected = state.gravity - 3.0 * state.M @ state.qd + 0.6 * state.friction + held
    expected = expected + 1.5 * 0.5 * hand @ state.J  # 10 N, of which 5 do not count
    wall = soft_limits(state, lower, upper, command_limit=np.full(7, 50.0), margin=WALL_WIDTH, bandwidth=WALL_BANDWIDTH)
    assert np.count_nonzero(wall) == 1

    def effort(external):
        mode = HandGuiding(parameters, 0.0)
        mode.step(arm_at(replace(state, pose=before), 0.0, **told))
        return mode.step(arm_at(state, 0.01, external_wrench=external, **told)).effort

    tau = effort(tuple((hand.reshape(2, 3) @ state.pose[:3, :3]).ravel()))
    assert_allclose(tau, expected + wall, rtol=0, atol=1e-10)
    assert_allclose(tau - effort(()), 0.75 * hand @ state.J, rtol=0, atol=1e-10)


def test_assistance_is_proportional_beyond_its_deadband():
    """Nothing up to it, no step there, then in proportion; along the hand's own force, with its share of the moment."""
    hand = np.array([3.0, 0.0, -4.0, 0.5, -1.0, 0.2])  # 5 N
    for deadband in (5.0, 6.0, inf):
        assert_array_equal(assistance(hand, 2.0, deadband), 0)
    assert_allclose(assistance(hand, 2.0, 5.0 - 1e-9), 0, atol=1e-8)
    for gain, deadband in ((1.0, 0.0), (2.0, 3.0), (0.5, 4.0)):
        assert_allclose(assistance(hand, gain, deadband), gain * (5.0 - deadband) / 5.0 * hand, rtol=1e-12)
    assert_array_equal(assistance([0, 0, 0, 1, 2, 3], 2.0, 0.0), 0)
