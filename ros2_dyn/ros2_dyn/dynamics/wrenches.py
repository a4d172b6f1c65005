"""Forces and moments on one rigid body, reduced to one point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import vector
from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array, cross


def shift_wrench(wrench: ArrayLike, to: ArrayLike) -> Array:
    """The same wrench, with its moment about another point: ``M' = M - to x F``.

    Args:
        wrench: [force; moment], N and N m, shape (..., 6).
        to: the new point as seen from the old one, in the wrench's axes, m, shape (..., 3).

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
    """The one wrench that does to a rigid body what k forces and k moments do: their resultant and resultant moment.

    Args:
        forces: N, shape (..., k, 3).
        points: where the forces act, m, shape (..., k, 3), in the same axes.
        moments: moments beside those of the forces, N m, shape (..., k, 3); none for None.
        about: the point to reduce to, m, shape (..., 3).

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
    """The line on which a wrench is a force and a moment along it, nothing across (Poinsot).

    Args:
        wrench: [force; moment], N and N m, shape (..., 6), with a force that is not zero.

    Returns:
        The point of the line that is nearest to the wrench's own, m, shape (..., 3), and the moment that is left, along
        the force, N m, shape (..., 3).

    Raises:
        InputError: the shape is wrong, a value is not finite, or there is no force.
    """
    wrench = vector("wrench", wrench, 6)
    F, M = wrench[..., :3], wrench[..., 3:]
    squared = np.sum(F * F, axis=-1, keepdims=True)
    if np.any(squared == 0):
        raise InputError("wrench", "expected a force that is not zero: a pure moment has no axis of its own")
    point = cross(F, M) / squared
    return point, M - cross(point, F)
