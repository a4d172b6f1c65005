# SPDX-License-Identifier: Apache-2.0
"""Friction of moving joints: viscous, Coulomb and Stribeck (Armstrong-Helouvry, Dupont and Canudas de Wit 1994).

Coulomb friction can grow with the load of the joint. What depends on the motion before is in `presliding`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import zeros
from ros2_dyn.dynamics.rnea import gravity as weight
from ros2_dyn.errors import InputError
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.spatial import Array


def friction(model: RobotModel, qd: ArrayLike, carried: ArrayLike | None = None) -> Array:
    """Return the joint efforts that overcome friction, which are additional to those of `rnea`.

    The parameters are those of each joint's `JointDynamics`:
    ``viscous qd + (coulomb + load |carried| + (static - coulomb) exp(-(qd/stribeck_velocity)^2))
    tanh(qd/transition_velocity) + offset``

    It acts in the joint's drive. Where that turns with other joints, too, qd is the drive's speed, the load is the
    drive's, and the effort loads all joints that turn it, see `RobotModel.drives`.

    Args:
        model: the robot.
        qd: joint velocities, rad/s or m/s, shape (..., n).
        carried: efforts that carry the arm's weight, N m or N, shape (..., n), see `carried_load`.

    Returns:
        Efforts, N m or N, shape (..., n), with the signs of qd and zero at rest, apart from the offsets.

    Raises:
        InputError: the shape is wrong, a value is not finite, or a joint's load is needed and not given.
    """
    if carried is None:
        if loaded := [joint.name for joint in model.joints if joint.dynamics.load]:
            raise InputError("carried", f"friction of {', '.join(loaded)} depends on the load: give gravity's efforts")
        carried = np.zeros(model.n)
    qd, carried = joint_vectors(model, qd=qd, carried=carried)
    drives = model.drives
    speeds, carried = qd @ drives.matrix.T, drives.efforts(carried)
    efforts = zeros((len(drives.matrix),), qd, carried)
    for joint, where, row in zip(model.joints, model.v_slices, drives.rows):
        dynamics, speed = joint.dynamics, speeds[..., row]
        sliding, sticking = dry_friction(dynamics, speed)
        effort = dynamics.viscous * speed + dynamics.coulomb * sliding + dynamics.breakaway * sticking
        if dynamics.load:
            effort = effort + dynamics.load * np.abs(carried[..., where]) * (sliding + sticking)
        if dynamics.offset:
            effort = effort + dynamics.offset
        efforts[..., row] = effort
    return efforts @ drives.matrix


def carried_load(model: RobotModel, q: ArrayLike, gravity: ArrayLike | None = None) -> Array | None:
    """Return the efforts that carry the arm's weight, N m or N, shape (..., n); None where no friction depends on them.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.
    """
    return weight(model, q, gravity) if any(joint.dynamics.load for joint in model.joints) else None


def friction_offset(model: RobotModel) -> Array:
    """Return the part of `friction` that does not depend on the motion, N m or N, shape (n,)."""
    return np.array([joint.dynamics.offset for joint in model.joints for _ in range(joint.dof)]) @ model.drives.matrix


def dry_friction(dynamics: JointDynamics, speed: Array) -> tuple[Array, Array]:
    """Return the factors of Coulomb and of static friction, between -1 and 1, at a joint's speed (...)."""
    sign = np.tanh(speed / dynamics.transition_velocity)
    if dynamics.static is None:
        return sign, 0 * speed
    ratio = speed / dynamics.stribeck_velocity
    sticking = np.exp(-(ratio * ratio))
    return sign * (1 - sticking), sign * sticking
