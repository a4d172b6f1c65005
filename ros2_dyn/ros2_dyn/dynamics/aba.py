"""Forward dynamics: the articulated-body algorithm (RBDA section 7.3, Table 7.1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.passes import joint_transforms, velocities
from ros2_dyn.dynamics.rnea import external_forces
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, cross_force, cross_motion, dot, join, matvec


def forward_dynamics(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    gravity: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
) -> Array:
    """Joint accelerations under given efforts: the inverse of `rnea`, in O(n) and without the mass matrix.

    Args:
        model: the robot. Each of its joints must move some mass.
        q: joint positions, rad or m, shape (..., n).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        tau: joint efforts, N m or N, shape (..., n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.
        external: wrenches that the surroundings exert on links, as in `rnea`.

    Returns:
        Joint accelerations, rad/s^2 or m/s^2, shape (..., n).

    Raises:
        InputError: a shape is wrong, a value is not finite, or `external` names a link that the robot has not.
    """
    q, qd, tau = joint_vectors(model, q=q, qd=qd, tau=tau)
    a_g = gravity_vector(gravity)
    f_ext = external_forces(model, external or {})

    # First pass, outwards: velocities, and what each body would be without the others.
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    c = [cross_motion(v_i, joint.S * qd[..., i, None]) for i, (v_i, joint) in enumerate(zip(v, model.joints))]
    I_A = [I.matrix() for I in model.inertia]
    p_A = [cross_force(v_i, I.momentum(v_i)) - f_i for v_i, I, f_i in zip(v, model.inertia, f_ext)]

    # Second pass, inwards: the inertia and bias force of each body with all that hangs on it by free joints.
    U: list[Array] = [np.zeros(6)] * model.n
    D: list[Array] = [np.zeros(1)] * model.n
    u: list[Array] = [np.zeros(1)] * model.n
    for i in reversed(range(model.n)):
        S, parent = model.joints[i].S, model.lambda_[i]
        U[i] = matvec(I_A[i], S)
        D[i] = dot(S, U[i])[..., None]
        u[i] = tau[..., i, None] - dot(S, p_A[i])[..., None]
        if parent != BASE:
            I_a = I_A[i] - U[i][..., :, None] * (U[i] / D[i])[..., None, :]
            p_a = p_A[i] + matvec(I_a, c[i]) + U[i] * (u[i] / D[i])
            I_A[parent] = I_A[parent] + X[i].dyadic_back(I_a)
            p_A[parent] = p_A[parent] + X[i].force_back(p_a)

    # Third pass, outwards: accelerations.
    a0 = join(np.zeros(3), -a_g)
    a: list[Array] = []
    qdd: list[Array] = []
    for i, (joint, parent) in enumerate(zip(model.joints, model.lambda_)):
        a_i = X[i].motion(a0 if parent == BASE else a[parent]) + c[i]
        qdd.append((u[i] - dot(U[i], a_i)[..., None]) / D[i])
        a.append(a_i + joint.S * qdd[i])
    return np.concatenate(np.broadcast_arrays(*qdd), axis=-1)
