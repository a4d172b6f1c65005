# SPDX-License-Identifier: Apache-2.0
"""Velocity and acceleration of links, propagated from the base outwards (Craig 5.45 to 5.48, 6.31 to 6.36)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors, vector
from ros2_dyn.dynamics.kinematics import body_transforms, in_axes, link_transform
from ros2_dyn.dynamics.newton_euler_3d import classical_acceleration
from ros2_dyn.dynamics.recursions import accelerations, joint_transforms, velocities, zeros
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, Transform, swap, turn


def link_velocity(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    point: ArrayLike | None = None,
    *,
    frame: str | None = None,
) -> Array:
    """Return the velocity of a point of a link relative to the base, ``J qd`` without the matrix J.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        link: the link that the point is fixed to; `model.default_tip` for None.
        point: the point in that link's frame, m, shape (..., 3); the link's origin for None.
        frame: the link in whose axes the result is given; the base link for None.

    Returns:
        [linear; angular], m/s and rad/s, shape (..., 6).

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has no such link.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    v = velocities(model, joint_transforms(model, q), qd)
    X = _to_point(model, link, point)
    body = model.link_frame(link).body
    return _in_axes(model, q, link, frame, X.motion(zeros((6,), q, qd) if body == BASE else v[body]))


def link_acceleration(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    link: str | None = None,
    *,
    point: ArrayLike | None = None,
    frame: str | None = None,
) -> Array:
    """Return the acceleration of a point of a link relative to the base, ``J qdd + Jdot qd`` without the matrices.

    It is the classical acceleration, the second derivative of the point's position, without gravity.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (..., n).
        link: the link that the point is fixed to; `model.default_tip` for None.
        point: the point in that link's frame, m, shape (..., 3); the link's origin for None.
        frame: the link in whose axes the result is given; the base link for None.

    Returns:
        [linear; angular], m/s^2 and rad/s^2, shape (..., 6).

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has no such link.
    """
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    a = accelerations(model, X, v, qd, qdd, gravity=np.zeros(3))
    X_p = _to_point(model, link, point)
    body = model.link_frame(link).body
    v_p, a_p = (X_p.motion(zeros((6,), q, qd, qdd) if body == BASE else m[body]) for m in (v, a))
    return _in_axes(model, q, link, frame, classical_acceleration(v_p, a_p))


def _to_point(model: RobotModel, link: str | None, point: ArrayLike | None) -> Transform:
    """Return the transform from the frame of the link's body to the link's axes at the point."""
    X = model.link_frame(link).X
    return X if point is None else Transform(np.eye(3), vector("point", point, 3)).after(X)


def _in_axes(model: RobotModel, q: Array, link: str | None, frame: str | None, m: Array) -> Array:
    """Return a motion [angular; linear] of the link's axes as [linear; angular] in those of the frame."""
    X0 = body_transforms(model, q)
    in_base = turn(np.swapaxes(link_transform(model, X0, link).E, -1, -2), swap(m))
    return in_axes(model, X0, frame, in_base[..., None, :])[..., 0, :]
