# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy (RBDA section 2.13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.kinematics import body_transforms
from ros2_dyn.dynamics.recursions import joint_transforms, velocities
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, dot, matvec


def kinetic_energy(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> Array:
    """Return ``T = 1/2 qd^T M(q) qd``, summed over the bodies and the rotors.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).

    Returns:
        Kinetic energy, J, shape (...).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd = joint_vectors(model, q=q, qd=qd)
    v = velocities(model, joint_transforms(model, q), qd)
    rotors = dot(qd, qd @ model.drives.inertia) / 2
    return sum((dot(v_i, I.momentum(v_i)) / 2 for I, v_i in zip(model.inertia, v)), rotors)


def potential_energy(model: RobotModel, q: ArrayLike, gravity: ArrayLike | None = None) -> Array:
    """Return ``V = -sum m g . c``, the energy of the weight; masses at the height of the base's origin count zero.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.

    Returns:
        Potential energy, J, shape (...).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    (q,) = joint_vectors(model, q=q)
    h = model.base_inertia.h  # first moment of mass of the whole robot, in the base frame
    for X, I in zip(body_transforms(model, q), model.inertia):
        h = h + I.mass * X.r + matvec(np.swapaxes(X.E, -1, -2), I.h)
    return -dot(gravity_vector(gravity), h)
