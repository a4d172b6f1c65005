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
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.model.spatial import Array, swap


def rnea(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None = None,
    external: External | None = None,
    payload: Payload | None = None,
) -> Array:
    """Joint efforts that give the robot the acceleration qdd: ``tau = M(q) qdd + c(q, qd) + g(q) - J^T f_ext``.

    Source: RBDA Table 5.1, with gravity as the fictitious acceleration of the base, ``a_0 = -gravity``.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (..., n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.
        external: wrenches that the surroundings exert on links: for a link's name [force; moment], in N and N m, at
            the origin and in the axes of that link's frame, shape (..., 6); or a list of `ExternalWrench`, at any
            point and in any axes.
        payload: what the robot carries; for other functions, take `model.carrying(payload)`.

    Returns:
        Joint efforts, N m or N, shape (..., n).

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has not the link that a wrench acts on.
    """
    model = model if payload is None else model.carrying(payload)
    tau, _ = _newton_euler(model, q, qd, qdd, gravity, external)
    return tau


def joint_wrenches(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None = None,
    external: External | None = None,
) -> Array:
    """What each joint transmits from its parent link to its child link: the ``f_i`` of RBDA 5.20.

    The joint's bearings carry all of it but the component along the joint's axis, which is the effort.

    Args, and errors, are those of `rnea`.

    Returns:
        [force; moment], N and N m, shape (..., n, 6), at the origin and in the axes of each joint's child link.
    """
    _, f = _newton_euler(model, q, qd, qdd, gravity, external)
    return swap(np.stack(np.broadcast_arrays(*f), axis=-2))


def _newton_euler(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: ArrayLike | None,
    external: External | None,
) -> tuple[Array, list[Array]]:
    """The recursion: joint efforts (..., n), and the spatial force (..., 6) through each joint."""
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    # Outwards: the motion of each body, and the force that it takes.
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    a = accelerations(model, X, v, qd, qdd, gravity_vector(gravity))
    f_B = forces(model, v, a)
    # Inwards: each joint carries its body and all that hangs on it.
    f_ext = external_forces(model, q, external)
    f = propagate_forces(model, X, [f_i - f_ext_i for f_i, f_ext_i in zip(f_B, f_ext)])
    return project_to_joints(model, f) + model.armature * qdd, f


def gravity(model: RobotModel, q: ArrayLike, gravity: ArrayLike | None = None) -> Array:
    """Joint efforts that carry the robot's weight at rest, ``g(q)``: the recursion with qd = qdd = 0.

    Args, returns and errors are those of `rnea`.
    """
    at_rest = np.zeros(model.n)
    return rnea(model, q, at_rest, at_rest, gravity)


def coriolis(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """Coriolis and centrifugal efforts, ``c(q, qd) = C(q, qd) qd``: the recursion with qdd = 0 and no gravity.

    Args, returns and errors are those of `rnea`.
    """
    return rnea(model, q, qd, np.zeros(model.n), gravity=np.zeros(3))
