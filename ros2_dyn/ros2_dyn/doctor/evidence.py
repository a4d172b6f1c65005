"""How well one joint's effort agrees with a model whose parameters are doubtful: a marginal likelihood.

The effort is Gaussian: its mean is the model's; its covariance is that of inertial parameters and friction that are
not known exactly, and of a rest that is correlated over a short time. What is not known of the scales is averaged over:
noise within some orders of magnitude, much or little friction, a good or a bad description. So a wrong description
and unknown friction are expected, and only what they cannot explain counts against a hypothesis (MacKay 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array

CORRELATION_TIME = 0.2
"""Time over which the rest is correlated, s."""
WHITE = 0.02
"""Part of the rest's variance that is not."""
NOISES = 0.0005 * 2.0 ** np.arange(12)
"""Standard deviations of the rest, as fractions of the effort limit."""
FRICTION_DOUBT = np.array([0.05, 0.05, 0.02, 0.01, 0.03, 0.03])
"""Standard deviations of the parameters of friction, as fractions of the effort limit: see `FRICTIONS`."""
RESTS = 2.0 ** np.arange(-6, 4)
"""Standard deviations of a rest that is all there is, as fractions of its size: its correlation is not known."""
OFFSET_DOUBT = 0.02
"""Standard deviation of the mean of an effort that has nothing to do with the model, likewise."""
DISSIPATIVE = slice(0, 2)
"""The parameters of friction that take energy from the arm: viscous and Coulomb."""


class Doubt(NamedTuple):
    """How much friction and how bad a description are expected, as factors of the standard deviations."""

    friction: float = 1.0
    description: float = 1.0


QUICK = (Doubt(0.1, 0.5), Doubt())
"""Enough to find what is wrong."""
THOROUGH = tuple(Doubt(f, d) for f in (0.04, 0.2, 1.0) for d in (0.25, 1.0))
"""What is needed to be sure of it."""


class JointEvidence:
    """Marginal likelihood of one joint's efforts."""

    def __init__(
        self, t: Array, bodies: Array, friction: Array, power: Array, limit: float, doubts: Sequence[Doubt]
    ) -> None:
        """Decompose the covariances.

        Args:
            t: times of the samples, s, shape (m,).
            bodies: efforts of one standard deviation of each inertial parameter, N m or N, shape (m, p).
            friction: efforts per unit of the parameters of friction, shape (m, 6).
            power: mean power per unit of viscous and of Coulomb friction, shape (2,).
            limit: effort limit, N m or N.
            doubts: what the likelihood is averaged over.
        """
        self._covariances = [
            _Covariance(t, each.description * bodies, friction, power, limit, each.friction) for each in doubts
        ]

    def log_likelihood(self, measured: Array, mean: Array, scales: Array) -> Array:
        """Return the logarithm of the likelihood, up to a constant, for each scale.

        Args:
            measured: efforts in the driver's unit, shape (m,).
            mean: the model's efforts, N m or N, shape (m,).
            scales: N m or N per unit of the driver; negative for the opposite sign; shape (k,).
        """
        parts = [each.log_likelihood(measured, mean, scales) for each in self._covariances]
        return np.logaddexp.reduce(parts) - np.log(len(parts))

    def whitened(self, measured: Array, mean: Array, scale: float, columns: Array) -> tuple[Array, Array]:
        """Return the error of the mean, (m,), and columns, (m, c), in units of their most likely deviations."""
        one = np.array([scale])
        best = max(self._covariances, key=lambda each: float(each.log_likelihood(measured, mean, one)[0]))
        return best.whitened(measured, mean, scale, columns)


class _Covariance:
    """One covariance for each of the `NOISES`, all with the same eigenvectors."""

    def __init__(self, t: Array, bodies: Array, friction: Array, power: Array, limit: float, factor: float) -> None:
        root = np.linalg.cholesky(rest_correlation(t))
        deviations = factor * FRICTION_DOUBT * limit
        known = np.linalg.solve(root, np.hstack([bodies, friction * deviations]))
        U, s, _ = np.linalg.svd(known)
        self._rotate: Array = np.linalg.solve(root.T, U).T
        explained = np.zeros(len(t))
        explained[: len(s)] = s**2
        self._variances: Array = explained + (NOISES[:, None] * limit) ** 2
        self._log_det: Array = np.sum(np.log(self._variances), axis=1) + 2 * np.sum(np.log(np.diag(root)))
        # The mean power of friction, and what the samples tell about it: it is not negative.
        w = power * deviations[DISSIPATIVE]
        self._power: Array = self._rotate @ (friction * deviations)[:, DISSIPATIVE] @ w
        self._power_deviation: Array = np.sqrt(
            np.maximum(w @ w - np.sum(self._power**2 / self._variances, axis=1), 1e-300)
        )

    def log_likelihood(self, measured: Array, mean: Array, scales: Array) -> Array:
        from scipy.special import log_ndtr

        y, mu, k = self._rotate @ measured, self._rotate @ mean, np.asarray(scales)[:, None]
        per_variance = np.stack([y * y, y * mu, mu * mu, self._power * y, self._power * mu]) @ (1 / self._variances).T
        yy, ym, mm, py, pm = per_variance
        likelihood = -0.5 * (k**2 * yy - 2 * k * ym + mm + self._log_det) + len(y) * np.log(np.abs(k))
        likelihood += log_ndtr((k * py - pm) / self._power_deviation) + np.log(2)
        return np.asarray(np.logaddexp.reduce(likelihood, axis=1) - np.log(len(NOISES)))

    def whitened(self, measured: Array, mean: Array, scale: float, columns: Array) -> tuple[Array, Array]:
        error = self._rotate @ (scale * measured - mean)
        likelihood = -0.5 * (np.sum(error**2 / self._variances, axis=1) + self._log_det)
        deviation = np.sqrt(self._variances[int(np.argmax(likelihood))])
        return error / deviation, (self._rotate @ columns) / deviation[:, None]


def log_likelihood_without_model(t: Array, measured: Array, limit: float) -> float:
    """Return the logarithm of the likelihood of a joint's efforts, (m,), as a constant and a rest of any smoothness."""
    parts = [_of_rest(correlation, measured, limit) for correlation in _any_correlations(t)]
    return float(np.logaddexp.reduce(parts)) - float(np.log(len(parts)))


def _of_rest(correlation: Array, measured: Array, limit: float) -> float:
    root = np.linalg.cholesky(correlation)
    y, one = np.linalg.solve(root, np.stack([measured, np.ones(len(measured))], axis=1)).T
    size = np.sqrt(np.mean(measured**2)) + 1e-12
    variance, offset = (RESTS * size) ** 2, (OFFSET_DOUBT * limit) ** 2
    square = (y @ y - (one @ y) ** 2 * offset / (variance + offset * (one @ one))) / variance
    log_det = len(measured) * np.log(variance) + np.log1p(offset * (one @ one) / variance)
    log_det += 2 * np.sum(np.log(np.diag(root)))
    return float(np.logaddexp.reduce(-0.5 * (square + log_det)) - np.log(len(RESTS)))


def _any_correlations(t: Array) -> list[Array]:
    """Return correlation matrices, shape (m, m), of rests that are rough or smooth, fast or slow."""
    distance = np.abs(t[:, None] - t)
    rough = [np.exp(-distance / time) for time in (0.05, CORRELATION_TIME, 1.0)]
    smooth = [np.exp(-0.5 * (distance / time) ** 2) for time in (0.1, 0.15, 0.25, 0.5)]
    return [(1 - WHITE) * each + WHITE * np.eye(len(t)) for each in rough + smooth]


def rest_correlation(t: Array) -> Array:
    """Return the correlation matrix of the rest at some times (m,), shape (m, m)."""
    return (1 - WHITE) * np.exp(-np.abs(t[:, None] - t) / CORRELATION_TIME) + WHITE * np.eye(len(t))
