# SPDX-License-Identifier: Apache-2.0
"""Exact partial derivatives of inverse dynamics (Singh, Russell and Wensing 2022), in RBDA's notation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.coriolis_matrix import composites
from ros2_dyn.dynamics.external import External, external_forces
from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.recursions import (
    accelerations,
    base_acceleration,
    forces,
    joint_transforms,
    propagate_forces,
    velocities,
    zeros,
)
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, cross_force, cross_motion


class RneaDerivatives(NamedTuple):
    """Partial derivatives of inverse dynamics with respect to the state."""

    dtau_dq: Array
    """Derivative with respect to q, N m/rad (revolute) or N/m (prismatic), shape (..., n, n)."""
    dtau_dqd: Array
    """Derivative with respect to qd, N m s/rad or N s/m, shape (..., n, n)."""


def rnea_derivatives(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None = None,
    *,
    external: External | None = None,
) -> RneaDerivatives:
    """Return the partial derivatives of `rnea` with respect to q and qd.

    The derivative with respect to qdd is `mass_matrix`, that with respect to the inertial parameters `regressor`.
    External wrenches are constant in the frames of their links. Where q has more than n numbers (planar and floating
    joints), each column of dtau_dq is the derivative along one entry of qd.

    Args and errors are those of `rnea`.
    """
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    gravity = gravity_vector(gravity)
    a_0 = base_acceleration(gravity)
    a = accelerations(model, X, v, qd, qdd, gravity=gravity)
    f_ext = external_forces(model, q, external)
    f_c = propagate_forces(model, X, [f_i - f_ext_i for f_i, f_ext_i in zip(forces(model, v, a), f_ext)])
    I_c, B_c = composites(model, X, v)

    # Change of the velocity and acceleration of body i and its descendants with joint i. Motions are rows here.
    S = [joint.S.T for joint in model.joints]
    dv_dq: list[Array] = []
    da_dq: list[Array] = []
    da_dqd: list[Array] = []
    for i, parent in enumerate(model.lambda_):
        v_p = X[i].motion(np.zeros(6) if parent == BASE else v[parent])[..., None, :]
        a_p = X[i].motion(a_0 if parent == BASE else a[parent])[..., None, :]
        dv_dq.append(cross_motion(v_p, S[i]))
        da_dq.append(cross_motion(a_p, S[i]) + cross_motion(v_p, dv_dq[i]))
        da_dqd.append(dv_dq[i] + cross_motion(v[i][..., None, :], S[i]))

    dtau_dq, dtau_dqd = (zeros((model.n, model.n), q, qd, qdd) for _ in range(2))
    for i, where in enumerate(model.v_slices):
        I, B = I_c[i], 2 * np.swapaxes(B_c[i], -1, -2)
        # Change of the force through joint i with its own motion, propagated inwards ...
        F_q = dv_dq[i] @ B + da_dq[i] @ I
        F_qd = S[i] @ B + da_dqd[i] @ I
        dtau_dq[..., where, where] += S[i] @ np.swapaxes(F_q, -1, -2)
        dtau_dqd[..., where, where] += S[i] @ np.swapaxes(F_qd, -1, -2)
        F_q = F_q + cross_force(S[i], f_c[i][..., None, :])  # the force rotates with the bodies
        # ... and with the motion of the joints that support it.
        by_dv, by_da = S[i] @ np.swapaxes(B, -1, -2), S[i] @ I
        j = i
        while model.lambda_[j] != BASE:
            F_q, F_qd, by_dv, by_da = (X[j].as_rows().force_back(F) for F in (F_q, F_qd, by_dv, by_da))
            j = model.lambda_[j]
            there = model.v_slices[j]
            dtau_dq[..., there, where] += S[j] @ np.swapaxes(F_q, -1, -2)
            dtau_dqd[..., there, where] += S[j] @ np.swapaxes(F_qd, -1, -2)
            dtau_dq[..., where, there] += by_dv @ np.swapaxes(dv_dq[j], -1, -2) + by_da @ np.swapaxes(da_dq[j], -1, -2)
            dtau_dqd[..., where, there] += by_dv @ S[j].T + by_da @ np.swapaxes(da_dqd[j], -1, -2)
    return RneaDerivatives(dtau_dq, dtau_dqd)
