"""Generalised momentum, which momentum observers watch (RBDA section 2.12; De Luca and Mattone 2005)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.passes import along_axes, carry_inwards, joint_transforms, velocities
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


def momentum(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """``p = M(q) qd``: the recursion of Newton and Euler with momenta in place of forces, without the mass matrix.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).

    Returns:
        kg m^2/s (revolute) or kg m/s (prismatic), shape (..., n).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    p = carry_inwards(model, X, [I.momentum(v_i) for I, v_i in zip(model.inertia, v)])
    return along_axes(model, p) + model.armature * qd
