# SPDX-License-Identifier: Apache-2.0
"""Identities of rigid-body dynamics for robots and states that hypothesis chooses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import general_tree, random_positions, random_tree
from ros2_dyn import dynamics
from ros2_dyn.model import RobotModel

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis (pip install hypothesis) is not installed")
st = hypothesis.strategies

TREES = [RobotModel.from_urdf(random_tree(seed)) for seed in range(8)] + [general_tree(seed) for seed in range(8)]
numbers = st.integers(0, 2**32 - 1)
robots = st.sampled_from(TREES)
speeds = st.sampled_from([0.0, 1e-3, 1.0, 30.0])


def given(**strategies):
    """Return a decorator like `hypothesis.given` with the same examples in every run."""

    def decorate(test):
        settings = hypothesis.settings(max_examples=15, deadline=None, derandomize=True, database=None)
        return settings(hypothesis.given(**strategies)(test))

    return decorate


def state(model: RobotModel, seed: int, speed: float = 1.0):
    """Return positions, velocities, accelerations and gravity."""
    rng = np.random.default_rng(seed)
    return random_positions(model, rng), *(speed * rng.uniform(-2, 2, size=(2, model.n))), rng.normal(size=3) * 10


def close(a, b, scale=1.0):
    assert_allclose(a, b, rtol=0, atol=1e-9 * max(scale, float(np.max(np.abs(b)))))


@given(model=robots, seed=numbers)
def test_mass_matrix_is_symmetric_positive_and_gives_kinetic_energy_and_momentum(model, seed):
    q, qd, _, _ = state(model, seed)
    M = dynamics.mass_matrix(model, q)
    assert_allclose(M, M.T, rtol=0, atol=1e-12 * np.max(np.abs(M)))
    assert np.linalg.eigvalsh(M)[0] > 0
    close(dynamics.kinetic_energy(model, q, qd), qd @ M @ qd / 2)
    close(dynamics.momentum(model, q, qd), M @ qd)


@given(model=robots, seed=numbers, speed=speeds)
def test_inverse_dynamics_is_the_sum_of_its_terms(model, seed, speed):
    """``rnea = M qdd + C qd + g``."""
    q, qd, qdd, tilted = state(model, seed, speed)
    M, C = dynamics.mass_matrix(model, q), dynamics.coriolis_matrix(model, q, qd)
    close(dynamics.rnea(model, q, qd, qdd, tilted), M @ qdd + C @ qd + dynamics.gravity(model, q, tilted))
    close(dynamics.coriolis(model, q, qd), C @ qd)
    close(dynamics.coriolis_transpose_qd(model, q, qd), C.T @ qd)


@given(model=robots, seed=numbers, speed=speeds)
def test_forward_dynamics_inverts_inverse_dynamics_in_both_directions(model, seed, speed):
    q, qd, qdd, tilted = state(model, seed, speed)
    tau = dynamics.rnea(model, q, qd, qdd, tilted)
    found = dynamics.forward_dynamics(model, q, qd, tau, tilted)
    close(dynamics.rnea(model, q, qd, found, tilted), tau)
    condition = np.linalg.cond(dynamics.mass_matrix(model, q))
    assert_allclose(found, qdd, rtol=0, atol=1e-13 * condition * max(1.0, np.max(np.abs(tau))))


@given(model=robots, seed=numbers)
def test_power_of_motors_and_wrenches_is_the_rate_of_energy(model, seed):
    """``qd . tau + f . v = dT/dt + dV/dt``."""
    q, qd, qdd, tilted = state(model, seed)
    push = np.random.default_rng(seed).normal(size=6) * 10
    tau = dynamics.rnea(
        model, q, qd, qdd, tilted, external=[dynamics.ExternalWrench(model.default_tip, push, (0.1, 0.2, 0.3))]
    )
    v = dynamics.link_velocity(model, q, qd, point=(0.1, 0.2, 0.3), frame=model.default_tip)
    M, C = dynamics.mass_matrix(model, q), dynamics.coriolis_matrix(model, q, qd)
    dT = qd @ M @ qdd + qd @ (C + C.T) @ qd / 2  # Mdot = C + C^T
    dV = qd @ dynamics.gravity(model, q, tilted)
    close(qd @ tau + push @ v, dT + dV, scale=float(np.max(np.abs(qd * tau))))


@given(model=robots, seed=numbers)
def test_mass_matrix_rate_less_twice_the_coriolis_matrix_is_skew(model, seed):
    """Mdot is ``sum_k dM/dq_k qd_k`` from the derivatives of inverse dynamics."""
    q, qd, _, _ = state(model, seed)
    zero = np.zeros(model.n)
    # d(M e_j)/dq for each j: the derivative of inverse dynamics with unit acceleration, at rest, without gravity.
    columns = [dynamics.rnea_derivatives(model, q, zero, e, (0, 0, 0)).dtau_dq @ qd for e in np.eye(model.n)]
    Mdot, C = np.stack(columns, axis=-1), dynamics.coriolis_matrix(model, q, qd)
    close(Mdot - 2 * C, -(Mdot - 2 * C).T, scale=float(np.max(np.abs(Mdot))))


@given(model=robots, seed=numbers, speed=speeds)
def test_3d_recursion_with_a_wrench_agrees_with_the_spatial_one(model, seed, speed):
    x = state(model, seed, speed)
    push = [dynamics.ExternalWrench(model.default_tip, 10 * x[3].repeat(2), (0.1, 0.2, 0.3))]
    close(dynamics.luh_walker_paul(model, *x, external=push), dynamics.rnea(model, *x, external=push))


@given(model=robots, seed=numbers)
def test_regressors_times_parameters_are_the_effort(model, seed):
    q, qd, qdd, tilted = state(model, seed)
    tau = dynamics.rnea(model, q, qd, qdd, tilted) + dynamics.friction(model, qd) + dynamics.spring(model, q)
    rigid = dynamics.regressor(model, q, qd, qdd, tilted) @ dynamics.inertial_parameters(model)
    close(rigid + dynamics.friction_regressor(model, q, qd, qdd) @ dynamics.friction_parameters(model), tau)


@given(model=robots, seed=numbers)
def test_power_of_a_wrench_is_the_same_in_the_axes_of_any_link(model, seed):
    q, qd, _, _ = state(model, seed)
    push = np.random.default_rng(seed).normal(size=6)
    for frame in (None, model.default_tip, model.link_names[-1]):
        v = dynamics.link_velocity(model, q, qd, frame=frame)
        close(push @ v, dynamics.static_torque(model, q, push, frame=frame) @ qd)
