# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as a linear function of the inertial parameters (Atkeson, An and Hollerbach 1986)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import gravity_vector, joint_vectors
from ros2_dyn.dynamics.recursions import accelerations, joint_transforms, velocities, zeros
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array


def regressor(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, gravity: ArrayLike | None = None
) -> Array:
    """Return the matrix Y with ``rnea(q, qd, qdd) = Y(q, qd, qdd) @ inertial_parameters(model)``, without rotors.

    `friction_regressor` is the matrix for rotors, friction and springs.

    Args:
        model: the robot; only its kinematics are used.
        q: joint positions, rad or m, shape (..., nq).
        qd: joint velocities, rad/s or m/s, shape (..., n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (..., n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (..., 3); [0, 0, -9.81] for None.

    Returns:
        Shape (..., n, 10 b) for b bodies; columns are in the order of `inertial_parameters`.

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    q, qd, qdd = joint_vectors(model, q=q, qd=qd, qdd=qdd)
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    a = accelerations(model, X, v, qd, qdd, gravity=gravity_vector(gravity))

    # The forces of unit bodies, propagated inwards through every joint that supports them.
    unit = SpatialInertia.from_parameters(np.eye(10))  # ten bodies, each with one parameter 1 and the others 0
    Y = zeros((model.n, 10 * len(model.joints)), q, qd, qdd)
    for i in range(len(model.joints)):
        f = unit.force(v[i][..., None, :], a[i][..., None, :])
        j, columns = i, slice(10 * i, 10 * i + 10)
        Y[..., model.v_slices[i], columns] += np.swapaxes(f @ model.joints[i].S, -1, -2)
        while model.lambda_[j] != BASE:
            f = X[j].as_rows().force_back(f)
            j = model.lambda_[j]
            Y[..., model.v_slices[j], columns] += np.swapaxes(f @ model.joints[j].S, -1, -2)
    return Y


def inertial_parameters(model: RobotModel) -> Array:
    """Return the inertial parameters of every body, shape (10 b,) for b bodies.

    They are, for each body in its own frame: mass (kg), mass times centre of mass (kg m, 3), and the rotational inertia
    about the frame's origin (kg m^2) as Ixx, Ixy, Iyy, Ixz, Iyz, Izz, which is also Pinocchio's order.
    """
    return np.concatenate([I.parameters for I in model.inertia])
