# SPDX-License-Identifier: Apache-2.0
"""The pseudo-inertia matrix of a body, positive definite for bodies that can exist.

Wensing, Kim and Slotine, Linear matrix inequalities for physically consistent inertial parameter identification (2018).
"""

from __future__ import annotations

import numpy as np

from ros2_dyn.model.spatial import Array

PARAMETERS = 10
"""Inertial parameters of a body, in the order of `inertial_parameters`."""


def _basis() -> Array:
    """Return the pseudo-inertia of each parameter alone, shape (10, 4, 4)."""
    m, h = 0, slice(1, 4)
    tensors = {4: (0, 0), 5: (0, 1), 6: (1, 1), 7: (0, 2), 8: (1, 2), 9: (2, 2)}
    P = np.zeros((PARAMETERS, 4, 4))
    P[m, 3, 3] = 1.0
    P[h, :3, 3] = P[h, 3, :3] = np.eye(3)
    for k, (i, j) in tensors.items():
        I = np.zeros((3, 3))
        I[i, j] = I[j, i] = 1.0
        P[k, :3, :3] = 0.5 * np.trace(I) * np.eye(3) - I
    return P


BASIS = _basis()
FLAT_BASIS = BASIS.reshape(PARAMETERS, 16)


def pseudo_inertia(parameters: Array) -> Array:
    """Return ``[[tr(I)/2 E - I, h], [h', m]]``, shape (..., 4, 4), of inertial parameters, shape (..., 10).

    It is positive definite if, and only if, a mass distribution with a positive density everywhere has the parameters:
    then the mass and the moments of inertia are positive, and none of these exceeds the sum of the others.
    """
    return (parameters @ FLAT_BASIS).reshape(*np.shape(parameters)[:-1], 4, 4)


def parameters_of(P: Array) -> Array:
    """Return the inertial parameters, shape (..., 10), of pseudo-inertias, shape (..., 4, 4)."""
    S = P[..., :3, :3]
    I = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    tensor = [I[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return np.stack([P[..., 3, 3], *np.moveaxis(P[..., :3, 3], -1, 0), *tensor], axis=-1)


def is_consistent(parameters: Array) -> bool:
    """Return whether a body can have the parameters, shape (10,)."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0)


def nearest_consistent(parameters: Array, mass: float, radius: float) -> Array:
    """Return the parameters of the nearest body of some extent, shape (10,); the same ones if they have it.

    The mass is raised to a smallest one, then the second moments of mass about the centre of mass along its principal
    axes.

    Args:
        parameters: of a body that may be unable to exist, shape (10,).
        mass: smallest mass, kg.
        radius: smallest root of the second moments by the mass, m.
    """
    P = pseudo_inertia(parameters)
    m = max(float(P[3, 3]), mass)
    com = P[:3, 3] / m
    moments, axes = np.linalg.eigh(P[:3, :3] - m * np.outer(com, com))
    if m == P[3, 3] and moments[0] >= m * radius**2:
        return np.array(parameters, dtype=float)
    P[3, 3] = m
    P[:3, :3] = (axes * np.maximum(moments, m * radius**2)) @ axes.T + m * np.outer(com, com)
    return parameters_of(P)
