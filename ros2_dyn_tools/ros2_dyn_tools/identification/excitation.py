# SPDX-License-Identifier: Apache-2.0
"""Fourier series as joint trajectories: periodic, smooth, and at rest in a posture at the start and the end.

Swevers, Ganseman, Tuekel, De Schutter and Van Brussel, Optimal robot excitation and identification (1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array


@dataclass(frozen=True)
class FourierTrajectory:
    """A sum of harmonics of a base frequency for each joint; zero velocity and acceleration where a period begins."""

    posture: Array
    """Joint positions at the start, rad or m, shape (n,)."""
    weights: Array
    """Weights of the basis, rad/s or m/s, shape (2 harmonics - 2, n)."""
    base_frequency: float
    """Frequency of the first harmonic, Hz."""
    duration: float
    """A whole number of periods, s."""

    @cached_property
    def basis(self) -> FourierBasis:
        """Basis of all joints."""
        return FourierBasis(self.base_frequency, len(self.weights) // 2 + 1)

    def at(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations, shape (..., n), at times t (...), s; at rest after it."""
        q, qd, qdd = (values @ self.weights for values in self.basis.at(np.clip(t, 0.0, self.duration)))
        return self.posture + q, qd, qdd

    def times(self, rate: float) -> Array:
        """Return the times of samples at a rate, Hz, from the start to the end, shape (m,)."""
        return np.linspace(0.0, self.duration, round(self.duration * rate) + 1)

    def scaled(self, factor: float) -> FourierTrajectory:
        """Return the same motion about the same posture with other amplitudes."""
        return FourierTrajectory(self.posture, factor * self.weights, self.base_frequency, self.duration)


class FourierBasis:
    """Functions of time that are zero at 0 with their first two derivatives: 2 L - 2 combinations of L harmonics."""

    def __init__(self, base_frequency: float, harmonics: int) -> None:
        """Make the basis of L harmonics, at least 2, of a base frequency, Hz."""
        self._w = 2 * np.pi * base_frequency * np.arange(1, harmonics + 1)
        # Coefficients a, b of q = a sin(w t) / w + b (1 - cos(w t)) / w: qd = a and qdd = b w at 0, summed over all w.
        a, b = np.ones(harmonics), self._w
        self._free = np.block(
            [
                [_null_space(a), np.zeros((harmonics, harmonics - 1))],
                [np.zeros((harmonics, harmonics - 1)), _null_space(b)],
            ]
        )

    def at(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the functions and their first two derivatives at times t (...), s, each of shape (..., 2 L - 2)."""
        w = self._w
        phase = np.asarray(t, dtype=float)[..., None] * w
        s, c = np.sin(phase), np.cos(phase)
        values = ((s / w, (1 - c) / w), (c, s), (-w * s, w * c))
        q, qd, qdd = (np.concatenate(pair, axis=-1) @ self._free for pair in values)
        return q, qd, qdd


def _null_space(row: Array) -> Array:
    """Return orthonormal vectors across a row, shape (n, n - 1)."""
    return np.linalg.svd(row[None])[2][1:].T
