# SPDX-License-Identifier: Apache-2.0
"""Generalised momentum, the input of momentum observers (RBDA section 2.12; De Luca and Mattone 2005)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import joint_transforms, project_to_joints, propagate_forces, velocities, zeros
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, cross_motion, matvec


def momentum(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return ``p = M(q) qd``, by the recursion of Newton and Euler with momenta in place of forces.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).

    Returns:
        Generalised momentum, kg m^2/s (revolute) or kg m/s (prismatic), shape (..., n).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    _, H = _composite_momenta(model, q, qd)
    return project_to_joints(model, H) + qd @ model.drives.inertia


def coriolis_transpose_qd(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return ``C(q, qd)^T qd``, with the C for which ``Mdot = C + C^T``.

    It is the rate of the momentum that is due to the motion of the joint axes: ``d/dt p = tau - g(q) + C^T qd`` (De
    Luca and Mattone 2005, eq. 8). For joints of one degree of freedom it equals dT/dq. With the momentum H_i of body i
    and its descendants, ``p_i = S_i^T H_i``, it is ``(v_i x S_i)^T H_i``; neither C nor Mdot is needed.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).

    Returns:
        Efforts, N m or N, shape (..., n).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    v, H = _composite_momenta(model, q, qd)
    beta = zeros((model.n,), q, qd)
    for joint, where, v_i, H_i in zip(model.joints, model.v_slices, v, H):
        beta[..., where] += matvec(cross_motion(v_i[..., None, :], joint.S.T), H_i)
    return beta


def _composite_momenta(model: RobotModel, q: Array, qd: Array) -> tuple[list[Array], list[Array]]:
    """Return the velocity of each body, and the momentum of the body and its descendants, both (..., 6)."""
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    return v, propagate_forces(model, X, [I.momentum(v_i) for I, v_i in zip(model.inertia, v)])
