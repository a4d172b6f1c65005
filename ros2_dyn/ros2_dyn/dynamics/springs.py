# SPDX-License-Identifier: Apache-2.0
"""Effort and energy of springs in the joints."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import zeros
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


def spring(model: RobotModel, q: ArrayLike) -> Array:
    """Return the joint efforts that hold against springs, which are additional to those of `rnea`.

    The parameters are those of each joint's `JointDynamics`.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).

    Returns:
        ``stiffness (q - rest)``, N m or N, shape (..., n).

    Raises:
        InputError: the shape is wrong or a value is not finite.
    """
    (q,) = joint_vectors(model, q=q)
    tau = zeros((model.n,), q)
    for joint, there, where in zip(model.joints, model.q_slices, model.v_slices):
        if joint.dof == 1:
            stretched = joint.position(q[..., there]) - joint.dynamics.rest
            tau[..., where] += joint.multiplier * joint.dynamics.stiffness * stretched
    return tau


def spring_energy(model: RobotModel, q: ArrayLike) -> Array:
    """Return the energy of the springs, ``1/2 stiffness (q - rest)^2``, J, shape (...).

    Args and errors are those of `spring`.
    """
    (q,) = joint_vectors(model, q=q)
    energy = zeros((), q)
    for joint, there in zip(model.joints, model.q_slices):
        if joint.dof == 1:
            stretched = joint.position(q[..., there])[..., 0] - joint.dynamics.rest
            energy = energy + joint.dynamics.stiffness / 2 * stretched * stretched
    return energy
