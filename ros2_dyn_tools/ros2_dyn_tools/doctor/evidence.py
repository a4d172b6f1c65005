# SPDX-License-Identifier: Apache-2.0
"""How well one joint's effort agrees with a model whose parameters are doubtful: a marginal likelihood.

The effort is Gaussian: its mean is the model's; its covariance is that of inertial parameters and friction that are
not known exactly, and of a rest that is correlated over a short time. What is not known of the scales is averaged over:
a rest within some orders of magnitude, much or little friction, a good or a bad description. So a wrong description
and unknown friction are expected, and only what they cannot explain counts against a hypothesis (MacKay 1992).

The rest is that of the recording: a hypothesis about the unit of the efforts multiplies both. Then no unit is likelier
than another because it lifts a small rest, or presses a large one, into what was thought of.
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
OCTAVES = 10
"""Base 2 logarithm of the ratio of the largest standard deviation of the rest, twice a joint's effort, to the least.

The least is 0.2 % of the effort, RMS: as good robots repeat themselves.
"""
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


QUICK = (PriorScale(0.1, 0.5), PriorScale(), PriorScale(5.0))
"""Enough to find what is wrong."""
THOROUGH = tuple(PriorScale(f, d) for f in (0.04, 0.2, 1.0, 5.0) for d in (0.25, 1.0))
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
        self._explained: Array = np.zeros((len(size), 1, R.shape[0]))
        """Variances along the axes, shape (d, 1, c)."""
        self._explained[..., : s.shape[-1]] = s[:, None, :] ** 2
        self._outside, self._log_det_rest = len(t) - R.shape[0], log_det
        self._step = noise_step(len(t))
        # The mean power of friction, and what the samples tell about it: it is not negative.
        w = np.array([each.friction for each in doubts])[:, None] * power * deviations[DISSIPATIVE]
        dissipated = (R * size[:, None, :])[:, :, bodies.shape[1] :][:, :, DISSIPATIVE]
        self._power: Array = np.einsum("dab,dbe,de->da", self._axes, dissipated, w)
        self._power_variance: Array = np.sum(w * w, axis=1)[:, None]
        self._rests = _Rests(0, np.empty(0), np.empty(0), np.empty(0), np.empty(0))

    def log_likelihood(self, measured: Array, mean: Array, scales: Array) -> Array:
        """Return the logarithm of the likelihood, up to a constant, for each scale.

        Args:
            measured: efforts in the driver's unit, shape (m,).
            mean: the model's efforts, N m or N, shape (m,).
            scales: N m or N per unit of the driver; negative for the opposite sign; shape (s,).
        """
        from scipy.special import log_ndtr

        k = np.asarray(scales, dtype=float)
        rests, which = self._rests_of(measured, k)
        both = self._whiten @ np.stack([measured, mean], axis=1)
        inside = self._basis.T @ both
        rest = both.T @ both - inside.T @ inside
        y, mu = np.moveaxis(self._axes @ inside, -1, 0)
        products = np.stack([y * y, y * mu, mu * mu, self._power * y, self._power * mu], axis=1)
        yy, ym, mm, py, pm = np.moveaxis(products @ np.swapaxes(1 / rests.variances, -1, -2), 1, 0)
        outside = np.maximum(rest[[0, 0, 1], [0, 1, 1]], [0.0, -np.inf, 0.0])[:, None] / rests.noise
        yy, ym, mm = (part + more for part, more in zip((yy, ym, mm), outside))
        yy, ym, mm, py, pm, log_det, deviation = (
            part[:, which] for part in (yy, ym, mm, py, pm, rests.log_det, rests.power_deviation)
        )
        likelihood = -0.5 * (k**2 * yy - 2 * k * ym + mm + log_det)
        likelihood += log_ndtr((k * py - pm) / deviation) + np.log(2)
        count = np.log(likelihood.shape[0] * likelihood.shape[1])
        total = np.logaddexp.reduce(likelihood.reshape(-1, len(k)), axis=0)
        return np.asarray(total - count + len(measured) * np.log(np.abs(k)))

    def whitened(self, measured: Array, mean: Array, scale: float, columns: Array) -> tuple[Array, Array]:
        """Return the error of the mean, (m,), and columns, (m, c), in units of their most likely deviations."""
        values = self._whiten @ np.column_stack([scale * measured - mean, columns])
        inside = self._basis.T @ values
        error = self._axes @ inside[:, 0]
        rests, which = self._rests_of(measured, np.array([scale]))
        variances, noise = rests.variances[:, which[:, 0]], rests.noise[which[:, 0]]
        outside = (values[:, 0] @ values[:, 0] - inside[:, 0] @ inside[:, 0]) / noise
        badness = np.sum(error[:, None] ** 2 / variances, axis=-1) + outside + rests.log_det[:, which[:, 0]]
        doubt, likely = np.unravel_index(int(np.argmin(badness)), badness.shape)
        axes, flat = self._axes[doubt], 1 / np.sqrt(noise[likely])
        less = (1 / np.sqrt(variances[doubt, likely]) - flat)[:, None] * (axes @ inside)
        result = flat * values + self._basis @ (axes.T @ less)
        return result[:, 0], result[:, 1:]

    def _rests_of(self, measured: Array, scales: Array) -> tuple[_Rests, Array]:
        """Return rests of all sizes that count for some scales, and which of them count for each, shape (k, s)."""
        sizes, known = rest_sizes(measured, scales, self._step), self._rests
        low, high = int(np.min(sizes)), int(np.max(sizes))
        if len(known.noise):
            low, high = min(low, known.first), max(high, known.first + len(known.noise) - 1)
        if high - low >= len(known.noise):
            known = self._rests = self._make_rests(low, high)
        return known, sizes - known.first

    def _make_rests(self, first: int, last: int) -> _Rests:
        noise = 4.0 ** (self._step * np.arange(first, last + 1))
        variances = self._explained + noise[:, None]
        log_det = np.sum(np.log(variances), axis=-1) + self._outside * np.log(noise) + self._log_det_rest
        told = np.sum(self._power[:, None] ** 2 / variances, axis=-1)
        deviation = np.sqrt(np.maximum(self._power_variance - told, 1e-300))
        return _Rests(first, noise, variances, log_det, deviation)


class _Rests(NamedTuple):
    """Rests of k sizes, each a ratio larger than the one before."""

    first: int
    """The power of the ratio that the first one is."""
    noise: Array
    """Their variances, shape (k,)."""
    variances: Array
    """Those along the axes, with what can be explained, shape (d, k, c)."""
    log_det: Array
    """Logarithms of the determinants of the covariances, shape (d, k)."""
    power_deviation: Array
    """Standard deviation of the mean power of friction, where the efforts are known, shape (d, k)."""


@lru_cache(maxsize=8)
def _whitening(t: tuple[float, ...]) -> tuple[Array, float]:
    """Return what makes the rest at some times independent, (m, m), and the log determinant of its covariance."""
    root = np.linalg.cholesky(rest_correlation(np.array(t)))
    return np.linalg.inv(root), 2 * float(np.sum(np.log(np.diag(root))))


def noise_step(m: int) -> float:
    """Return the base 2 logarithm of the ratio of two standard deviations of the rest, of m samples."""
    return FINE if m > FEW else 2 * FINE


def rest_sizes(measured: Array, scales: Array, step: float) -> Array:
    """Return the standard deviations of the rest that count, N m or N, as powers of the ratio 2^step, shape (k, s).

    Args:
        measured: efforts of a joint in the driver's unit, shape (m,).
        scales: N m or N per unit of the driver, shape (s,).
        step: see `noise_step`.
    """
    size = 2 * np.abs(scales) * np.sqrt(np.mean(measured**2))
    largest = np.round(np.log2(size + 1e-300) / step).astype(int)
    return np.asarray(largest - np.arange(round(OCTAVES / step) + 1)[::-1, None])


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
