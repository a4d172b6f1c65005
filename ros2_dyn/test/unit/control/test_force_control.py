# SPDX-License-Identifier: Apache-2.0
"""Force control against statics, Khatib's inverse and closed forms."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from control_states import SEVEN, THREE, exact_motion, moving
from robots import CART, MASS, example_robots
from ros2_dyn.control.arm_state import arm_state
from ros2_dyn.control.force_control import approach_rate, force_control, rate_limited_wrench, tip_part
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.dynamics import (
    gravity,
    static_torque,
)
from ros2_dyn.model import RobotModel


@pytest.fixture(scope="module", params=["chain", "panda"])
def redundant(request) -> RobotModel:
    """Return arms of seven joints."""
    if request.param == "chain":
        return SEVEN
    urdf, joints = "panda_description/urdf/panda.urdf", [f"panda_joint{i}" for i in range(1, 8)]
    if not (example_robots() / urdf).is_file():
        pytest.skip("example-robot-data is not installed")
    return RobotModel.from_urdf_file(example_robots() / urdf).reduced(joints)


@pytest.mark.parametrize("model", [THREE, SEVEN], ids=["three", "seven"])
@pytest.mark.parametrize("seed", range(3))
def test_force_control_at_rest_is_weight_and_static_torque(model, seed):
    """Weight, and the efforts of any wrench; for any damping."""
    q, wrench = np.random.default_rng(seed).uniform(-1, 1, model.n), np.random.default_rng(seed).normal(size=6) * 10
    for tip in (None, "link2"):
        state = arm_state(model, q, np.zeros(model.n), tip)
        expected = gravity(model, q) + static_torque(model, q, wrench, tip)
        assert_allclose(force_control(state, wrench, 100.0, 10.0), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_tip_motion_is_dynamically_decoupled_from_the_posture(redundant, seed):
    """As by Khatib's inverse; the same tip, orthogonal in M, the least kinetic energy of all that move the tip so."""
    state = moving(redundant, seed)
    M, J, qd = state.M, state.J, state.qd
    qd_tip = tip_part(state, state.qd)
    qd_null = qd - qd_tip
    dynamically_consistent = np.linalg.solve(M, J.T) @ np.linalg.inv(J @ np.linalg.solve(M, J.T))
    assert_allclose(qd_tip, dynamically_consistent @ (J @ qd), rtol=0, atol=1e-9)
    assert_allclose(J @ qd_tip, J @ qd, rtol=0, atol=1e-10)
    assert abs(qd_tip @ M @ qd_null) < 1e-10
    assert np.linalg.norm(qd_null) > 1e-3

    free = np.linalg.svd(J)[2][6:]
    for other in (qd, *(qd_tip + x @ free for x in np.random.default_rng(seed).normal(size=(10, 1)))):
        assert_allclose(J @ other, J @ qd, rtol=0, atol=1e-10)
        assert other @ M @ other > qd_tip @ M @ qd_tip


@pytest.mark.parametrize("seed", range(4))
def test_posture_damping_does_not_accelerate_the_tip(redundant, seed):
    """Its damping does not accelerate the tip, and the tip's damping slows it at its rate."""
    state = moving(redundant, seed)
    undamped = force_control(state, np.zeros(6))
    assert_allclose(undamped, state.gravity, rtol=0, atol=1e-12)
    posture = np.linalg.solve(state.M, force_control(state, np.zeros(6), 0.0, 10.0) - undamped)
    assert_allclose(state.J @ posture, 0, atol=1e-9)
    assert posture @ state.M @ state.qd < 0
    tip = np.linalg.solve(state.M, force_control(state, np.zeros(6), 10.0, 0.0) - undamped)
    assert_allclose(state.J @ tip, -10 * state.tip_velocity, rtol=0, atol=1e-9)
    both = np.linalg.solve(state.M, force_control(state, np.zeros(6), 10.0, 10.0) - undamped)
    assert_allclose(both, -10 * state.qd, rtol=0, atol=1e-9)  # all of the momentum, as in gravity compensation


@pytest.mark.parametrize("seed", range(3))
def test_with_three_joints_all_motion_is_tip_motion(seed):
    """Fewer than six joints that each move the tip leave no posture."""
    state = moving(THREE, seed)
    assert_allclose(tip_part(state, state.qd), state.qd, rtol=0, atol=1e-11)
    damped = force_control(state, np.zeros(6), 7.0, 1e3)
    assert_allclose(damped, gravity_compensation(state, 7.0), rtol=0, atol=1e-8)


def test_joints_beyond_the_tip_belong_to_the_posture():
    """A joint whose axis goes through the tip's origin still turns it; one beyond the tip does nothing at all."""
    state = moving(SEVEN, 0, link="link3")
    qd_tip = tip_part(state, state.qd)
    assert_allclose(state.J @ qd_tip, state.tip_velocity, rtol=0, atol=1e-11)
    coupled = np.linalg.solve(state.M[3:, 3:], state.M[3:, :3] @ qd_tip[:3])  # joints 4 to 7 are let go of
    assert_allclose(qd_tip, [*state.qd[:3], *-coupled], rtol=0, atol=1e-10)


def test_force_in_free_space_leads_to_a_terminal_velocity():
    """``v = F / (damping m)``, which it comes to as ``1 - exp(-damping t)``."""
    force, damping = 12.0, 10.0
    wrench = [force, 0, 0, 0, 0, 0]
    times = (0.1, 1.1)
    law = lambda t, q, qd: force_control(arm_state(CART, q, qd), wrench, damping)  # noqa: E731
    for t, (_, qd) in zip(times, exact_motion(CART, law, [0.0], [0.0], times)):
        assert_allclose(qd, force / (damping * MASS) * (1 - np.exp(-damping * t)), rtol=1e-8)


def test_rate_limited_wrench_goes_straight_to_its_target():
    """Straight to the target, the force and the moment each by its own step, and exactly there in the end."""
    target = np.array([3.0, 4.0, 0.0, 0.0, 0.0, -0.5])
    wrench = start = np.array([0.0, 0.0, 12.0, 0.1, 0.0, 0.0])  # the force has 13 N to go
    for k in range(1, 30):
        new = rate_limited_wrench(wrench, target, 0.5, 0.1)
        assert_allclose(np.linalg.norm(new[:3] - wrench[:3]), 0.5 if k <= 26 else 0.0, rtol=0, atol=1e-12)
        assert_allclose(new[:3], start[:3] + min(1.0, k / 26) * (target - start)[:3], rtol=0, atol=1e-12)
        share = min(1.0, k * 0.1 / np.hypot(0.1, 0.5))
        assert_allclose(new[3:], start[3:] + share * (target - start)[3:], rtol=0, atol=1e-12)
        wrench = new
    assert_allclose(wrench, target, rtol=0, atol=1e-13)
    assert_array_equal(rate_limited_wrench(target, target, 0.0, 0.0), target)
    assert_array_equal(rate_limited_wrench(start, target, 0.0, inf), [*start[:3], *target[3:]])
    assert_array_equal(start, [0, 0, 12, 0.1, 0, 0])  # what is given is left alone


def test_rate_limited_wrench_with_a_huge_target_moves_by_its_step_without_overflow():
    target = np.array([3e300, 4e300, 0.0, 0.0, 0.0, 1e300])
    assert_allclose(rate_limited_wrench(np.zeros(6), target, 0.5, 0.1), [0.3, 0.4, 0, 0, 0, 0.1], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_tip_mobility_is_the_acceleration_of_a_resting_tip_under_a_wrench(redundant, seed):
    q, wrench = np.random.default_rng(seed).uniform(-1, 1, redundant.n), np.random.default_rng(seed).normal(size=6)
    state = arm_state(redundant, q, np.zeros(redundant.n))
    qdd = np.linalg.solve(state.M, force_control(state, wrench) - state.gravity)
    assert_allclose(state.mobility[:3] @ wrench, (state.J @ qdd)[:3], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("speed", "rate"), [(-1.0, 1.0), (0.0, 1.0), (0.05, 1.0), (0.075, 0.5), (0.1, 0.0), (0.125, -0.5), (9.0, -1.0)]
)
def test_a_wrench_stays_at_the_approach_speed_and_shrinks_above_it(speed, rate):
    assert approach_rate(speed, 0.1) == pytest.approx(rate)
