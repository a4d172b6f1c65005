"""Forward dynamics: the articulated-body algorithm (RBDA section 7.3, Table 7.1)."""

from __future__ import annotations


import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.external import External, external_forces
from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.crba import mass_matrix
from ros2_dyn.dynamics.ltdl import solve
from ros2_dyn.dynamics.passes import joint_motions, joint_transforms, velocities
from ros2_dyn.dynamics.rnea import rnea
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, cross_force, cross_motion, join, matvec


def forward_dynamics(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    gravity: ArrayLike | None = None,
    external: External | None = None,
) -> Array:
    """Joint accelerations under given efforts: the inverse of `rnea`, in O(n) and without the mass matrix.

    Where joints mimic others, by factoring the mass matrix instead: such joints are not free.

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
        InputError: a shape is wrong, a value is not finite, or the robot has not the link that a wrench acts on.
    """
    q, qd, tau = joint_vectors(model, q=q, qd=qd, tau=tau)
    a_g = gravity_vector(gravity)
    f_ext = external_forces(model, q, external)

    if model.is_coupled:  # the recursion below takes each joint for free
        bias = rnea(model, q, qd, np.zeros(model.n), a_g, external)
        return solve(mass_matrix(model, q), (tau - bias)[..., None])[..., 0]

    # First pass, outwards: velocities, and what each body would be without the others.
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    c = [cross_motion(v_i, vJ) for v_i, vJ in zip(v, joint_motions(model, qd))]
    I_A = [I.matrix() for I in model.inertia]
    p_A = [cross_force(v_i, I.momentum(v_i)) - f_i for v_i, I, f_i in zip(v, model.inertia, f_ext)]

    # Second pass, inwards: the inertia and bias force of each body with all that hangs on it by free joints.
    D: list[Array] = []
    u: list[Array] = []
    U: list[Array] = []
    for i in reversed(range(len(model.joints))):
        S, where, parent = model.joints[i].S, model.in_qd[i], model.lambda_[i]
        U.insert(0, I_A[i] @ S)
        D.insert(0, S.T @ U[0] + np.diag(model.armature[where]))
        u.insert(0, tau[..., where] - matvec(S.T, p_A[i]))
        if parent != BASE:
            D_inverse = solve(D[0], np.eye(model.joints[i].dof))
            I_a = I_A[i] - U[0] @ D_inverse @ np.swapaxes(U[0], -1, -2)
            p_a = p_A[i] + matvec(I_a, c[i]) + matvec(U[0], matvec(D_inverse, u[0]))
            I_A[parent] = I_A[parent] + X[i].dyadic_back(I_a)
            p_A[parent] = p_A[parent] + X[i].force_back(p_a)

    # Third pass, outwards: accelerations.
    a: list[Array] = []
    qdd: list[Array] = []
    for i, (joint, parent) in enumerate(zip(model.joints, model.lambda_)):
        a_i = X[i].motion(join(np.zeros(3), -a_g) if parent == BASE else a[parent]) + c[i]
        qdd.append(solve(D[i], (u[i] - matvec(np.swapaxes(U[i], -1, -2), a_i))[..., None])[..., 0])
        a.append(a_i + matvec(joint.S, qdd[i]))
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in qdd))
    return np.concatenate([np.broadcast_to(x, (*batch, x.shape[-1])) for x in qdd], axis=-1)
