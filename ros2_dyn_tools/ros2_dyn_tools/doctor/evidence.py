# SPDX-License-Identifier: Apache-2.0
"""How well one joint's effort agrees with a model whose parameters are doubtful: a marginal likelihood.

The effort is Gaussian: its mean is the model's; its covariance is that of inertial parameters and friction that are
not known exactly, and of a rest that is correlated over a short time. What is not known of the scales is averaged over:
noise within some orders of magnitude, much or little friction, a good or a bad description. So a wrong description
and unknown friction are expected, and only what they cannot explain counts against a hypothesis (MacKay 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array

CORRELATION_TIME = 0.2
"""Time over which the rest is correlated, s."""
WHITE = 0.02
"""Part of the rest's variance that is not."""
FINE = 0.25
"""Logarithm to the base of 2 of the ratio of two deviations: of m samples, a ratio of 2 would cost up to 0.1 m."""
FEW = 100
"""Number of samples that do with twice that."""
NOISES = 0.0005 * 2.0 ** np.arange(0, 11 + FINE, FINE)
"""Standard deviations of the rest, as fractions of the effort limit; of few samples every other one: see `noises`."""
FRICTION_DOUBT = np.array([0.05, 0.05, 0.02, 0.01, 0.03, 0.03])
"""Standard deviations of the parameters of friction, as fractions of the effort limit: see `FRICTIONS`."""
RESTS = 2.0 ** np.arange(-6, 3 + FINE, FINE)
"""Standard deviations of a rest that is all there is, as fractions of its size: its correlation is not known."""
OFFSET_DOUBT = 0.02
"""Standard deviation of the mean of an effort that has nothing to do with the model, likewise."""
DISSIPATIVE = slice(0, 2)
"""The parameters of friction that take energy from the arm: viscous and Coulomb."""


class PriorScale(NamedTuple):
    """How much friction and how bad a description are expected, as factors of the standard deviations."""

    friction: float = 1.0
    description: float = 1.0


QUICK = (PriorScale(0.1, 0.5), PriorScale())
"""Enough to find what is wrong."""
THOROUGH = tuple(PriorScale(f, d) for f in (0.04, 0.2, 1.0) for d in (0.25, 1.0))
"""What is needed to be sure of it."""


class JointEvidence:
    """Marginal likelihood of one joint's efforts: normal densities, averaged over doubts and `noises`.

    Whitened by the rest's correlation, all covariances are a multiple of the identity but in the space of what
    inertial parameters and friction can explain. So they are decomposed in that space alone, of dimension c.
    """

    def __init__(
        self, t: Array, bodies: Array, friction: Array, *, power: Array, limit: float, doubts: Sequence[PriorScale]
    ) -> None:
        """Decompose the covariances.

        Args:
            t: times of the samples, s, shape (m,).
            bodies: efforts of one standard deviation of each inertial parameter, N m or N, shape (m, p).
            friction: efforts per unit of the parameters of friction, shape (m, 6).
            power: mean power per unit of viscous and of Coulomb friction, shape (2,).
            limit: effort limit, N m or N.
            doubts: what the likelihood is averaged over, d of them.
        """
        self._whiten, log_det = _whitening(tuple(t.tolist()))
        bodies = bodies[:, np.any(bodies != 0.0, axis=0)]  # those beyond the joint
        deviations = FRICTION_DOUBT * limit
        self._basis, R = np.linalg.qr(self._whiten @ np.hstack([bodies, friction * deviations]))
        """What can be explained, shape (m, c)."""
        size = np.array([[each.description] * bodies.shape[1] + [each.friction] * len(deviations) for each in doubts])
        U, s, _ = np.linalg.svd(R * size[:, None, :])
        self._axes: Array = np.swapaxes(U, -1, -2)
        """Their principal axes in the basis, shape (d, c, c)."""
        self._noise: Array = (noises(len(t)) * limit) ** 2
        """Variance of the rest, shape (k,)."""
        explained = np.zeros((len(size), 1, R.shape[0]))
        explained[..., : s.shape[-1]] = s[:, None, :] ** 2
        self._variances: Array = explained + self._noise[:, None]
        """Along the axes, shape (d, k, c)."""
        more = (len(t) - R.shape[0]) * np.log(self._noise)
        self._log_det: Array = np.sum(np.log(self._variances), axis=-1) + more + log_det
        # The mean power of friction, and what the samples tell about it: it is not negative.
        w = np.array([each.friction for each in doubts])[:, None] * power * deviations[DISSIPATIVE]
        dissipated = (R * size[:, None, :])[:, :, bodies.shape[1] :][:, :, DISSIPATIVE]
        self._power: Array = np.einsum("dab,dbe,de->da", self._axes, dissipated, w)
        told = np.sum(self._power[:, None] ** 2 / self._variances, axis=-1)
        self._power_deviation: Array = np.sqrt(np.maximum(np.sum(w * w, axis=1)[:, None] - told, 1e-300))

    def log_likelihood(self, measured: Array, mean: Array, scales: Array) -> Array:
        """Return the logarithm of the likelihood, up to a constant, for each scale.

        Args:
            measured: efforts in the driver's unit, shape (m,).
            mean: the model's efforts, N m or N, shape (m,).
            scales: N m or N per unit of the driver; negative for the opposite sign; shape (s,).
        """
        from scipy.special import log_ndtr

        both = self._whiten @ np.stack([measured, mean], axis=1)
        inside = self._basis.T @ both
        rest = both.T @ both - inside.T @ inside
        y, mu = np.moveaxis(self._axes @ inside, -1, 0)
        products = np.stack([y * y, y * mu, mu * mu, self._power * y, self._power * mu], axis=1)
        yy, ym, mm, py, pm = np.moveaxis(products @ np.swapaxes(1 / self._variances, -1, -2), 1, 0)[..., None]
        outside = np.maximum(rest[[0, 0, 1], [0, 1, 1]], [0.0, -np.inf, 0.0])[:, None] / self._noise
        yy, ym, mm = (part + more[:, None] for part, more in zip((yy, ym, mm), outside))
        k = np.asarray(scales, dtype=float)
        likelihood = -0.5 * (k**2 * yy - 2 * k * ym + mm + self._log_det[..., None])
        likelihood += log_ndtr((k * py - pm) / self._power_deviation[..., None]) + np.log(2)
        count = np.log(likelihood.shape[0] * likelihood.shape[1])
        total = np.logaddexp.reduce(likelihood.reshape(-1, len(k)), axis=0)
        return np.asarray(total - count + len(measured) * np.log(np.abs(k)))

    def whitened(self, measured: Array, mean: Array, scale: float, columns: Array) -> tuple[Array, Array]:
        """Return the error of the mean, (m,), and columns, (m, c), in units of their most likely deviations."""
        values = self._whiten @ np.column_stack([scale * measured - mean, columns])
        inside = self._basis.T @ values
        error = self._axes @ inside[:, 0]
        outside = (values[:, 0] @ values[:, 0] - inside[:, 0] @ inside[:, 0]) / self._noise
        badness = np.sum(error[:, None] ** 2 / self._variances, axis=-1) + outside + self._log_det
        doubt, noise = np.unravel_index(int(np.argmin(badness)), badness.shape)
        axes, flat = self._axes[doubt], 1 / np.sqrt(self._noise[noise])
        less = (1 / np.sqrt(self._variances[doubt, noise]) - flat)[:, None] * (axes @ inside)
        result = flat * values + self._basis @ (axes.T @ less)
        return result[:, 0], result[:, 1:]


@lru_cache(maxsize=8)
def _whitening(t: tuple[float, ...]) -> tuple[Array, float]:
    """Return what makes the rest at some times independent, (m, m), and the log determinant of its covariance."""
    root = np.linalg.cholesky(rest_correlation(np.array(t)))
    return np.linalg.inv(root), 2 * float(np.sum(np.log(np.diag(root))))


def noises(m: int) -> Array:
    """Return the standard deviations of the rest that m samples are compared with, as fractions of the effort limit."""
    return NOISES if m > FEW else NOISES[::2]


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
