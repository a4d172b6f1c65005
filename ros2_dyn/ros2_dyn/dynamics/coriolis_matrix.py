# SPDX-License-Identifier: Apache-2.0
"""Coriolis matrix for which Mdot - 2 C is skew (Echeandia and Wensing 2021), in RBDA's notation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import joint_transforms, velocities, zeros
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array, Transform, cross_force, cross_motion


def coriolis_matrix(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return ``C(q, qd)`` of the Christoffel symbols, with ``C qd = c(q, qd)`` and ``Mdot = C + C^T``.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).

    Returns:
        Shape (..., n, n).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    S = [joint.S.T for joint in model.joints]  # motions as rows, so that one transform acts on all of them
    S_dot = [cross_motion(v_i[..., None, :], S_i) for v_i, S_i in zip(v, S)]
    I_c, B_c = composites(model, X, v)

    C = zeros((model.n, model.n), q, qd)
    for j, columns in enumerate(model.v_slices):
        F1 = S_dot[j] @ I_c[j] + S[j] @ np.swapaxes(B_c[j], -1, -2)
        F2 = S[j] @ I_c[j]
        F3 = S[j] @ B_c[j]
        C[..., columns, columns] += S[j] @ np.swapaxes(F1, -1, -2)
        i = j
        while model.lambda_[i] != BASE:
            F1, F2, F3 = (X[i].as_rows().force_back(F) for F in (F1, F2, F3))
            i = model.lambda_[i]
            rows = model.v_slices[i]
            C[..., rows, columns] += S[i] @ np.swapaxes(F1, -1, -2)
            C[..., columns, rows] += F2 @ np.swapaxes(S_dot[i], -1, -2) + F3 @ S[i].T
    return C


def composites(model: RobotModel, X: Sequence[Transform], v: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return the composite inertias, and the composite matrices B with ``B v = v x* I v``, both (..., 6, 6).

    Those of a body are the sums over the body and its descendants.
    """
    I_c = [I.matrix() for I in model.inertia]
    B_c = [_body_coriolis(I, v_i) for I, v_i in zip(model.inertia, v)]
    for i in reversed(range(len(v))):
        parent = model.lambda_[i]
        if parent != BASE:
            I_c[parent] = I_c[parent] + X[i].dyadic_back(I_c[i])
            B_c[parent] = B_c[parent] + X[i].dyadic_back(B_c[i])
    return I_c, B_c


def _body_coriolis(I: SpatialInertia, v: Array) -> Array:
    """Return ``B = 1/2 (v x* I - I v x + (.) x* I v)``, column by column."""
    e = np.eye(6)
    v = v[..., None, :]
    rows = cross_force(v, I.momentum(e)) - I.momentum(cross_motion(v, e)) + cross_force(e, I.momentum(v))
    return np.swapaxes(rows, -1, -2) / 2
