# SPDX-License-Identifier: Apache-2.0
"""Checks of shapes and finiteness, at the boundary of the library and nowhere else."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall, m/s^2, in the base frame of a robot that stands on the floor."""


def joint_vectors(model: RobotModel, **values: ArrayLike) -> list[Array]:
    """Return each value as an array (..., n), and q as (..., nq), in the model's order.

    Raises:
        InputError: a shape is wrong, a value is not finite, or a part of q does not represent a rotation.
    """
    arrays = {name: vector(name, value, model.nq if name == "q" else model.n) for name, value in values.items()}
    if "q" in arrays and arrays["q"].dtype != object and model.nq > model.n:
        check_rotations(model, arrays["q"])
    return list(arrays.values())


def check_rotations(model: RobotModel, q: Array) -> None:
    """Check that quaternions, and the cosine and sine of planar joints, have length 1.

    Raises:
        InputError: one of them has another length.
    """
    for joint, where in zip(model.joints, model.q_slices):
        rotation = q[..., where][..., 3 if joint.type == "floating" else 2 :]
        if rotation.shape[-1] and np.any(np.abs(np.sum(rotation**2, axis=-1) - 1) > 1e-6):
            expected = (
                "a unit quaternion [x, y, z, w]" if joint.type == "floating" else "the cosine and sine of an angle"
            )
            raise InputError("q", f"joint '{joint.name}': expected {expected}, got {rotation}")


def vector(name: str, value: ArrayLike, size: int) -> Array:
    """Return the value as an array (..., size).

    Raises:
        InputError: the last axis has another length, or a number is not finite.
    """
    array = np.asarray(value)
    if array.dtype != object:  # symbols of a kernel that is being traced pass unchanged
        array = array.astype(float)
        if not np.all(np.isfinite(array)):
            raise InputError(name, f"expected finite numbers, got {array}")
    if array.ndim == 0 or array.shape[-1] != size:
        raise InputError(name, f"expected shape (..., {size}), got {array.shape}")
    return array


def gravity_vector(value: ArrayLike | None) -> Array:
    """Return the gravity vector in the base frame, m/s^2, shape (..., 3); STANDARD_GRAVITY for None."""
    return vector("gravity", STANDARD_GRAVITY if value is None else value, 3)
