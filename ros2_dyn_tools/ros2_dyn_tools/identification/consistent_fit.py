# SPDX-License-Identifier: Apache-2.0
"""Least squares for parameters that can exist: bodies near those of a description, and friction that is not negative.

The problem is convex and smooth inside its bounds, so that Newton's method with a line search finds its one solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.pseudo_inertia import BASIS, PARAMETERS, pseudo_inertia
from ros2_dyn.model.spatial import Array

MAX_STEPS = 100
"""Newton steps; some 20 are usual."""
ACCURACY = 1e-15
"""Newton decrement, as a fraction of the cost, at which it is solved."""
SUFFICIENT = 1e-4
"""Share of the expected decrease that a step has to make."""
TO_THE_BORDER = 0.95
"""Share of the way to where a parameter is no longer positive that a step goes at most."""
BARRIER = 1e-3
"""Weight of the logarithm that keeps a parameter positive, as a fraction of the weight of its squared size.

What a motion does not tell becomes 3 % of its typical size, not zero.
"""

ROUNDING = 1e-6
"""A body that is as flat as this, beside those of the description, cannot be told from one that cannot exist."""


class Divergence:
    """The log-det divergence of bodies from others, ``tr(P0^-1 P) - log det(P0^-1 P) - 4`` each.

    Lee, Wensing and Park, Geometric robot dynamic identification: a convex programming approach (2020).

    It is convex, zero for the same body, and infinite at the bounds of what can exist. It does not depend on units, or
    on the frame that both are given in.
    """

    def __init__(self, reference: Array) -> None:
        """Make the divergence from bodies with parameters that can exist, shape (..., 10)."""
        P = pseudo_inertia(reference)
        self._whitening = np.linalg.inv(np.linalg.cholesky(P))
        self._slope = np.einsum("...ab,kba->...k", np.linalg.inv(P), BASIS)

    def value(self, parameters: Array) -> float:
        """Return the sum over bodies with parameters, shape (..., 10); inf where one of them cannot exist."""
        P = self._whitening @ pseudo_inertia(parameters) @ np.swapaxes(self._whitening, -1, -2)
        try:
            pivots = np.diagonal(np.linalg.cholesky(P), axis1=-2, axis2=-1)
        except np.linalg.LinAlgError:
            return np.inf
        if np.any(pivots.min(axis=-1) < ROUNDING * pivots.max(axis=-1)):
            return np.inf
        return float(np.sum(np.sum(self._slope * parameters, axis=-1) - 2 * np.log(pivots).sum(axis=-1) - 4.0))

    def derivatives(self, parameters: Array) -> tuple[Array, Array]:
        """Return the gradients, shape (..., 10), and the Hessians, shape (..., 10, 10), where it is finite."""
        steps = np.linalg.inv(pseudo_inertia(parameters))[..., None, :, :] @ BASIS
        flat, turned = (x.reshape(*steps.shape[:-2], 16) for x in (steps, np.swapaxes(steps, -1, -2)))
        return self._slope - np.trace(steps, axis1=-2, axis2=-1), flat @ np.swapaxes(turned, -1, -2)


@dataclass(frozen=True)
class Prior:
    """What is known before a motion is seen."""

    bodies: Array
    """Inertial parameters of the description, shape (b, 10)."""
    scale: Array
    """Typical size of each other parameter, such as friction, shape (k,)."""
    positive: Array
    """Whether it is never negative, shape (k,)."""
    weight: float = 1.0
    """Weight of the bodies' divergence, in units of squared errors."""
    scale_weight: float = 1.0
    """Weight of the other parameters' squared sizes, in the same units."""


def fit(normal: Array, right: Array, prior: Prior, start: Array | None = None, accuracy: float = ACCURACY) -> Array:
    """Return the parameters x that minimise ``|A x - b|^2 / 2`` and the distance from the prior.

    Args:
        normal: ``A' A``, shape (10 b + k, 10 b + k); with ``right`` all that is needed of a motion of any length.
        right: ``A' b``, shape (10 b + k,).
        prior: see `Prior`.
        start: where to begin, such as the parameters of a similar problem; those of the prior for None.
        accuracy: Newton decrement, as a fraction of the cost, at which it is solved.

    Returns:
        First the bodies' inertial parameters, all consistent, then the others, shape (10 b + k,).

    Raises:
        InputError: a body of the prior cannot exist.
    """
    if (impossible := np.linalg.eigvalsh(pseudo_inertia(prior.bodies))[:, 0] <= 0).any():
        body = int(np.argmax(impossible))
        raise InputError("prior", f"body {body} cannot exist: its pseudo-inertia is not positive definite")
    problem = _Problem(normal, right, prior)
    x = np.concatenate([prior.bodies.ravel(), np.where(prior.positive, 0.1 * prior.scale, 0.0)])
    if start is not None and np.isfinite(problem.cost(start)):
        x = start
    cost = problem.cost(x)
    for _ in range(MAX_STEPS):
        gradient, hessian = problem.derivatives(x)
        step = -np.linalg.solve(hessian, gradient)
        decrease = float(-gradient @ step)
        if decrease < accuracy * (1.0 + abs(cost)):
            break
        before = cost
        x, cost = _line_search(problem, x, cost, step, decrease)
        if cost == before:  # as far as numbers of this precision tell, it is the lowest
            break
    return x


def _line_search(problem: _Problem, x: Array, cost: float, step: Array, decrease: float) -> tuple[Array, float]:
    """Return the next parameters and their cost: as far along a step as pays, or those that are, where none does."""
    length = problem.longest(x, step)
    while (new := problem.cost(x + length * step)) > cost - SUFFICIENT * length * decrease:
        length /= 2
        if length < 1e-12:
            return x, cost
    return x + length * step, new


class _Problem:
    """The cost and its derivatives."""

    def __init__(self, normal: Array, right: Array, prior: Prior) -> None:
        self._normal, self._right, self._prior = normal, right, prior
        self._divergence = Divergence(prior.bodies)
        self._bodies = slice(0, prior.bodies.size)
        self._others = slice(prior.bodies.size, None)
        self._barrier = BARRIER * prior.scale_weight * prior.positive

    def cost(self, x: Array) -> float:
        """Return the cost; inf where the parameters cannot exist."""
        prior, others = self._prior, x[self._others]
        if np.any(others[prior.positive] <= 0):
            return np.inf
        distance = self._divergence.value(x[self._bodies].reshape(-1, PARAMETERS))
        if distance == np.inf:
            return np.inf
        sizes = others / prior.scale
        logarithms = np.log(np.where(prior.positive, np.abs(sizes), 1.0))
        known = prior.weight * distance + 0.5 * prior.scale_weight * float(sizes @ sizes)
        return float(0.5 * x @ self._normal @ x - self._right @ x + known - self._barrier @ logarithms)

    def longest(self, x: Array, step: Array) -> float:
        """Return the share of a step, at most 1, that leaves positive parameters positive."""
        positive = self._prior.positive
        most = np.max(-step[self._others][positive] / x[self._others][positive], initial=0.0)
        return min(1.0, TO_THE_BORDER / most) if most > 0 else 1.0

    def derivatives(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of the cost."""
        prior, others = self._prior, x[self._others]
        gradient, hessian = self._normal @ x - self._right, self._normal.copy()
        slope, curvature = self._divergence.derivatives(x[self._bodies].reshape(-1, PARAMETERS))
        gradient[self._bodies] += prior.weight * slope.ravel()
        for i, block in enumerate(curvature):
            body = slice(PARAMETERS * i, PARAMETERS * (i + 1))
            hessian[body, body] += prior.weight * block
        slopes = self._barrier / np.where(prior.positive, others, 1.0)
        gradient[self._others] += prior.scale_weight * others / prior.scale**2 - slopes
        curvatures = prior.scale_weight / prior.scale**2 + slopes / np.where(prior.positive, others, 1.0)
        hessian[self._others, self._others] += np.diag(curvatures)
        return gradient, hessian
