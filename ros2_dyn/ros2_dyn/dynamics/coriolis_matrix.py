"""The Coriolis matrix for which Mdot - 2 C is skew (Echeandia and Wensing 2021), in RBDA's notation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.passes import joint_transforms, stack_matrix, velocities
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array, cross_force, cross_motion, dot, matvec


def coriolis_matrix(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """``C(q, qd)`` with ``C qd = c(q, qd)`` and ``Mdot = C + C^T``: that of the Christoffel symbols.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., n).
        qd: joint velocities, rad/s or m/s, shape (..., n).

    Returns:
        Shape (..., n, n).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    S = [joint.S for joint in model.joints]
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    S_dot = [cross_motion(v[i], S[i]) for i in range(model.n)]

    # Inwards: inertia, and the matrix B with B v = v x* I v, of each body with all that hangs on it.
    I_c = [I.matrix() for I in model.inertia]
    B_c = [_body_coriolis(I, v_i) for I, v_i in zip(model.inertia, v)]
    for i in reversed(range(model.n)):
        parent = model.lambda_[i]
        if parent != BASE:
            I_c[parent] = I_c[parent] + X[i].dyadic_back(I_c[i])
            B_c[parent] = B_c[parent] + X[i].dyadic_back(B_c[i])

    zero = 0 * (q + qd)[..., 0]
    C = [[zero] * model.n for _ in range(model.n)]
    for j in range(model.n):
        F1 = matvec(I_c[j], S_dot[j]) + matvec(B_c[j], S[j])
        F2 = matvec(I_c[j], S[j])
        F3 = matvec(np.swapaxes(B_c[j], -1, -2), S[j])
        i = j
        C[j][j] = dot(S[j], F1)
        while model.lambda_[i] != BASE:
            F1, F2, F3 = (X[i].force_back(F) for F in (F1, F2, F3))
            i = model.lambda_[i]
            C[i][j] = dot(S[i], F1)
            C[j][i] = dot(S_dot[i], F2) + dot(S[i], F3)
    return stack_matrix(C)


def _body_coriolis(I: SpatialInertia, v: Array) -> Array:
    """``B = 1/2 (v x* I - I v x + (.) x* I v)``, column by column."""
    e = np.eye(6)
    v = v[..., None, :]
    rows = cross_force(v, I.momentum(e)) - I.momentum(cross_motion(v, e)) + cross_force(e, I.momentum(v))
    return np.swapaxes(rows, -1, -2) / 2
