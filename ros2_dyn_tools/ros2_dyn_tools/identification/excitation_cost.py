# SPDX-License-Identifier: Apache-2.0
"""The cost of an exciting trajectory and its gradient: minus the log-determinant of its information, and penalties."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.excitation import FourierBasis
from ros2_dyn_tools.identification.excitation_information import Information
from ros2_dyn_tools.identification.excitation_limits import MotionLimits

PENALTY = 300.0
"""Weight of squared excesses over the limits, averaged over the samples."""
NEAR = 0.95
"""Share of a limit from which on it costs: the trajectory is to keep the limit, not to average about it."""
RIDGE = 1e-9
"""Part of the identity that is added to the information, which motions without any lack."""
STEP = 1e-5
"""Step of the differences of states, rad or m, and s."""

Closeness = Callable[[Array], tuple[Array, Array]]
"""Of positions, shape (m, n): a measure of how near the links are to touching, (m,), and its gradient, (m, n)."""


class ExcitationCost:
    """Cost of the weights of a `FourierTrajectory`, which a quasi-Newton method can minimise."""

    def __init__(
        self,
        information: Information,
        limits: MotionLimits,
        posture: Array,
        *,
        basis: FourierBasis,
        times: Array,
        closeness: Closeness | None = None,
    ) -> None:
        """Set the problem; the times, s, shape (m,), are those of samples of one period."""
        self._information, self._limits, self._posture = information, limits, posture
        self._basis = basis.at(times)
        self._closeness = closeness
        self._shape = self._basis[0].shape[1], len(posture)

    def __call__(self, weights: Array) -> tuple[float, Array]:
        """Return the cost and its gradient, shape (p,), of all weights in one row, shape (p,)."""
        Z = weights.reshape(self._shape)
        q, qd, qdd = (B @ Z for B in self._basis)
        q = q + self._posture
        A = self._information.columns(q, qd, qdd)
        value, slope = self._information_cost(A)
        excess, excess_slope = self._effort_cost(A)
        gradients = self._through_columns(slope + excess_slope, q, qd, qdd)
        value += excess
        for which, (x, low, high) in enumerate(self._bounds(q, qd, qdd)):
            penalty, gradient = _outside(x, low, high)
            value += penalty
            gradients[which] += gradient
        if self._closeness is not None:
            near, gradient = self._closeness(q)
            value += PENALTY * float(np.mean(near))
            gradients[0] += PENALTY * gradient / len(near)
        return value, np.sum([B.T @ g for B, g in zip(self._basis, gradients)], axis=0).ravel()

    def _bounds(self, q: Array, qd: Array, qdd: Array) -> list[tuple[Array, Array, Array]]:
        """Return motions with their bounds."""
        one, v, a = self._limits, self._limits.velocity, self._limits.acceleration
        return [(q - self._posture, one.lower - self._posture, one.upper - self._posture), (qd, -v, v), (qdd, -a, a)]

    def _information_cost(self, A: Array) -> tuple[float, Array]:
        """Return minus the mean logarithm of the eigenvalues, and its derivatives by the columns, shape of A."""
        m, n, r = A.shape
        flat = A.reshape(-1, r)
        matrix = flat.T @ flat / m + RIDGE * np.eye(r)
        slope = -2.0 / (m * r) * np.linalg.solve(matrix, flat.T).T
        return -float(np.linalg.slogdet(matrix)[1]) / r, slope.reshape(m, n, r)

    def _effort_cost(self, A: Array) -> tuple[float, Array]:
        """Return the penalty of efforts over the limits, and its derivatives by the columns."""
        information = self._information
        beta = information.scale * information.beta
        limit = self._limits.effort
        penalty, gradient = _outside((A @ beta) * information.deviations, -limit, limit)
        return penalty, (gradient * information.deviations)[..., None] * beta

    def _through_columns(self, slope: Array, q: Array, qd: Array, qdd: Array) -> list[Array]:
        """Return the derivatives by q, qd and qdd, each of shape (m, n), from those by the columns."""
        n = q.shape[1]
        moves = STEP * np.eye(n)[:, None, :]
        gradients = []
        for which in range(3):
            sides = []
            for sign in (1.0, -1.0):
                x = [np.broadcast_to(each, (n, *each.shape)) for each in (q, qd, qdd)]
                x[which] = x[which] + sign * moves
                A = self._information.columns(x[0], x[1], x[2])
                sides.append(np.einsum("kmir,mir->mk", A, slope, optimize=True))
            gradients.append((sides[0] - sides[1]) / (2 * STEP))
        return gradients


def _outside(x: Array, low: Array, high: Array) -> tuple[float, Array]:
    """Return the penalty of values, shape (m, n), near or outside of bounds on both sides of 0, and its gradient."""
    bound = np.where(x > 0, high, -low)
    finite = np.isfinite(bound)
    size = np.where(finite, np.maximum(bound, 1e-3), 1.0)
    excess = np.where(finite, np.maximum(np.abs(x) / size - NEAR, 0.0), 0.0)
    weight = PENALTY / len(x)
    return weight * float(np.sum(excess**2)), 2 * weight * excess * np.sign(x) / size
