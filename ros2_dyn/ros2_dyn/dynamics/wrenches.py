# SPDX-License-Identifier: Apache-2.0
"""Forces and moments on one rigid body, reduced to one point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import vector
from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array, cross


def shift_wrench(wrench: ArrayLike, to: ArrayLike) -> Array:
    """Return the same wrench with its moment about another point: ``M' = M - to x F``.

    Args:
        wrench: [force; moment], N and N m, shape (..., 6).
        to: vector from the old point to the new one, in the wrench's axes, m, shape (..., 3).

    Returns:
        [force; moment about the new point], shape (..., 6).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    wrench = vector("wrench", wrench, 6)
    force, moment = np.broadcast_arrays(wrench[..., :3], wrench[..., 3:] - cross(vector("to", to, 3), wrench[..., :3]))
    return np.concatenate([force, moment], axis=-1)


def reduce_to_point(
    forces: ArrayLike, points: ArrayLike, moments: ArrayLike | None = None, about: ArrayLike = (0.0, 0.0, 0.0)
) -> Array:
    """Return the resultant wrench of k forces and k moments on a rigid body.

    Args:
        forces: N, shape (..., k, 3).
        points: points of action of the forces, m, shape (..., k, 3), in the same axes.
        moments: free moments, N m, shape (..., k, 3); none for None.
        about: reference point of the result, m, shape (..., 3).

    Returns:
        [force; moment about that point], N and N m, shape (..., 6).

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """
    F, p = vector("forces", forces, 3), vector("points", points, 3)
    if F.shape != p.shape or F.ndim < 2:
        raise InputError("points", f"expected the shape (..., k, 3) of the forces, {F.shape}; got {p.shape}")
    arms = p - vector("about", about, 3)[..., None, :]
    M = cross(arms, F) + (0.0 if moments is None else vector("moments", moments, 3))
    return np.concatenate([F.sum(axis=-2), M.sum(axis=-2)], axis=-1)


def central_axis(wrench: ArrayLike) -> tuple[Array, Array]:
    """Return the line along which both the force and the moment of a wrench act (Poinsot).

    Args:
        wrench: [force; moment], N and N m, shape (..., 6), with a nonzero force.

    Returns:
        The point of the line nearest to the wrench's reference point, m, shape (..., 3), and the moment along the line,
        N m, shape (..., 3).

    Raises:
        InputError: the shape is wrong, a value is not finite, or there is no force.
    """
    wrench = vector("wrench", wrench, 6)
    F, M = wrench[..., :3], wrench[..., 3:]
    squared = np.sum(F * F, axis=-1, keepdims=True)
    if np.any(squared == 0):
        raise InputError("wrench", "expected a nonzero force: a pure moment has no central axis")
    point = cross(F, M) / squared
    return point, M - cross(point, F)
