# SPDX-License-Identifier: Apache-2.0
"""Equation of motion in closed form: H, C_ijk and g (RBDA 5.6), with the Christoffel symbols for C."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.coriolis_matrix import coriolis_matrix
from ros2_dyn.dynamics.crba import mass_matrix
from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.rnea import gravity as gravity_effort
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


class ClosedForm(NamedTuple):
    """Coefficients of ``tau_i = sum_j H_ij qdd_j + sum_jk C_ijk qd_j qd_k + g_i``, at one q."""

    H: Array
    """Mass matrix, shape (..., n, n)."""
    C: Array
    """Christoffel symbols, shape (..., n, n, n), symmetric in j and k."""
    g: Array
    """Efforts that carry the weight, shape (..., n)."""


def closed_form(model: RobotModel, q: ArrayLike, gravity: ArrayLike | None = None) -> ClosedForm:
    """Return the coefficients of the equation of motion, O(n^3) numbers: for small arms, and for study.

    The formulas of one arm are in `compile_kernel(model, ("mass_matrix", "bias")).source`.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    return ClosedForm(mass_matrix(model, q), christoffel(model, q), gravity_effort(model, q, gravity))


def christoffel(model: RobotModel, q: ArrayLike) -> Array:
    """Return the Christoffel symbols of the first kind, ``C_ijk = 1/2 (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i)``.

    The Coriolis matrix of these symbols is linear in qd, so that unit velocities give them one by one.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).

    Returns:
        Shape (..., n, n, n). Where qd is not the rate of q (planar and floating joints), the result is the part that is
        symmetric in j and k, which is all that the equation of motion needs.

    Raises:
        InputError: the shape is wrong or a value is not finite.
    """
    (q,) = joint_vectors(model, q=q)
    C = np.moveaxis(coriolis_matrix(model, q[..., None, :], np.eye(model.n)), -3, -1)
    return (C + np.swapaxes(C, -1, -2)) / 2
