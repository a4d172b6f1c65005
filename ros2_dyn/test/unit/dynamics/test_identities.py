"""Identities of rigid-body dynamics for whatever robot and state hypothesis comes up with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import general_tree, random_positions, random_tree
from ros2_dyn import dynamics
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis (pip install hypothesis) is not installed")
st = hypothesis.strategies

TREES = [RobotModel.from_urdf(random_tree(seed)) for seed in range(8)] + [general_tree(seed) for seed in range(8)]
numbers = st.integers(0, 2**32 - 1)
robots = st.sampled_from(TREES)
speeds = st.sampled_from([0.0, 1e-3, 1.0, 30.0])


def given(**strategies):
    """The same examples each time: a failure is a failure for everybody."""

    def decorate(test):
        settings = hypothesis.settings(max_examples=30, deadline=None, derandomize=True, database=None)
        return settings(hypothesis.given(**strategies)(test))

    return decorate


def state(model: RobotModel, seed: int, speed: float = 1.0):
    """Positions, velocities, accelerations and gravity."""
    rng = np.random.default_rng(seed)
    return random_positions(model, rng), *(speed * rng.uniform(-2, 2, size=(2, model.n))), rng.normal(size=3) * 10


def close(a, b, scale=1.0):
    assert_allclose(a, b, rtol=0, atol=1e-9 * max(scale, float(np.max(np.abs(b)))))


@given(model=robots, seed=numbers)
def test_the_mass_matrix_is_symmetric_and_positive(model, seed):
    """And half of what it makes of a velocity is the kinetic energy."""
    q, qd, _, _ = state(model, seed)
    M = dynamics.mass_matrix(model, q)
    assert_allclose(M, M.T, rtol=0, atol=1e-12 * np.max(np.abs(M)))
    assert np.linalg.eigvalsh(M)[0] > 0
    close(dynamics.kinetic_energy(model, q, qd), qd @ M @ qd / 2)


@given(model=robots, seed=numbers, speed=speeds)
def test_inverse_dynamics_is_the_sum_of_its_terms(model, seed, speed):
    """``rnea = M qdd + C qd + g``, and ``C qd`` are the Coriolis efforts."""
    q, qd, qdd, tilted = state(model, seed, speed)
    M, C = dynamics.mass_matrix(model, q), dynamics.coriolis_matrix(model, q, qd)
    close(dynamics.rnea(model, q, qd, qdd, tilted), M @ qdd + C @ qd + dynamics.gravity(model, q, tilted))
    close(dynamics.coriolis(model, q, qd), C @ qd)


@given(model=robots, seed=numbers, speed=speeds)
def test_forward_dynamics_inverts_inverse_dynamics(model, seed, speed):
    """In both directions."""
    q, qd, qdd, tilted = state(model, seed, speed)
    tau = dynamics.rnea(model, q, qd, qdd, tilted)
    found = dynamics.forward_dynamics(model, q, qd, tau, tilted)
    close(dynamics.rnea(model, q, qd, found, tilted), tau)
    condition = np.linalg.cond(dynamics.mass_matrix(model, q))
    assert_allclose(found, qdd, rtol=0, atol=1e-13 * condition * max(1.0, np.max(np.abs(tau))))


@given(model=robots, seed=numbers)
def test_power_balance(model, seed):
    """What the motors and the surroundings put in is what the energies gain: ``qd . tau + f . v = dT/dt + dV/dt``."""
    q, qd, qdd, tilted = state(model, seed)
    push = np.random.default_rng(seed).normal(size=6) * 10
    tau = dynamics.rnea(model, q, qd, qdd, tilted, [dynamics.ExternalWrench(model.default_tip, push, (0.1, 0.2, 0.3))])
    v = dynamics.link_velocity(model, q, qd, point=(0.1, 0.2, 0.3), frame=model.default_tip)
    M, C = dynamics.mass_matrix(model, q), dynamics.coriolis_matrix(model, q, qd)
    dT = qd @ M @ qdd + qd @ (C + C.T) @ qd / 2  # Mdot = C + C^T
    dV = qd @ dynamics.gravity(model, q, tilted)
    close(qd @ tau + push @ v, dT + dV, scale=float(np.max(np.abs(qd * tau))))


@given(model=robots, seed=numbers)
def test_mdot_less_2c_is_skew(model, seed):
    """``Mdot = C + C^T``, where Mdot is what the derivatives of inverse dynamics say: ``sum_k dM/dq_k qd_k``."""
    q, qd, _, _ = state(model, seed)
    zero = np.zeros(model.n)
    # d(M e_j)/dq for each j: the derivative of inverse dynamics with unit acceleration, at rest, without gravity.
    columns = [dynamics.rnea_derivatives(model, q, zero, e, (0, 0, 0)).dtau_dq @ qd for e in np.eye(model.n)]
    Mdot, C = np.stack(columns, axis=-1), dynamics.coriolis_matrix(model, q, qd)
    close(Mdot - 2 * C, -(Mdot - 2 * C).T, scale=float(np.max(np.abs(Mdot))))


@given(model=robots, seed=numbers, speed=speeds)
def test_both_recursions_agree(model, seed, speed):
    """Spatial vectors with spatial accelerations, 3D vectors with classical ones."""
    x = state(model, seed, speed)
    close(dynamics.luh_walker_paul(model, *x), dynamics.rnea(model, *x))


@given(model=robots, seed=numbers)
def test_the_regressors_times_the_parameters_are_the_effort(model, seed):
    """Bodies, rotors, friction and springs."""
    q, qd, qdd, tilted = state(model, seed)
    tau = dynamics.rnea(model, q, qd, qdd, tilted) + dynamics.friction(model, qd) + dynamics.spring(model, q)
    rigid = dynamics.regressor(model, q, qd, qdd, tilted) @ dynamics.inertial_parameters(model)
    close(rigid + dynamics.friction_regressor(model, q, qd, qdd) @ dynamics.friction_parameters(model), tau)


@given(model=robots, seed=numbers)
def test_a_wrench_may_be_shifted_along_its_body(model, seed):
    """The same wrench about another point takes the same efforts, and so does the same wrench in other axes."""
    q, qd, qdd, tilted = state(model, seed)
    rng = np.random.default_rng(seed)
    push, point = rng.normal(size=6) * 10, rng.normal(size=3)
    for frame in (None, model.base_link):
        at_origin = [dynamics.ExternalWrench(model.default_tip, push, frame=frame)]
        to_link = dynamics.forward_kinematics(model, q)[:3, :3].T if frame else np.eye(3)
        elsewhere = to_link @ point  # the shift is written in the wrench's axes, the point in the link's
        shifted = [dynamics.ExternalWrench(model.default_tip, dynamics.shift_wrench(push, point), elsewhere, frame)]
        close(dynamics.rnea(model, q, qd, qdd, tilted, shifted), dynamics.rnea(model, q, qd, qdd, tilted, at_origin))


@given(model=robots, seed=numbers)
def test_power_does_not_depend_on_the_axes(model, seed):
    """Force times velocity, both written in the axes of any link, is effort times joint velocity."""
    q, qd, _, _ = state(model, seed)
    push = np.random.default_rng(seed).normal(size=6)
    for frame in (None, model.default_tip, model.link_names[-1]):
        v = dynamics.link_velocity(model, q, qd, frame=frame)
        close(push @ v, dynamics.static_torque(model, q, push, frame=frame) @ qd)


@given(model=st.sampled_from(TREES[::4]), seed=numbers)
def test_kernels_compute_what_the_book_computes(model, seed):
    """For joints of every type, friction and springs among the outputs."""
    q, qd, qdd, tilted = state(model, seed)
    kernel = compile_kernel(model, ("tau", "qdd", "coriolis_matrix", "friction"), "python")
    tau = dynamics.rnea(model, q, qd, qdd, tilted)
    results = kernel(q, qd, qdd, tau, tilted)
    close(results[0], tau)
    close(dynamics.rnea(model, q, qd, np.array(results[1]), tilted), tau)
    close(results[2], dynamics.coriolis_matrix(model, q, qd))
    close(results[3], dynamics.friction(model, qd))
