# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics: the recursive Newton-Euler algorithm in body coordinates (RBDA section 5.3, Table 5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.external import External, external_forces
from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.recursions import (
    accelerations,
    forces,
    joint_transforms,
    project_to_joints,
    propagate_forces,
    velocities,
)
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, swap


def rnea(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None = None,
    *,
    external: External | None = None,
) -> Array:
    """Return the joint efforts for an acceleration: ``tau = M(q) qdd + c(q, qd) + g(q) - J^T f_ext``.

    Source: RBDA Table 5.1, with gravity as a fictitious acceleration of the base, ``a_0 = -gravity``.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (..., n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.
        external: wrenches of the surroundings on links. Either a mapping from a link's name to [force; moment], N and
            N m, shape (..., 6), at the origin and in the axes of that link; or a list of `ExternalWrench`.

    Returns:
        Joint efforts, N m or N, shape (..., n).

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has no link of that name.
    """
    tau, _ = _newton_euler(model, q, qd, qdd, gravity, external=external)
    return tau


def joint_wrenches(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None = None,
    *,
    external: External | None = None,
) -> Array:
    """Return the wrench that each joint transmits from its parent link to its child link, ``f_i`` of RBDA 5.20.

    The joint's motor exerts the component along the joint's axis, which is the effort; its bearings carry the others.

    Args and errors are those of `rnea`.

    Returns:
        [force; moment], N and N m, shape (..., b, 6) for b joints, at the origin and in the axes of the child links.
    """
    _, f = _newton_euler(model, q, qd, qdd, gravity, external=external)
    return swap(np.stack(np.broadcast_arrays(*f), axis=-2))


def _newton_euler(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None,
    *,
    external: External | None,
) -> tuple[Array, list[Array]]:
    """Return the joint efforts (..., n), and the spatial force (..., 6) through each joint: RBDA Table 5.1.

    All vectors of body i are in its own frame; the steps are those of `recursions.py`.
    """
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    f_ext = external_forces(model, q, external)

    # Outwards: the motion of each body, and the force that it needs.
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    a = accelerations(model, X, v, qd, qdd, gravity=gravity_vector(gravity))
    f_body = [f_i - f_ext_i for f_i, f_ext_i in zip(forces(model, v, a), f_ext)]

    # Inwards: the force through each joint, and the effort, its component along the joint's axis.
    f = propagate_forces(model, X, f_body)
    return project_to_joints(model, f) + qdd @ model.drives.inertia, f


def gravity(model: RobotModel, q: ArrayLike, gravity: ArrayLike | None = None) -> Array:
    """Return the joint efforts that carry the robot's weight at rest, ``g(q)``: `rnea` with qd = qdd = 0.

    Args, returns and errors are those of `rnea`.
    """
    zero = np.zeros(model.n)
    return rnea(model, q, zero, zero, gravity)


def coriolis(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return the Coriolis and centrifugal efforts, ``c(q, qd) = C(q, qd) qd``: `rnea` with qdd = 0 and no gravity.

    Args, returns and errors are those of `rnea`.
    """
    return rnea(model, q, qd, np.zeros(model.n), np.zeros(3))
