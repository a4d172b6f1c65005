# SPDX-License-Identifier: Apache-2.0
"""A joint that swings, against motors on springs, late dampers, and motions that are no swing."""

from __future__ import annotations

import numpy as np
import pytest

from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.control.swing import LONGEST_PERIOD, MEMORY, Swing

PERIOD = 0.004


def seen(velocities) -> Swing:
    """Return what was made of velocities, rad/s, shape (m, n), at 250 Hz."""
    swing = Swing()
    for k, qd in enumerate(velocities):
        swing.on_state(qd, PERIOD * k)
    return swing


def speed_of_an_elastic_joint(resonance: float, inertia: float, watched: bool) -> float:
    """Return the speed of a link, rad/s, that is damped by its motor and was pushed 3 s before.

    Args:
        resonance: at which the link swings against its motor, Hz.
        inertia: of the motor beside that of the link.
        watched: whether the damper knows of the swing.
    """
    swing, h = Swing(), 2e-4
    reduced = inertia / (1 + inertia)
    k = reduced * (2 * np.pi * resonance) ** 2
    d = 2 * 0.03 * np.sqrt(k * reduced)
    link, motor, effort, fastest = np.array([0.0, 1.0]), np.zeros(2), 0.0, 0.0
    for i in range(round(3.0 / h)):
        if i % round(PERIOD / h) == 0:
            swing.on_state(link[1:], i * h)
            loop = SampledLoop(PERIOD, swing.delay if watched else 0.0)
            effort = -loop.rate(15.0) * (1 + inertia) * link[1]
        pull = k * (motor[0] - link[0]) + d * (motor[1] - link[1])
        link[1] += h * pull
        motor[1] += h * (effort - pull) / inertia
        link[0], motor[0] = link[0] + h * link[1], motor[0] + h * motor[1]
        fastest = max(fastest, abs(link[1])) if i * h > 2.8 else 0.0
    return fastest


@pytest.mark.parametrize("inertia", [0.3, 1.0])
@pytest.mark.parametrize("resonance", [12.0, 16.0, 20.0, 30.0])
def test_damper_at_the_motor_of_an_elastic_joint_becomes_softer_until_the_link_does_not_swing(resonance, inertia):
    assert speed_of_an_elastic_joint(resonance, inertia, watched=False) > 2.0
    assert speed_of_an_elastic_joint(resonance, inertia, watched=True) < 0.3


@pytest.mark.parametrize("delay", [0.01, 0.03, 0.06])
def test_damper_that_is_late_counts_as_later_than_it_is(delay):
    """It swings on with a period of four times its delay."""
    t = PERIOD * np.arange(200)
    assert delay < seen(np.sin(2 * np.pi * t / (4 * delay))[:, None]).delay <= LONGEST_PERIOD


def test_damper_that_makes_a_joint_swing_about_a_motion_counts_as_late():
    """As one that is stronger than the joint bears, because a payload is told that is not there."""
    t = PERIOD * np.arange(100)
    assert seen((-1.0 + 0.4 * np.sin(2 * np.pi * 15.0 * t))[:, None]).delay > 0.03
    assert seen((-1.0 + 0.1 * np.sin(2 * np.pi * 15.0 * t))[:, None]).delay == 0.0


@pytest.mark.parametrize("mean", [0.0, 0.1, 0.2, 0.3, -0.2])
def test_swing_about_a_slow_motion_is_found_though_every_second_extreme_is_slow(mean):
    t = PERIOD * np.arange(100)
    assert seen((mean + 0.25 * np.sin(2 * np.pi * 15.0 * t))[:, None]).delay > 0.03
    assert seen((mean + 0.15 * np.sin(2 * np.pi * 15.0 * t))[:, None]).delay == 0.0


def test_motion_to_and_fro_that_a_hand_can_lead_is_no_swing():
    t = PERIOD * np.arange(1000)
    assert seen(np.column_stack([3.0 * np.sin(2 * np.pi * f * t) for f in (0.5, 2.0, 3.5)])).delay == 0.0


def test_noise_of_velocities_and_joints_that_turn_one_after_the_other_are_no_swing():
    rng = np.random.default_rng(1)
    assert seen(0.04 * rng.standard_normal((1000, 6))).delay == 0.0
    assert seen(np.resize([1.0, -1.0], (1000, 1))).delay == 0.0
    once = np.ones((12, 6))
    for joint in range(6):
        once[2 * joint :, joint] = -1.0
    assert seen(once).delay == 0.0


def test_swing_is_forgotten():
    swing = seen(np.sin(2 * np.pi * 10.0 * PERIOD * np.arange(100))[:, None])
    found = swing.delay
    assert found > 0.05
    assert swing.goes_on(100 * PERIOD)
    swing.on_state([0.0], 100 * PERIOD + MEMORY)
    assert swing.delay == pytest.approx(found * np.exp(-1.0), rel=0.01)
    assert not swing.goes_on(100 * PERIOD + MEMORY)
