"""The passes that recursive algorithms are made of: motions outwards, forces inwards (RBDA section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, Transform, cross_motion, dot, join


def joint_transforms(model: RobotModel, q: Array) -> list[Transform]:
    """``i_X_lambda(i) = X_J(q_i) X_T(i)`` of every body: from its parent's frame to its own, for q (..., n)."""
    return [joint.transform(q[..., i]).after(model.X_tree[i]) for i, joint in enumerate(model.joints)]


def velocities(model: RobotModel, X: Sequence[Transform], qd: Array) -> list[Array]:
    """The spatial velocity (..., 6) of every body in its own frame, outwards (RBDA 5.16 and 5.18; Craig 5.45, 5.47)."""
    v: list[Array] = []
    for i, parent in enumerate(model.lambda_):
        vJ = model.joints[i].S * qd[..., i, None]
        v.append(vJ if parent == BASE else X[i].motion(v[parent]) + vJ)
    return v


def accelerations(
    model: RobotModel, X: Sequence[Transform], v: Sequence[Array], qd: Array, qdd: Array, a_g: Array
) -> list[Array]:
    """The spatial acceleration (..., 6) of every body in its own frame, outwards (RBDA 5.19).

    Gravity a_g (..., 3) is in it as the fictitious acceleration of the base, ``a_0 = -a_g``.
    """
    a0 = join(np.zeros(3), -a_g)
    a: list[Array] = []
    for i, parent in enumerate(model.lambda_):
        S = model.joints[i].S
        vJ = S * qd[..., i, None]
        a.append(X[i].motion(a0 if parent == BASE else a[parent]) + S * qdd[..., i, None] + cross_motion(v[i], vJ))
    return a


def forces(model: RobotModel, v: Sequence[Array], a: Sequence[Array]) -> list[Array]:
    """The net spatial force (..., 6) on every body, ``f^B = I a + v x* I v``, in its own frame (RBDA 5.9)."""
    return [I.force(v_i, a_i) for I, v_i, a_i in zip(model.inertia, v, a)]


def carry_inwards(model: RobotModel, X: Sequence[Transform], f: Sequence[Array]) -> list[Array]:
    """What each joint transmits: the force on its body and on all that hangs on it, inwards (RBDA 5.20)."""
    f = list(f)
    for i in reversed(range(model.n)):
        parent = model.lambda_[i]
        if parent != BASE:
            f[parent] = f[parent] + X[i].force_back(f[i])
    return f


def stack_matrix(rows: Sequence[Sequence[Array]]) -> Array:
    """The matrix (..., m, n) of m rows of n numbers, each an array (...); their batch axes broadcast."""
    entries = np.broadcast_arrays(*(entry for row in rows for entry in row))
    return np.stack(entries, axis=-1).reshape(*entries[0].shape, len(rows), -1)


def along_axes(model: RobotModel, f: Sequence[Array]) -> Array:
    """``tau_i = S_i^T f_i``: the component of each joint's force that its motor exerts, (..., n) (RBDA 5.11)."""
    tau = [dot(joint.S, f_i) for joint, f_i in zip(model.joints, f)]
    return np.stack(np.broadcast_arrays(*tau), axis=-1)
