# SPDX-License-Identifier: Apache-2.0
"""Steps that the recursive algorithms have in common: motions outwards, forces inwards (RBDA section 5.3).

Lists hold one entry for each body, in its own frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, Transform, cross_motion, join, matvec


def joint_transforms(model: RobotModel, q: Array) -> list[Transform]:
    """Return ``i_X_lambda(i) = X_J(q_i) X_T(i)`` of every body, from its parent's frame, for q (..., nq)."""
    joints = zip(model.joints, model.q_slices, model.X_tree)
    return [joint.transform(q[..., where]).after(X_T) for joint, where, X_T in joints]


def joint_motions(model: RobotModel, qd: Array) -> list[Array]:
    """Return ``S_i qd_i``, the motion (..., 6) of every body relative to its parent (RBDA 3.33)."""
    return [matvec(joint.S, qd[..., where]) for joint, where in zip(model.joints, model.v_slices)]


def velocities(model: RobotModel, X: Sequence[Transform], qd: Array) -> list[Array]:
    """Return the spatial velocity (..., 6) of every body, outwards (RBDA 5.16 and 5.18; Craig 5.45, 5.47)."""
    v: list[Array] = []
    for i, vJ in enumerate(joint_motions(model, qd)):
        parent = model.lambda_[i]
        v.append(vJ if parent == BASE else X[i].motion(v[parent]) + vJ)
    return v


def accelerations(
    model: RobotModel, X: Sequence[Transform], v: Sequence[Array], qd: Array, qdd: Array, *, gravity: Array
) -> list[Array]:
    """Return the spatial acceleration (..., 6) of every body, outwards (RBDA 5.19).

    It includes gravity (..., 3) as a fictitious acceleration of the base.
    """
    a: list[Array] = []
    for i, (vJ, aJ) in enumerate(zip(joint_motions(model, qd), joint_motions(model, qdd))):
        parent = model.lambda_[i]
        a.append(X[i].motion(base_acceleration(gravity) if parent == BASE else a[parent]) + aJ + cross_motion(v[i], vJ))
    return a


def base_acceleration(gravity: Array) -> Array:
    """Return ``a_0 = -gravity``, (..., 6): a base that accelerates upwards is equivalent to gravity (RBDA 5.3)."""
    return join(np.zeros(3), -gravity)


def forces(model: RobotModel, v: Sequence[Array], a: Sequence[Array]) -> list[Array]:
    """Return the net spatial force (..., 6) on every body, ``f^B = I a + v x* I v`` (RBDA 5.9)."""
    return [I.force(v_i, a_i) for I, v_i, a_i in zip(model.inertia, v, a)]


def propagate_forces(model: RobotModel, X: Sequence[Transform], f: Sequence[Array]) -> list[Array]:
    """Return the force (..., 6) through each joint, the sum of those on its body and on all descendants (RBDA 5.20)."""
    f = list(f)
    for i in reversed(range(len(f))):
        parent = model.lambda_[i]
        if parent != BASE:
            f[parent] = f[parent] + X[i].force_back(f[i])
    return f


def project_to_joints(model: RobotModel, f: Sequence[Array]) -> Array:
    """Return ``tau_i = S_i^T f_i``, the components (..., n) of the joints' forces along their axes (RBDA 5.11)."""
    return sum_by_joint(model, [matvec(joint.S.T, f_i) for joint, f_i in zip(model.joints, f)])


def sum_by_joint(model: RobotModel, values: Sequence[Array]) -> Array:
    """Return the joints' values (..., dof) as one vector (..., n); mimic joints add to the joint that they mimic."""
    total = zeros((model.n,), *values)
    for where, value in zip(model.v_slices, values):
        total[..., where] += value
    return total


def zeros(shape: tuple[int, ...], *inputs: Array) -> Array:
    """Return zeros (..., *shape) with the leading axes to which inputs (..., k) broadcast, and of their dtype."""
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    return np.zeros((*batch, *shape), np.result_type(*inputs))
