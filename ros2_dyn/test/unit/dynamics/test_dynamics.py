# SPDX-License-Identifier: Apache-2.0
"""Identities of every robot, and the physics along a motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import joint, link, mock_arm, random_state, random_tree, robot
from ros2_dyn.dynamics import (
    coriolis,
    coriolis_matrix,
    coriolis_transpose_qd,
    forward_dynamics,
    forward_kinematics,
    gravity,
    jacobian,
    joint_wrenches,
    kinetic_energy,
    mass_matrix,
    momentum,
    potential_energy,
    rnea,
    static_torque,
)
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel

ROBOTS = {"mock_arm": mock_arm()} | {f"tree_{seed}": RobotModel.from_urdf(random_tree(seed)) for seed in range(4)}


@pytest.fixture(params=ROBOTS)
def model(request) -> RobotModel:
    """Return one of the robots."""
    return ROBOTS[request.param]


def close(a, b, tolerance=1e-10):
    assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.max(np.abs(b))))


def test_inverse_dynamics_is_the_sum_of_its_terms(model):
    """``tau = M qdd + c + g - J^T f``, in a batch."""
    q, qd, qdd = random_state(model, 1, 4)
    tilted, point_link = [1.0, -2.0, -9.0], model.default_tip
    M = mass_matrix(model, q)
    tau = (M @ qdd[..., None])[..., 0] + coriolis(model, q, qd) + gravity(model, q, tilted)
    close(rnea(model, q, qd, qdd, tilted), tau)
    wrench = np.array([10.0, -20.0, 5.0, 1.0, 2.0, -3.0])
    pushed = tau - static_torque(model, q, wrench, frame=point_link)  # in the moving link's own axes
    close(rnea(model, q, qd, qdd, tilted, external={point_link: wrench}), pushed)


def test_gravity_is_the_gradient_of_the_potential_energy(model):
    q, _, _ = random_state(model, 3)
    step = 1e-6
    gradient = [
        (potential_energy(model, q + step * e) - potential_energy(model, q - step * e)) / (2 * step)
        for e in np.eye(model.n)
    ]
    close(gravity(model, q), gradient, 1e-8)


def test_mass_matrix_rate_less_twice_the_coriolis_matrix_is_skew(model):
    """``Mdot = C + C^T``, with ``C qd = c``."""
    q, qd, _ = random_state(model, 6)
    C = coriolis_matrix(model, q, qd)
    close(C @ qd, coriolis(model, q, qd))
    step = 1e-6
    M_dot = (mass_matrix(model, q + step * qd) - mass_matrix(model, q - step * qd)) / (2 * step)
    close(C + C.T, M_dot, 1e-8)


def test_forward_dynamics_with_gravity_and_wrenches_inverts_inverse_dynamics(model):
    q, qd, qdd = random_state(model, 7, 2, 3)
    tilted, external = [1.0, -2.0, -9.0], {model.default_tip: [10.0, -20.0, 5.0, 1.0, 2.0, -3.0]}
    tau = rnea(model, q, qd, qdd, tilted, external=external)
    close(forward_dynamics(model, q, qd, tau, tilted, external=external), qdd)


def test_momentum_is_mass_matrix_times_velocity(model):
    q, qd, _ = random_state(model, 8, 4)
    close(momentum(model, q, qd), (mass_matrix(model, q) @ qd[..., None])[..., 0])


def test_coriolis_transpose_qd_is_that_of_the_matrix_and_the_gradient_of_kinetic_energy(model):
    """``d/dt p = tau - g + C^T qd``, and ``C^T qd = dT/dq``."""
    q, qd, _ = random_state(model, 8, 4)
    C = coriolis_matrix(model, q, qd)
    close(coriolis_transpose_qd(model, q, qd), (np.swapaxes(C, -1, -2) @ qd[..., None])[..., 0])
    step = 1e-6 * np.eye(model.n)
    T = [kinetic_energy(model, q[0] + sign * step, np.tile(qd[0], (model.n, 1))) for sign in (1, -1)]
    close(coriolis_transpose_qd(model, q[0], qd[0]), (T[0] - T[1]) / 2e-6, 1e-7)


def test_joint_wrenches_have_the_effort_along_the_axis_and_carry_the_weight(model):
    q, qd, qdd = random_state(model, 10)
    f = joint_wrenches(model, q, qd, qdd)
    axes = np.array([np.roll(joint.S[:, 0], 3) for joint in model.joints])  # linear first
    close(np.sum(axes * f, axis=-1), rnea(model, q, qd, qdd))
    at_rest = joint_wrenches(model, q, 0 * q, 0 * q)
    on_base = [i for i, parent in enumerate(model.lambda_) if parent == -1]
    force = sum(
        forward_kinematics(model, q, link)[:3, :3] @ at_rest[i, :3]
        for i in on_base
        for link in [next(name for name, place in model.links.items() if place.body == i)]
    )
    close(force, [0, 0, 9.81 * sum(I.mass for I in model.inertia)])


def test_gravity_efforts_are_linear_in_the_gravity_vector(model):
    q, _, _ = random_state(model, 5)
    close(gravity(model, q, [0, 0, 9.81]), -gravity(model, q))
    x, y, z = (gravity(model, q, 9.81 * e) for e in np.eye(3))
    close(gravity(model, q, [1.5, -2.0, 7.0]), (1.5 * x - 2.0 * y + 7.0 * z) / 9.81)


def test_body_behind_a_fixed_joint_is_lumped_into_its_parent_body():
    """``tau = m g r`` for a mass at distance r from a horizontal axis."""
    arm = robot(
        link("base", mass=5.0, com=(0, 0, 1)),
        link("arm"),
        link("tool", mass=2.0, com=(0.1, 0, 0)),
        joint("hinge", "revolute", "base", "arm", axis=(0, 1, 0)),
        joint("mount", "fixed", "arm", "tool", xyz=(0.5, 0, 0), rpy=(0, 0, np.pi)),
    )
    model = RobotModel.from_urdf(arm)
    close(gravity(model, [0.0]), [-2.0 * 9.81 * 0.4])
    close(mass_matrix(model, [0.0]), [[2.0 * 0.4**2]])
    assert model.base_inertia.mass == 5.0
    close(model.base_inertia.com, [0, 0, 1])


def test_prismatic_joint_carries_its_load_and_moves_along_its_axis():
    """``tau = m (g + qdd)`` upwards."""
    lift = robot(link("base"), link("cart", mass=3.0), joint("lift", "prismatic", "base", "cart"))
    model = RobotModel.from_urdf(lift)
    close(rnea(model, [0.2], [0.5], [2.0]), [3.0 * (9.81 + 2.0)])
    close(jacobian(model, [0.2])[:, 0], [0, 0, 1, 0, 0, 0])


def test_wrong_input_raises_error_that_names_the_argument():
    model, zero = ROBOTS["mock_arm"], np.zeros(6)
    with pytest.raises(InputError, match=r"qd: expected shape \(\.\.\., 6\), got \(3,\)"):
        rnea(model, zero, np.zeros(3), zero)
    with pytest.raises(InputError, match="qdd: expected finite numbers"):
        rnea(model, zero, zero, [np.inf] * 6)
    with pytest.raises(InputError, match=r"gravity: expected shape \(\.\.\., 3\), got \(\)"):
        gravity(model, zero, 9.81)
    with pytest.raises(InputError, match="no link 'hand'"):
        rnea(model, zero, zero, zero, external={"hand": zero})
