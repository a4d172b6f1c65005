"""Friction in the joints: viscous, Coulomb and Stribeck (Armstrong-Helouvry, Dupont and Canudas de Wit 1994)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import zeros
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.spatial import Array


def friction(model: RobotModel, qd: ArrayLike) -> Array:
    """Return the joint efforts that overcome friction, which are additional to those of `rnea`.

    The parameters are those of each joint's `JointDynamics`:
    ``viscous qd + (coulomb + (static - coulomb) exp(-(qd/stribeck_velocity)^2)) tanh(qd/transition_velocity)``

    Args:
        model: the robot.
        qd: joint velocities, rad/s or m/s, shape (..., n).

    Returns:
        Efforts, N m or N, shape (..., n), with the signs of qd, zero at rest.

    Raises:
        InputError: the shape is wrong or a value is not finite.
    """
    (qd,) = joint_vectors(model, qd=qd)
    tau = zeros((model.n,), qd)
    for joint, where in zip(model.joints, model.v_slices):
        dynamics, speed = joint.dynamics, joint.multiplier * qd[..., where]
        sliding, sticking = dry_friction(dynamics, speed)
        effort = dynamics.viscous * speed + dynamics.coulomb * sliding + dynamics.breakaway * sticking
        tau[..., where] += joint.multiplier * effort
    return tau


def dry_friction(dynamics: JointDynamics, speed: Array) -> tuple[Array, Array]:
    """Return the factors of Coulomb and of static friction, between -1 and 1, at a joint's speed (...)."""
    sign = np.tanh(speed / dynamics.transition_velocity)
    if dynamics.static is None:
        return sign, 0 * speed
    ratio = speed / dynamics.stribeck_velocity
    sticking = np.exp(-(ratio * ratio))
    return sign * (1 - sticking), sign * sticking
