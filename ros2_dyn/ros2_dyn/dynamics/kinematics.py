# SPDX-License-Identifier: Apache-2.0
"""Forward kinematics and Jacobians (Craig chapters 3 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors, vector
from ros2_dyn.dynamics.recursions import joint_motions, joint_transforms, zeros
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, Transform, cross, cross_motion, identity_transform, matvec, turn


def body_transforms(model: RobotModel, q: Array) -> list[Transform]:
    """Return ``i_X_0`` of every body, from the base frame to the body's frame, for q of shape (..., nq)."""
    X0: list[Transform] = []
    for X, parent in zip(joint_transforms(model, q), model.lambda_):
        X0.append(X if parent == BASE else X.after(X0[parent]))
    return X0


def forward_kinematics(model: RobotModel, q: ArrayLike, link: str | None = None) -> Array:
    """Return the pose of a link in the base frame.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        link: the link; `model.default_tip` for None.

    Returns:
        Homogeneous transforms (..., 4, 4) that take coordinates of the link (m) to coordinates of the base.

    Raises:
        InputError: the shape is wrong, a value is not finite, or the robot has no such link.
    """
    (q,) = joint_vectors(model, q=q)
    X = link_transform(model, body_transforms(model, q), link)
    R = np.swapaxes(X.E, -1, -2)
    batch = q.shape[:-1]
    top = np.concatenate([np.broadcast_to(R, (*batch, 3, 3)), np.broadcast_to(X.r[..., None], (*batch, 3, 1))], axis=-1)
    return np.concatenate([top, np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*batch, 1, 4))], axis=-2)


def jacobian(
    model: RobotModel,
    q: ArrayLike,
    link: str | None = None,
    point: ArrayLike | None = None,
    frame: str | None = None,
) -> Array:
    """Return the geometric Jacobian of a point of a link: ``[v; omega] = J(q) qd``, linear rows first (Craig 5.66).

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        link: the link that the point is fixed to; `model.default_tip` for None.
        point: the point in that link's frame, m, shape (3,); the link's origin for None.
        frame: the link in whose axes the rows are given; the base link for None.

    Returns:
        Shape (..., 6, n). The velocity is relative to the base, in whichever axes it is given.

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has no such link.
    """
    (q,) = joint_vectors(model, q=q)
    X0 = body_transforms(model, q)
    p = _position(model, X0, link, point)[..., None, :]
    J = zeros((model.n, 6), q, p[..., 0, :])  # transposed
    for i, s in _joint_axes(model, X0, link):
        J[..., model.v_slices[i], :] += _at_point(s, p)
    return np.swapaxes(in_axes(model, X0, frame, J), -1, -2)


def jacobian_dot(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    point: ArrayLike | None = None,
    *,
    frame: str | None = None,
) -> Array:
    """Return the time derivative of the matrix that `jacobian` returns, at the velocity qd.

    In the base's axes the acceleration is ``a = J qdd + Jdot qd``. In the axes of a moving frame ``Jdot`` includes the
    rotation of those axes.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        link: the link that the point is fixed to; `model.default_tip` for None.
        point: the point in that link's frame, m, shape (3,); the link's origin for None.
        frame: the link in whose axes the rows are given; the base link for None.

    Returns:
        Shape (..., 6, n), per second.

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has no such link.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    X0 = body_transforms(model, q)
    v = _body_velocities(model, X0, qd)
    p = _position(model, X0, link, point)[..., None, :]
    pd = _at_point(_velocity(model, v, link)[..., None, :], p)[..., :3]
    w_frame = np.zeros(3) if frame is None else _velocity(model, v, frame)[..., None, :3]

    Jd = zeros((model.n, 6), q, qd, p[..., 0, :])
    for i, s in _joint_axes(model, X0, link):
        sd = cross_motion(v[i][..., None, :], s)  # the joint axis rotates with its body
        along = _at_point(s, p)
        turning = np.concatenate([cross(w_frame, along[..., :3]), cross(w_frame, along[..., 3:])], axis=-1)
        with_point = np.concatenate([cross(s[..., :3], pd), 0 * along[..., 3:]], axis=-1)
        Jd[..., model.v_slices[i], :] += _at_point(sd, p) + with_point - turning
    return np.swapaxes(in_axes(model, X0, frame, Jd), -1, -2)


def link_transform(model: RobotModel, X0: list[Transform], link: str | None) -> Transform:
    """Return the transform from the base frame to the link's frame."""
    body, X = model.link_frame(link)
    return X.after(identity_transform() if body == BASE else X0[body])


def _position(model: RobotModel, X0: list[Transform], link: str | None, point: ArrayLike | None) -> Array:
    """Return the point of the link, in the base frame."""
    X = link_transform(model, X0, link)
    if point is None:
        return X.r
    return X.r + matvec(np.swapaxes(X.E, -1, -2), vector("point", point, 3))


def _joint_axes(model: RobotModel, X0: list[Transform], link: str | None) -> Iterator[tuple[int, Array]]:
    """Yield the joints that move the link, with their motion subspaces in the base frame as rows (..., dof, 6)."""
    for i in model.support(model.link_frame(link).body):
        yield i, X0[i].as_rows().motion_back(model.joints[i].S.T)


def _body_velocities(model: RobotModel, X0: list[Transform], qd: Array) -> list[Array]:
    """Return the spatial velocity of every body, in the base frame (RBDA 5.7)."""
    v: list[Array] = []
    motions = joint_motions(model, qd)
    for i, parent in enumerate(model.lambda_):
        vJ = X0[i].motion_back(motions[i])
        v.append(vJ if parent == BASE else v[parent] + vJ)
    return v


def _velocity(model: RobotModel, v: list[Array], link: str | None) -> Array:
    """Return the spatial velocity of the body that the link is fixed to."""
    body = model.link_frame(link).body
    return np.zeros(6) if body == BASE else v[body]


def _at_point(m: Array, p: Array) -> Array:
    """Return a motion [angular; linear at the base's origin] as [linear at p; angular]."""
    w, v0 = np.broadcast_arrays(m[..., :3], m[..., 3:] + cross(m[..., :3], p))
    return np.concatenate([v0, w], axis=-1)


def in_axes(model: RobotModel, X0: list[Transform], frame: str | None, vectors: Array) -> Array:
    """Return vectors (..., k, 6) of the base's axes in those of the frame; unchanged for None."""
    return vectors if frame is None else turn(link_transform(model, X0, frame).E[..., None, :, :], vectors)
