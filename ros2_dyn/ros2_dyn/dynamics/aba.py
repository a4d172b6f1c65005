# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics: the articulated-body algorithm (RBDA section 7.3, Table 7.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.crba import mass_matrix
from ros2_dyn.dynamics.external import External, external_forces
from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.ltdl import solve
from ros2_dyn.dynamics.recursions import base_acceleration, joint_motions, joint_transforms, velocities
from ros2_dyn.dynamics.rnea import rnea
from ros2_dyn.errors import InputError
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, cross_force, cross_motion, matvec


def forward_dynamics(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    gravity: ArrayLike | None = None,
    *,
    external: External | None = None,
) -> Array:
    """Return the joint accelerations under given efforts: the inverse of `rnea`, in O(n), without the mass matrix.

    Friction and springs are not included: subtract their efforts from `tau`. For a robot with mimic joints, or
    with drives that several joints turn, the mass matrix is factored instead.

    Args:
        model: the robot. Each of its joints must move some inertia, at least its rotor's.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        tau: joint efforts, N m or N, shape (..., n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.
        external: wrenches of the surroundings on links, as in `rnea`.

    Returns:
        Joint accelerations, rad/s^2 or m/s^2, shape (..., n).

    Raises:
        InputError: a shape is wrong, a value is not finite, the robot has no link of that name, or one of its joints
            moves no inertia.
    """
    q, qd, tau = joint_vectors(model, q=q, qd=qd, tau=tau)
    algorithm = _factored if model.has_mimic_joints or model.drives.coupled else _articulated
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            qdd = algorithm(model, q, qd, tau, gravity_vector(gravity), external=external)
    except ZeroDivisionError:  # raised for constants, while the algorithm is traced
        raise _no_inertia_error(model, q) from None
    if qdd.dtype != object and not np.all(np.isfinite(qdd)):
        raise _no_inertia_error(model, q)
    return qdd


def _articulated(
    model: RobotModel, q: Array, qd: Array, tau: Array, gravity: Array, *, external: External | None
) -> Array:
    # First pass, outwards: velocities; inertia and bias force of each body alone.
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    f_ext = external_forces(model, q, external)
    c = [cross_motion(v_i, vJ) for v_i, vJ in zip(v, joint_motions(model, qd))]
    I_A = [I.matrix() for I in model.inertia]
    p_A = [cross_force(v_i, I.momentum(v_i)) - f_i for v_i, I, f_i in zip(v, model.inertia, f_ext)]

    # Second pass, inwards: articulated-body inertia and bias force, those of each body with its descendants.
    U: list[Array] = [np.zeros(0)] * len(model.joints)
    D, u = list(U), list(U)
    for i in reversed(range(len(model.joints))):
        joint, where, parent = model.joints[i], model.v_slices[i], model.lambda_[i]
        U[i] = I_A[i] @ joint.S
        D[i] = joint.S.T @ U[i] + model.drives.inertia[where, where]
        u[i] = tau[..., where] - matvec(joint.S.T, p_A[i])
        if parent != BASE:
            D_inverse = solve(D[i], np.eye(joint.dof))
            I_a = I_A[i] - U[i] @ D_inverse @ np.swapaxes(U[i], -1, -2)
            p_a = p_A[i] + matvec(I_a, c[i]) + matvec(U[i], matvec(D_inverse, u[i]))
            I_A[parent] = I_A[parent] + X[i].dyadic_back(I_a)
            p_A[parent] = p_A[parent] + X[i].force_back(p_a)

    # Third pass, outwards: accelerations.
    a: list[Array] = []
    qdd: list[Array] = []
    for i, parent in enumerate(model.lambda_):
        a_i = X[i].motion(base_acceleration(gravity) if parent == BASE else a[parent]) + c[i]
        qdd.append(solve(D[i], (u[i] - matvec(np.swapaxes(U[i], -1, -2), a_i))[..., None])[..., 0])
        a.append(a_i + matvec(model.joints[i].S, qdd[i]))
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in qdd))
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in qdd], axis=-1)


def _factored(
    model: RobotModel, q: Array, qd: Array, tau: Array, gravity: Array, *, external: External | None
) -> Array:
    bias = rnea(model, q, qd, np.zeros(model.n), gravity, external=external)
    return solve(mass_matrix(model, q), (tau - bias)[..., None])[..., 0]


def _no_inertia_error(model: RobotModel, q: Array) -> InputError:
    inertia = np.diagonal(mass_matrix(model, q), axis1=-2, axis2=-1).reshape(-1, model.n)
    names = [joint.name for joint, where in zip(model.joints, model.v_slices) if np.any(inertia[:, where] == 0)]
    hint = "give them an armature, or fix them"
    return InputError("model", f"joints that move no inertia have no acceleration: {', '.join(names)}; {hint}")
