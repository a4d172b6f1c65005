# SPDX-License-Identifier: Apache-2.0
"""The impedance of the tip against potentials, double diagonalisation and closed forms of a mass, spring and damper."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, expm
from scipy.spatial.transform import Rotation

from control_states import SEVEN, Continuous, chain, moving
from ros2_dyn.control.arm_state import ArmState, arm_state
from ros2_dyn.control.cartesian_impedance import (
    bounded_stiffness,
    damping_matrix,
    displacement,
    posture_acceleration,
    stiffness_matrix,
)
from ros2_dyn.control.wrench_approach import APPROACH_SPEED, braking_stiffness
from ros2_dyn.dynamics import forward_kinematics, jacobian, mass_matrix
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import quaternion_from_rotation, rotation_from_quaternion
from ros2_dyn.simulation.simulated_arm import SimulatedArm

SIX = chain(6, *["revolute"] * 6)
STIFFNESS = [400.0, 900.0, 200.0, 30.0, 12.0, 20.0]


def pose(rng: np.random.Generator, angle: float = np.pi) -> np.ndarray:
    """Return a random pose that is turned by up to an angle, rad."""
    made = np.eye(4)
    made[:3, :3] = Rotation.from_rotvec(
        angle * rng.uniform(-1, 1) * (axis := rng.normal(size=3)) / np.linalg.norm(axis)
    ).as_matrix()
    made[:3, 3] = rng.normal(size=3)
    return made


def stiffness(rng: np.random.Generator) -> np.ndarray:
    """Return a stiffness along and about axes of any direction."""
    return stiffness_matrix(rng.uniform(10, 1000, 6), pose(rng)[:3, :3])


@pytest.mark.parametrize("seed", range(20))
def test_quaternion_is_that_of_scipy_with_a_positive_last_component(seed):
    rng = np.random.default_rng(seed)
    R = pose(rng)[:3, :3] if seed % 2 else Rotation.from_rotvec(np.pi * np.eye(3)[seed % 3]).as_matrix()
    quaternion = quaternion_from_rotation(R)
    assert_allclose(rotation_from_quaternion(quaternion), R, rtol=0, atol=1e-14)
    assert quaternion[3] >= 0
    assert_allclose(abs(quaternion @ Rotation.from_matrix(R).as_quat()), 1.0, rtol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_wrench_of_the_spring_is_the_gradient_of_its_potential(seed):
    """By central differences along each translation and about each axis."""
    rng = np.random.default_rng(seed)
    K, at, rest, h = stiffness(rng), pose(rng), pose(rng), 1e-5

    def energy(shift, turn) -> float:
        moved = at.copy()
        moved[:3, 3] += shift
        moved[:3, :3] = Rotation.from_rotvec(turn).as_matrix() @ at[:3, :3]
        return displacement(moved, rest).energy(K)

    steps = h * np.eye(6)
    gradient = [(energy(s[:3], s[3:]) - energy(-s[:3], -s[3:])) / (2 * h) for s in steps]
    assert_allclose(displacement(at, rest).wrench(K), -np.array(gradient), rtol=0, atol=2e-5)


def test_small_displacements_feel_the_stiffness_along_and_about_the_axes_of_the_frame():
    R = Rotation.from_euler("xyz", [0.3, -0.8, 1.9]).as_matrix()
    K, rest = stiffness_matrix(STIFFNESS, R), np.eye(4)
    for i, k in enumerate(STIFFNESS):
        at, size = np.eye(4), 1e-4
        if i < 3:
            at[:3, 3] = size * R[:, i]
        else:
            at[:3, :3] = Rotation.from_rotvec(size * R[:, i - 3]).as_matrix()
        expected = np.zeros(6)
        expected[3 * (i // 3) : 3 * (i // 3) + 3] = -k * size * R[:, i % 3]
        assert_allclose(displacement(at, rest).wrench(K), expected, rtol=0, atol=1e-7 * k)


@pytest.mark.parametrize("seed", range(4))
def test_damping_is_the_double_diagonalisation_of_albu_schaeffer(seed):
    """``D = 2 zeta Q sqrt(lambda) Q^T`` of the inertia ``Q Q^T`` and ``K = Q lambda Q^T``, with six joints."""
    state, rng = moving(SIX, seed), np.random.default_rng(seed)
    K, ratio = stiffness(rng), 0.7
    inertia = np.linalg.inv(state.J @ np.linalg.solve(state.M, state.J.T))
    squared, X = eigh(K, inertia)  # X^T inertia X = 1
    Q = np.linalg.inv(X).T
    expected = state.J.T @ (2 * ratio * (Q * np.sqrt(squared)) @ Q.T) @ state.J
    assert_allclose(
        damping_matrix(state, ratio**2 * K, 0.0, np.inf), expected, rtol=0, atol=1e-8 * np.abs(expected).max()
    )


@pytest.mark.parametrize("seed", range(4))
def test_damping_without_a_spring_is_the_least_rate_and_never_more_than_the_most(seed):
    state, K = moving(SEVEN, seed), stiffness(np.random.default_rng(seed))
    rates = eigh(damping_matrix(state, 0 * K, 3.0, 50.0), state.M, eigvals_only=True)
    assert_allclose(rates, 3.0, rtol=1e-9)
    rates = eigh(damping_matrix(state, K, 3.0, 5.0), state.M, eigvals_only=True)
    assert rates[0] == pytest.approx(3.0)  # seven joints, six of them on the spring
    assert rates[-1] == pytest.approx(5.0)
    assert np.all(eigh(damping_matrix(state, K, 3.0, 2.0), state.M, eigvals_only=True) < 2.0 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bandwidth", [1.0, 10.0, 1e4])
def test_no_motion_on_a_bounded_stiffness_is_faster_than_the_bandwidth(seed, bandwidth):
    state, K = moving(SEVEN, seed), stiffness(np.random.default_rng(seed))
    bounded = bounded_stiffness(state, K, bandwidth)
    fastest = eigh(state.J.T @ bounded @ state.J, state.M, eigvals_only=True)[-1]
    assert fastest <= bandwidth**2 * (1 + 1e-9)
    if eigh(state.J.T @ K @ state.J, state.M, eigvals_only=True)[-1] <= bandwidth**2 / 2:
        assert_array_equal(bounded, K)
    assert fastest > 0.2 * min(bandwidth**2, eigh(state.J.T @ K @ state.J, state.M, eigvals_only=True)[-1])


@pytest.mark.parametrize("seed", range(4))
def test_posture_does_not_accelerate_the_tip_and_is_drawn_back(seed):
    state, rng = moving(SEVEN, seed), np.random.default_rng(seed)
    posture = state.q + rng.uniform(-0.5, 0.5, 7)
    qdd = posture_acceleration(state, posture, 2.0)
    assert_allclose(state.J @ qdd, 0, atol=1e-9)
    assert qdd @ state.M @ (posture - state.q) > 0
    assert_array_equal(posture_acceleration(state, state.q, 2.0), np.zeros(7))


# --- motion of a simulated arm


@pytest.mark.parametrize(("seed", "model_error"), [(0, 0.0), (1, 0.05)])
def test_step_of_an_arm_is_the_designed_one_within_5_percent(seed, model_error):
    """A small step in all six directions, beside the linear system of the tip's inertia, the spring and the damper."""
    rng = np.random.default_rng(seed)
    known = SIX
    heavier = [SpatialInertia.from_parameters((1 + model_error) * I.parameters) for I in SIX.inertia]
    real = SIX.with_inertia(heavier)
    q0 = rng.uniform(-1, 1, 6)
    K, ratio = stiffness_matrix(STIFFNESS, pose(rng)[:3, :3]), 0.7
    start = arm_state(known, q0, np.zeros(6))
    direction = np.linalg.solve(start.J, rng.normal(size=6))
    rest = forward_kinematics(known, q0 + 2e-3 * direction / np.linalg.norm(direction))

    def law(t, q, qd):
        state = arm_state(known, q, qd)
        weight = arm_state(real, q, qd).gravity  # what is judged is the impedance
        wrench = displacement(state.pose, rest).wrench(K)
        return weight + wrench @ state.J - damping_matrix(state, ratio**2 * K, 0.0, np.inf) @ state.qd

    frictionless = real.with_joint_dynamics({j.name: type(j.dynamics)() for j in real.joints})
    arm = SimulatedArm(frictionless, Continuous(law), q0, step=2.5e-3)
    inertia, A = np.linalg.inv(start.J @ np.linalg.solve(start.M, start.J.T)), np.zeros((12, 12))
    D = np.linalg.inv(start.J).T @ damping_matrix(start, ratio**2 * K, 0.0, np.inf) @ np.linalg.inv(start.J)
    A[:6, 6:] = np.eye(6)
    A[6:, :6], A[6:, 6:] = -np.linalg.solve(inertia, K), -np.linalg.solve(inertia, D)
    x0 = np.concatenate([displacement(start.pose, rest).x, np.zeros(6)])
    for _ in range(8):
        arm.advance(12)
        x = displacement(forward_kinematics(known, arm.q), rest).x
        expected = (expm(A * arm.t) @ x0)[:6]
        assert_allclose(x, expected, rtol=0, atol=0.05 * np.max(np.abs(x0)))


def test_singular_arm_is_damped_and_drawn_without_a_jump():
    """With an elbow at zero: efforts do not step on the way through it."""
    q = np.zeros(6)
    before: ArmState | None = None
    K = stiffness_matrix([500.0] * 3 + [20.0] * 3, np.eye(3))
    efforts = []
    for elbow in np.linspace(-0.01, 0.01, 41):
        q[2] = elbow
        J, M = jacobian(SIX, q), mass_matrix(SIX, q)
        before = ArmState(q.copy(), np.full(6, 0.3), np.zeros(6), np.zeros(6), M, J, forward_kinematics(SIX, q))
        efforts.append(
            damping_matrix(before, K, 2.0, 500.0) @ before.qd + M @ posture_acceleration(before, q + 0.5, 2.0)
        )
    steps = np.abs(np.diff(efforts, axis=0)).max(axis=0)
    assert np.all(steps < 0.05 * np.abs(efforts).max())


@pytest.mark.parametrize("seed", range(10))
def test_damper_lets_no_wrench_move_a_free_tip_faster_than_its_approach(seed):
    """The velocity at which damping takes the whole wrench is slow, and motions on which it does no work are free."""
    rng = np.random.default_rng(seed)
    state, wrench = moving(SIX, seed), 10 ** rng.uniform(-2, 2) * rng.normal(size=6)
    D = damping_matrix(state, braking_stiffness(state, wrench), 0.0, np.inf)
    effort = wrench @ state.J
    driven = state.response @ wrench
    steady = driven * (effort @ driven) / (driven @ D @ driven)
    assert_allclose(D @ steady, effort, rtol=0, atol=1e-6 * np.abs(effort).max())
    assert np.linalg.norm((state.J @ steady)[:3]) <= APPROACH_SPEED
    idle = rng.normal(size=6)
    idle -= effort * (effort @ idle) / (effort @ effort)
    assert np.abs(D @ idle).max() < 1e-6 * np.abs(D).max() * np.abs(idle).max()
    assert_array_equal(braking_stiffness(state, np.zeros(6)), np.zeros((6, 6)))
