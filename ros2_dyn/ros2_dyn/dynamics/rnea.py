"""Inverse dynamics: the recursive Newton-Euler algorithm in body coordinates (RBDA section 5.3, Table 5.1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors, vector
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, Transform, cross_force, cross_motion, dot, join, swap


def rnea(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
) -> Array:
    """Joint efforts that give the robot the acceleration qdd: ``tau = M(q) qdd + c(q, qd) + g(q) - J^T f_ext``.

    Source: RBDA Table 5.1, with gravity as the fictitious acceleration of the base, ``a_0 = -a_g``.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., n).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (..., n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.
        external: wrenches that the surroundings exert on links: for a link's name [force; moment], in N and N m, at
            the origin and in the axes of that link's frame, shape (..., 6).

    Returns:
        Joint efforts, N m or N, shape (..., n).

    Raises:
        InputError: a shape is wrong, a value is not finite, or `external` names a link that the robot has not.
    """
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    a_g = gravity_vector(gravity)
    f_ext = _external_forces(model, external or {})

    v0 = np.zeros(6)
    a0 = join(np.zeros(3), -a_g)
    X: list[Transform] = []
    v: list[Array] = []
    a: list[Array] = []
    f: list[Array] = []

    # First pass, outwards: the motion of each body, and the force that it takes (RBDA 5.16 to 5.19, 5.9).
    for i, (joint, parent) in enumerate(zip(model.joints, model.lambda_)):
        X.append(joint.transform(q[..., i]).after(model.X_tree[i]))
        S, I = joint.S, model.inertia[i]
        vJ = S * qd[..., i, None]
        v.append(X[i].motion(v0 if parent == BASE else v[parent]) + vJ)
        a.append(X[i].motion(a0 if parent == BASE else a[parent]) + S * qdd[..., i, None] + cross_motion(v[i], vJ))
        f.append(I.momentum(a[i]) + cross_force(v[i], I.momentum(v[i])) - f_ext[i])

    # Second pass, inwards: each joint carries its body and all that hangs on it (RBDA 5.20, 5.11).
    tau = [f_i[..., 0] for f_i in f]
    for i in reversed(range(model.n)):
        tau[i] = dot(model.joints[i].S, f[i])
        if model.lambda_[i] != BASE:
            f[model.lambda_[i]] = f[model.lambda_[i]] + X[i].force_back(f[i])
    return np.stack(np.broadcast_arrays(*tau), axis=-1)


def gravity(model: RobotModel, q: ArrayLike, gravity: ArrayLike | None = None) -> Array:
    """Joint efforts that carry the robot's weight at rest, ``g(q)``: the recursion with qd = qdd = 0.

    Args, returns and errors are those of `rnea`.
    """
    (q,) = joint_vectors(model, q=q)
    zero = np.zeros(model.n)
    return rnea(model, q, zero, zero, gravity)


def coriolis(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """Coriolis and centrifugal efforts, ``c(q, qd) = C(q, qd) qd``: the recursion with qdd = 0 and no gravity.

    Args, returns and errors are those of `rnea`.
    """
    return rnea(model, q, qd, np.zeros(model.n), gravity=np.zeros(3))


def _external_forces(model: RobotModel, external: Mapping[str, ArrayLike]) -> list[Array]:
    """The spatial force on each body, in its own coordinates."""
    forces: list[Array] = [np.zeros(6)] * model.n
    for link, wrench in external.items():
        body, X = model.placement(link)
        if body != BASE:
            forces[body] = forces[body] + X.force_back(swap(vector(f"external['{link}']", wrench, 6)))
    return forces
