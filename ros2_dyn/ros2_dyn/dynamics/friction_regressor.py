"""Efforts of friction, springs and rotors as a linear function of their parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.friction import dry_friction
from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import zeros
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


def friction_regressor(model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """Return the matrix Y with ``friction + spring + armature qdd = Y @ friction_parameters(model)``.

    Together with `regressor` it makes the effort linear in all parameters that can be identified. The Stribeck and
    transition velocities, in which friction is not linear, are taken from the model.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (..., n).

    Returns:
        Shape (..., n, 6 j) for the j joints of one degree of freedom; columns in the order of `friction_parameters`.

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    simple = [i for i, joint in enumerate(model.joints) if joint.dof == 1]
    Y = zeros((model.n, 6 * len(simple)), q, qd, qdd)
    for k, i in enumerate(simple):
        joint, row = model.joints[i], model.v_slices[i].start
        position = joint.position(q[..., model.q_slices[i]])[..., 0]
        speed, acceleration = (joint.multiplier * x[..., row] for x in (qd, qdd))
        columns: list[Array] = [speed, *dry_friction(joint.dynamics, speed), position, np.array(-1.0), acceleration]
        for column, value in enumerate(columns, start=6 * k):
            Y[..., row, column] += joint.multiplier * value
    return Y


def friction_parameters(model: RobotModel) -> Array:
    """Return the parameters of each joint's `JointDynamics`, shape (6 j,).

    They are, for each of the j joints of one degree of freedom: viscous, Coulomb and static friction, stiffness,
    stiffness times rest, and armature.
    """
    joints = [joint.dynamics for joint in model.joints if joint.dof == 1]
    return np.array(
        [
            value
            for d in joints
            for value in (d.viscous, d.coulomb, d.breakaway, d.stiffness, d.stiffness * d.rest, d.armature)
        ]
    )
