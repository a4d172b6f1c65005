"""The pseudo-inertia matrix of a body, positive definite for bodies that can exist, and a distance between two bodies.

Wensing, Kim and Slotine, Linear matrix inequalities for physically consistent inertial parameter identification (2018);
Lee, Wensing and Park, Geometric robot dynamic identification: a convex programming approach (2020).
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


def pseudo_inertia(parameters: Array) -> Array:
    """Return ``[[tr(I)/2 E - I, h], [h', m]]``, shape (..., 4, 4), of inertial parameters, shape (..., 10).

    It is positive definite if, and only if, a mass distribution with a positive density everywhere has the parameters:
    then the mass and the moments of inertia are positive, and none of these exceeds the sum of the others.
    """
    return np.tensordot(parameters, BASIS, 1)


def is_consistent(parameters: Array) -> bool:
    """Return whether a body can have the parameters, shape (10,)."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0)


class Divergence:
    """The log-det divergence of a body from another one, ``tr(P0^-1 P) - log det(P0^-1 P) - 4``.

    It is convex, zero for the same body, and infinite at the bounds of what can exist. It does not depend on units, or
    on the frame that both are given in.
    """

    def __init__(self, reference: Array) -> None:
        """Make the divergence from a body with parameters that can exist, shape (10,)."""
        P = pseudo_inertia(reference)
        self._inverse = np.linalg.inv(P)
        self._log_det = float(np.linalg.slogdet(P)[1])
        self._slope = np.einsum("ab,kba->k", self._inverse, BASIS)

    def value(self, parameters: Array) -> float:
        """Return the divergence of a body with parameters, shape (10,); inf where none has them."""
        P = pseudo_inertia(parameters)
        if np.linalg.eigvalsh(P)[0] <= 0:
            return np.inf
        return float(self._slope @ parameters - np.linalg.slogdet(P)[1] + self._log_det - 4.0)

    def derivatives(self, parameters: Array) -> tuple[Array, Array]:
        """Return the gradient, shape (10,), and the Hessian, shape (10, 10), where the divergence is finite."""
        steps = np.linalg.inv(pseudo_inertia(parameters)) @ BASIS
        return self._slope - np.trace(steps, axis1=1, axis2=2), np.einsum("kab,lba->kl", steps, steps)
