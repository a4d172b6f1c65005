# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics in its original form: 3D vectors, classical accelerations, centres of mass (RBDA Table 5.2).

This is the recursion of Luh, Walker and Paul (1980), as in Craig 6.45 to 6.53. It has the same result as `rnea`, and
propagates another quantity from body to body: the classical acceleration of a frame's origin, which is the linear part
of the body's spatial acceleration plus ``omega x v`` (RBDA section 2.11). Moments are first about the centre of mass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.external import External, external_forces
from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.recursions import joint_motions, joint_transforms, project_to_joints
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, cross, join, matvec


def luh_walker_paul(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None = None,
    *,
    external: External | None = None,
) -> Array:
    """Return the joint efforts for an acceleration, computed with 3D vectors.

    Args, returns and errors are those of `rnea`.
    """
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    X = joint_transforms(model, q)
    external_f = external_forces(model, q, external)
    motions, rates = joint_motions(model, qd), joint_motions(model, qdd)
    zero = np.zeros(3)
    w: list[Array] = []  # angular velocity
    wd: list[Array] = []  # angular acceleration
    vd: list[Array] = []  # classical acceleration of the frame's origin
    f: list[Array] = []  # force that the joint transmits
    n: list[Array] = []  # moment about the frame's origin that it transmits

    # Outwards: motions, and the force and moment that each body needs (Craig 6.45 to 6.50).
    for i, parent in enumerate(model.lambda_):
        (E, r), I = X[i], model.inertia[i]
        wJ, vJ = motions[i][..., :3], motions[i][..., 3:]
        wdJ, vdJ = rates[i][..., :3], rates[i][..., 3:]
        w_p, wd_p, vd_p = (
            (zero, zero, -gravity_vector(gravity)) if parent == BASE else (w[parent], wd[parent], vd[parent])
        )
        w_i, wd_i = matvec(E, w_p), matvec(E, wd_p)
        vd_i = matvec(E, vd_p + cross(wd_p, r) + cross(w_p, cross(w_p, r)))
        # Revolute joints add to wd, prismatic ones to vd; planar and floating joints to both.
        vd_i = vd_i + 2 * cross(w_i, vJ) + cross(wJ, vJ) + vdJ
        wd_i = wd_i + cross(w_i, wJ) + wdJ
        w_i = w_i + wJ
        vd_com = vd_i + cross(wd_i, I.com) + cross(w_i, cross(w_i, I.com))
        F = I.mass * vd_com
        n_ext, f_ext = external_f[i][..., :3], external_f[i][..., 3:]
        N = matvec(I.I_com, wd_i) + cross(w_i, matvec(I.I_com, w_i))
        w.append(w_i)
        wd.append(wd_i)
        vd.append(vd_i)
        f.append(F - f_ext)
        n.append(N + cross(I.com, F) - n_ext)

    # Inwards: the force and moment through each joint, and the effort of its motor (Craig 6.51 to 6.53).
    for i in reversed(range(len(model.joints))):
        (E, r), parent = X[i], model.lambda_[i]
        if parent != BASE:
            R = np.swapaxes(E, -1, -2)
            f_in_parent = matvec(R, f[i])
            f[parent] = f[parent] + f_in_parent
            n[parent] = n[parent] + matvec(R, n[i]) + cross(r, f_in_parent)
    return project_to_joints(model, [join(n_i, f_i) for n_i, f_i in zip(n, f)]) + qdd @ model.drives.inertia


def classical_acceleration(v: Array, a: Array) -> Array:
    """Return the classical acceleration [angular; linear] of a frame's origin from spatial velocity and acceleration.

    The linear part is ``a_linear + omega x v_linear`` (RBDA section 2.11): the reading of an accelerometer at the
    origin, and the quantity that `luh_walker_paul` propagates outwards.

    Args:
        v: spatial velocity, shape (..., 6).
        a: spatial acceleration, shape (..., 6).
    """
    return np.concatenate([a[..., :3], a[..., 3:] + cross(v[..., :3], v[..., 3:])], axis=-1)
