"""The passes that recursive algorithms are made of: motions outwards, forces inwards (RBDA section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, Transform, cross_motion, join, matvec


def joint_transforms(model: RobotModel, q: Array) -> list[Transform]:
    """``i_X_lambda(i) = X_J(q_i) X_T(i)`` of every body: from its parent's frame to its own, for q (..., nq)."""
    return [
        joint.transform(q[..., where]).after(X_T)
        for joint, where, X_T in zip(model.joints, model.q_slices, model.X_tree)
    ]


def joint_motions(model: RobotModel, qd: Array) -> list[Array]:
    """``S_i qd_i``: how every body moves relative to its parent, (..., 6) in its own frame (RBDA 3.33)."""
    return [matvec(joint.S, qd[..., where]) for joint, where in zip(model.joints, model.v_slices)]


def velocities(model: RobotModel, X: Sequence[Transform], qd: Array) -> list[Array]:
    """The spatial velocity (..., 6) of every body in its own frame, outwards (RBDA 5.16 and 5.18; Craig 5.45, 5.47)."""
    v: list[Array] = []
    for i, vJ in enumerate(joint_motions(model, qd)):
        parent = model.lambda_[i]
        v.append(vJ if parent == BASE else X[i].motion(v[parent]) + vJ)
    return v


def accelerations(
    model: RobotModel, X: Sequence[Transform], v: Sequence[Array], qd: Array, qdd: Array, gravity: Array
) -> list[Array]:
    """The spatial acceleration (..., 6) of every body in its own frame, outwards (RBDA 5.19).

    Gravity (..., 3) is in it as the fictitious acceleration of the base, ``a_0 = -gravity``.
    """
    a: list[Array] = []
    for i, (vJ, aJ) in enumerate(zip(joint_motions(model, qd), joint_motions(model, qdd))):
        parent = model.lambda_[i]
        a.append(X[i].motion(base_acceleration(gravity) if parent == BASE else a[parent]) + aJ + cross_motion(v[i], vJ))
    return a


def base_acceleration(gravity: Array) -> Array:
    """``a_0 = -gravity``, (..., 6): a base that accelerates upwards stands for gravity (RBDA section 5.3)."""
    return join(np.zeros(3), -gravity)


def forces(model: RobotModel, v: Sequence[Array], a: Sequence[Array]) -> list[Array]:
    """The net spatial force (..., 6) on every body, ``f^B = I a + v x* I v``, in its own frame (RBDA 5.9)."""
    return [I.force(v_i, a_i) for I, v_i, a_i in zip(model.inertia, v, a)]


def propagate_forces(model: RobotModel, X: Sequence[Transform], f: Sequence[Array]) -> list[Array]:
    """What each joint transmits: the force on its body and on all that hangs on it, inwards (RBDA 5.20)."""
    f = list(f)
    for i in reversed(range(len(f))):
        parent = model.lambda_[i]
        if parent != BASE:
            f[parent] = f[parent] + X[i].force_back(f[i])
    return f


def project_to_joints(model: RobotModel, f: Sequence[Array]) -> Array:
    """``tau_i = S_i^T f_i``: the part of each joint's force that its motor exerts, (..., n) (RBDA 5.11).

    A motor that moves several joints, because they mimic each other, exerts the sum.
    """
    tau = zeros((model.n,), *f)
    for joint, where, f_i in zip(model.joints, model.v_slices, f):
        tau[..., where] += matvec(joint.S.T, f_i)
    return tau


def zeros(shape: tuple[int, ...], *inputs: Array) -> Array:
    """Zeros (..., *shape), with the leading axes that inputs (..., k) broadcast to, and for numbers like theirs."""
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    return np.zeros((*batch, *shape), np.result_type(*inputs))
