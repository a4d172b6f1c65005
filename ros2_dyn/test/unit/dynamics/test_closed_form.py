# SPDX-License-Identifier: Apache-2.0
"""Coefficients of the equation of motion, H qdd + C_ijk qd_j qd_k + g (RBDA 5.6), and the Christoffel symbols."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import general_tree, mock_arm, planar_2r, random_positions, random_state, random_tree
from ros2_dyn.dynamics import christoffel, closed_form, coriolis, mass_matrix, rnea
from ros2_dyn.model import RobotModel

L1, L2, M1, M2 = 0.7, 0.4, 3.0, 2.0


def test_closed_form_of_the_2r_arm_is_that_of_the_lagrangian():
    model = RobotModel.from_urdf(planar_2r(L1, L2, {"mass": M1, "com": (L1, 0, 0)}, {"mass": M2, "com": (L2, 0, 0)}))
    q = [0.3, 0.8]
    H, C, g = closed_form(model, q, (0, -9.81, 0))
    h = M2 * L1 * L2 * np.sin(q[1])
    assert_allclose(C, [[[0, -h], [-h, -h]], [[h, 0], [0, 0]]], rtol=0, atol=1e-12)
    assert_allclose(H[1], [M2 * (L2**2 + L1 * L2 * np.cos(q[1])), M2 * L2**2], rtol=1e-12)
    assert_allclose(g[1], M2 * 9.81 * L2 * np.cos(sum(q)), rtol=1e-12)


@pytest.mark.parametrize("model", [mock_arm(), *(RobotModel.from_urdf(random_tree(seed)) for seed in range(2))])
def test_christoffel_symbols_are_derivatives_of_the_mass_matrix(model):
    """``C_ijk = 1/2 (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i)``, by central differences."""
    q, _, _ = random_state(model, 1)
    steps = 1e-6 * np.eye(model.n)
    dH = np.stack([(mass_matrix(model, q + s) - mass_matrix(model, q - s)) / 2e-6 for s in steps], axis=-1)
    expected = (dH + np.swapaxes(dH, 1, 2) - np.moveaxis(dH, -1, 0)) / 2
    assert_allclose(christoffel(model, q), expected, rtol=0, atol=1e-7 * np.max(np.abs(expected)))


@pytest.mark.parametrize("model", [mock_arm(), general_tree(1)])
def test_closed_form_with_every_joint_type_sums_to_inverse_dynamics(model):
    rng = np.random.default_rng(2)
    q = np.stack([random_positions(model, rng) for _ in range(3)])
    qd, qdd = rng.uniform(-2, 2, size=(2, 3, model.n))
    H, C, g = closed_form(model, q)
    c = np.einsum("bijk,bj,bk->bi", C, qd, qd)
    scale = np.max(np.abs(c))
    assert_allclose(c, coriolis(model, q, qd), rtol=0, atol=1e-10 * scale)
    tau = np.einsum("bij,bj->bi", H, qdd) + c + g
    assert_allclose(tau, rnea(model, q, qd, qdd), rtol=0, atol=1e-10 * scale)
    assert_allclose(C, np.swapaxes(C, -1, -2), rtol=0, atol=1e-12)
