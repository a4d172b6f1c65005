# SPDX-License-Identifier: Apache-2.0
"""Soft walls before joint limits: they push only, and are critically damped."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose

from control_states import SEVEN, exact_motion, made_up, moving
from robots import cart
from ros2_dyn.control.arm_state import arm_state
from ros2_dyn.control.soft_limits import soft_limits

LIMIT, EFFORT, MARGIN, BANDWIDTH = 1.0, 40.0, 0.2, 30.0
HEAVY = 2 * EFFORT / MARGIN / BANDWIDTH**2
"""kg; it would swing slower than the bandwidth on a spring that takes all the effort."""
LIGHT = HEAVY / 4


def walls(q: float, qd: float = 0.0, mass: float = LIGHT, lower: float = -LIMIT, upper: float = LIMIT) -> float:
    """On one joint."""
    return soft_limits(
        made_up(mass, q, qd), [lower], [upper], command_limit=[EFFORT], margin=MARGIN, bandwidth=BANDWIDTH
    )[0]


@pytest.mark.parametrize("mass", [LIGHT, HEAVY])
def test_walls_push_inwards_only(mass):
    """Nothing outside the margin, however fast; never towards the limit; alike on both sides."""
    for qd in (-50.0, -1.0, 0.0, 1.0, 50.0):
        for q in np.linspace(-LIMIT + MARGIN, LIMIT - MARGIN, 9) * (1 - 1e-12):
            assert walls(q, qd, mass) == 0
        for q in LIMIT - MARGIN * np.linspace(-0.5, 0.999, 9):
            assert walls(q, qd, mass) <= 0
            assert_allclose(walls(-q, -qd, mass), -walls(q, qd, mass), rtol=0, atol=1e-10)
    assert walls(LIMIT - 0.5 * MARGIN, -50.0, mass) == 0  # on its way out it is let go, not held


def test_wall_of_a_heavy_joint_takes_the_command_limit_at_the_joint_limit():
    """The spring is linear up to there, and is that of the effort limit."""
    for share in (0.1, 0.5, 1.0):
        assert_allclose(walls(LIMIT - MARGIN + share * MARGIN, 0.0, HEAVY), -share * EFFORT, rtol=1e-12)


def test_wall_of_a_light_joint_has_the_stiffness_of_the_bandwidth():
    """``k = m bandwidth^2``, where m is the joint's inertia with the others free."""
    assert_allclose(walls(LIMIT - MARGIN / 2), -LIGHT * BANDWIDTH**2 * MARGIN / 2, rtol=1e-12)
    M = moving(SEVEN, 5).M
    state = made_up(M, q=[0, 0, 0, LIMIT - 0.1, 0, -LIMIT + 0.05, 0])
    tau = soft_limits(
        state, np.full(7, -LIMIT), np.full(7, LIMIT), command_limit=np.full(7, 1e9), margin=MARGIN, bandwidth=BANDWIDTH
    )
    for i, depth in ((3, -0.1), (5, 0.15)):
        others = [j for j in range(7) if j != i]
        free = M[i, i] - M[i, others] @ np.linalg.solve(M[np.ix_(others, others)], M[others, i])
        assert_allclose(tau[i], free * BANDWIDTH**2 * depth, rtol=1e-10)
    assert np.count_nonzero(tau) == 2


@pytest.mark.parametrize("mass", [LIGHT, HEAVY])
def test_joint_on_a_wall_is_critically_damped(mass):
    """Pressed in and let go, it returns to where a load holds it, as ``(1 + w t) exp(-w t)``: without overshoot."""
    k = min(EFFORT / MARGIN, mass * BANDWIDTH**2)
    model = cart(mass)
    w, rest = np.sqrt(k / mass), LIMIT - 0.5 * MARGIN
    limits = {"command_limit": [EFFORT], "margin": MARGIN, "bandwidth": BANDWIDTH}
    load = k * 0.5 * MARGIN
    law = lambda t, q, qd: load + soft_limits(arm_state(model, q, qd), [-LIMIT], [LIMIT], **limits)  # noqa: E731
    times = 0.03 * np.arange(1, 11)
    for t, (q, _) in zip(times, exact_motion(model, law, [rest + 0.4 * MARGIN], [0.0], times)):
        assert_allclose(q - rest, 0.4 * MARGIN * (1 + w * t) * np.exp(-w * t), rtol=0, atol=1e-8)


def test_wall_damping_grows_from_zero_with_the_depth():
    """A joint that comes in fast meets no step: twice as deep, twice the damper, up to a quarter of the margin."""
    depth, v = 1e-3 * MARGIN, 0.1
    spring, force = -walls(LIMIT - MARGIN + depth), -walls(LIMIT - MARGIN + depth, v)
    assert_allclose(force - spring, 2 * LIGHT * BANDWIDTH * v * 4e-3, rtol=1e-9)
    for share in (0.25, 0.6, 1.0):
        q = LIMIT - MARGIN + share * MARGIN
        assert_allclose(walls(q, v) - walls(q), -2 * LIGHT * BANDWIDTH * v, rtol=1e-9)


def test_walls_of_joints_without_limits_or_with_a_small_range():
    """The one meet no wall; of the other half the range stays free, and the wall is as strong at the limit."""
    assert walls(1e6, lower=-inf, upper=inf) == 0
    assert walls(-1e6, lower=-inf) == 0
    assert_allclose(walls(LIMIT - MARGIN / 2, lower=-inf), walls(LIMIT - MARGIN / 2), rtol=1e-12)
    small, heavy = 0.1, 1e9
    for q in np.linspace(-small / 2, small / 2, 5):
        assert walls(q, lower=-small, upper=small) == 0
    for side in (1, -1):
        assert_allclose(walls(side * small, 0.0, heavy, -small, small), -side * EFFORT, rtol=1e-12)
