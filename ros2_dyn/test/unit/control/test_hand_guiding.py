# SPDX-License-Identifier: Apache-2.0
"""What mode hand_guiding adds to the force of a hand."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from control_states import SEVEN, arm_at
from robots import coupled
from ros2_dyn.control.arm_state import arm_state
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.modes.hand_guiding import HandGuiding, HandGuidingSettings, assistance
from ros2_dyn.model import JointDynamics


def test_assistance_is_proportional_beyond_its_deadband():
    """Nothing up to it, no step there, then in proportion; along the hand's own force, with its share of the moment."""
    hand = np.array([3.0, 0.0, -4.0, 0.5, -1.0, 0.2])  # 5 N
    for deadband in (5.0, 6.0, inf):
        assert_array_equal(assistance(hand, 2.0, deadband), 0)
    assert_allclose(assistance(hand, 2.0, 5.0 - 1e-9), 0, atol=1e-8)
    for gain, deadband in ((1.0, 0.0), (2.0, 3.0), (0.5, 4.0)):
        assert_allclose(assistance(hand, gain, deadband), gain * (5.0 - deadband) / 5.0 * hand, rtol=1e-12)
    assert_array_equal(assistance([0, 0, 0, 1, 2, 3], 2.0, 0.0), 0)


@pytest.mark.parametrize("way", [0.0, 1e-5, 0.1], ids=["caught in motion", "sticking", "sliding and turning"])
@pytest.mark.parametrize("speed", [1e-3, 2.0], ids=["slow", "faster than the tip may be"])
def test_supply_contains_no_damper(way, speed):
    """Of the observer of passivity: what a damper feeds in a late loop would be hidden. It is the same at any speed."""
    q = np.linspace(-0.5, 0.6, 7)
    qd = speed * np.array([0.3, -0.5, 0.1, 0.8, -0.2, 0.4, 0.6])
    laws = []
    for velocity in (qd, 0 * qd):
        mode = HandGuiding(HandGuidingSettings(friction=0.0), 0.0)
        if way:
            mode.step(arm_at(arm_state(SEVEN, q, 0 * qd), 0.0))
        arm = arm_at(arm_state(SEVEN, q + way, velocity), 0.01, commands=CommandSettings(max_tip_speed=0.25))
        laws.append(mode.step(arm))
    moving, resting = laws
    assert_allclose(moving.supply, resting.supply, rtol=1e-12)
    assert_array_equal(resting.effort, resting.supply)
    assert float((moving.effort - moving.supply) @ qd) < 0


def compensation(arm_model, qd):
    """Return what a hand gets against the friction of all drives, and that friction, N m, shape (n,)."""
    given = {"commands": CommandSettings(max_tip_speed=0.25), "robot": SimpleNamespace(model=arm_model)}
    arm = arm_at(arm_state(arm_model, np.zeros(7), qd), **given)
    whole, none = (HandGuiding(HandGuidingSettings(friction=x), 0.0).step(arm).supply for x in (1.0, 0.0))
    return whole - none, arm.state.friction


def test_compensation_of_friction_fades_with_the_speed_of_a_drive_that_turns_with_two_joints():
    """Joints that turn against each other may be fast while the drive hardly turns."""
    drives = {joint.name: JointDynamics(coulomb=float(joint.name == "joint7")) for joint in SEVEN.joints}
    model, rng = coupled(SEVEN.with_joint_dynamics(drives), joint7={"joint6": 0.5}), np.random.default_rng(1)
    for _ in range(50):
        qd = rng.uniform(-1.5, 1.5, 7)
        qd[6] = -0.5 * qd[5] + rng.uniform(-0.05, 0.05)
        given, friction = compensation(model, qd)
        assert_allclose(given, friction, rtol=1e-9, atol=1e-12)
    assert_allclose(compensation(model, [0, 0, 0, 0, 0, 3.0, 0])[0], 0.0, atol=1e-12)  # it is faster than may be led
