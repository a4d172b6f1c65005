# SPDX-License-Identifier: Apache-2.0
"""Efforts of friction, springs and rotors as a linear function of their parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.friction import dry_friction
from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import zeros
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.spatial import Array

COLUMNS = 8
"""Parameters of a joint."""
SPRING = (3, 4)
"""Those of its spring, which acts in the joint; the others act in its drive."""


def friction_regressor(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, carried: ArrayLike | None = None
) -> Array:
    """Return the matrix Y with ``friction + spring + armature qdd = Y @ friction_parameters(model)``.

    Together with `regressor` it makes the effort linear in all parameters that can be identified. The Stribeck and
    transition velocities, in which friction is not linear, are taken from the model.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (..., n).
        carried: efforts that carry the arm's weight, N m or N, shape (..., n); None: no friction depends on them.

    Returns:
        Shape (..., n, 8 j) for the j joints of one degree of freedom; columns in the order of `friction_parameters`.

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    carried = np.zeros(model.n) if carried is None else carried
    q, qd, qdd, carried = joint_vectors(model, q=q, qd=qd, qdd=qdd, carried=carried)
    simple = [i for i, joint in enumerate(model.joints) if joint.dof == 1]
    Y = zeros((model.n, COLUMNS * len(simple)), q, qd, qdd, carried)
    drives = model.drives
    speeds, accelerations = (x @ drives.matrix.T for x in (qd, qdd))
    carried = drives.efforts(carried)
    for k, i in enumerate(simple):
        joint, row, where = model.joints[i], drives.rows[i].start, model.v_slices[i].start
        position = joint.position(q[..., model.q_slices[i]])[..., 0]
        sliding, sticking = dry_friction(joint.dynamics, speeds[..., row])
        load = np.abs(carried[..., where]) * (sliding + sticking)
        one = np.array(1.0)
        columns = [speeds[..., row], sliding, sticking, position, -one, accelerations[..., row], load, one]
        for column, value in enumerate(columns):
            spring = column in SPRING
            turned = joint.multiplier * np.eye(model.n)[where] if spring else drives.matrix[row]
            Y[..., COLUMNS * k + column] += np.asarray(value)[..., None] * turned
    return Y


def friction_parameters(model: RobotModel) -> Array:
    """Return the parameters of each joint's `JointDynamics`, shape (8 j,).

    They are, for each of the j joints of one degree of freedom: viscous, Coulomb and static friction, stiffness,
    stiffness times rest, armature, load and offset.
    """
    joints = [joint.dynamics for joint in model.joints if joint.dof == 1]
    return np.array([value for d in joints for value in _parameters(d)])


def _parameters(d: JointDynamics) -> tuple[float, ...]:
    return (d.viscous, d.coulomb, d.breakaway, d.stiffness, d.stiffness * d.rest, d.armature, d.load, d.offset)
