# SPDX-License-Identifier: Apache-2.0
"""Whether a controller obeys: small oscillating efforts, and their echo in the measured efforts.

Each joint oscillates at a frequency of its own, so that a joint that answers to another one's command differs from one
that does not answer. Without a probe nothing is known of an arm at rest: every controller holds it by the same effort.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array

OBEYED = 0.5
"""Fraction of a commanded oscillation above which the measured one is its echo."""
DRIFT = 3
"""Number of polynomial terms of each effort beside the oscillations."""


class ProbeFinding(NamedTuple):
    """What a probe has found, by the numbers of the joints; those that it does not name obey."""

    unknown: tuple[int, ...]
    """Joints whose measured efforts are too coarse."""
    disobeying: tuple[int, ...]
    answered_by: dict[int, int]
    """Which other joint answers instead, where one does."""


class ControllerProbe:
    """Oscillating efforts of all joints, and what is measured meanwhile.

    The efforts grow and shrink smoothly and have neither a sum nor a first moment: a free joint is where it was, and at
    rest, when they end.
    """

    def __init__(self, mobility: Array, limit: Array, period: float, now: float) -> None:
        """Begin.

        Args:
            mobility: acceleration of each joint by its own effort, 1/(kg m^2) or 1/kg, shape (n,).
            limit: effort limits, N m or N, shape (n,).
            period: of the states, s.
            now: time, s.
        """
        cycles = 5 + 2 * np.arange(len(limit))  # in the time of the probe; with less between they would mix
        self.begin = now
        self.duration = max(0.8, 4 * float(cycles[-1]) * period)  # s; four states in the shortest cycle at least
        self._omega = 2 * pi * cycles / self.duration
        # A joint without friction moves by 3e-4 rad or m, where 2 % of its effort limit is enough for that.
        self.amplitude = np.minimum(3e-4 * self._omega**2 / mobility, 0.02 * limit)
        self._commanded: list[tuple[float, Array]] = []
        self._measured: list[tuple[float, Array]] = []

    def effort(self, now: float) -> Array:
        """Return the efforts at a time, s; N m or N, shape (n,)."""
        cosine, _ = self._oscillations(np.array([now]))
        return self.amplitude * cosine[0]

    def on_command(self, now: float, effort: Array) -> None:
        """Take what was commanded at a time, s; N m or N, shape (n,)."""
        if not self.ended(now):
            self._commanded.append((now, effort))

    def on_effort(self, t: float, effort: Array) -> None:
        """Take what was measured at a time, s, as it would be commanded; N m or N, shape (n,)."""
        if self.begin <= t and not self.ended(t):
            self._measured.append((t, effort))

    def ended(self, now: float) -> bool:
        """Return whether the probe is over at a time, s."""
        return now > self.begin + self.duration

    def finding(self) -> ProbeFinding:
        """Return what was found out until now."""
        n = len(self.amplitude)
        everyone = tuple(range(n))
        needed = DRIFT + 2 * n + 1
        if min(len(self._measured), len(self._commanded)) < needed:
            return ProbeFinding(everyone, (), {})
        sent, _ = self._amplitudes(self._commanded)
        echo, error = self._amplitudes(self._measured)
        own = np.maximum(np.diag(sent), np.finfo(float).tiny)
        share, own_error = np.diag(echo) / own, (np.diag(error) + self._resolution() / np.sqrt(12)) / own
        unknown = tuple(i for i in everyone if own_error[i] > 0.2)  # too noisy or too coarse
        disobeying = tuple(i for i in everyone if i not in unknown and share[i] < OBEYED)
        others = echo / own - 3 * error / own
        np.fill_diagonal(others, 0.0)
        answered = {i: int(np.argmax(others[:, i])) for i in disobeying if np.max(others[:, i]) > OBEYED}
        return ProbeFinding(unknown, disobeying, answered)

    def _resolution(self) -> Array:
        """Return the step in which each joint's effort is measured, N m or N, shape (n,).

        An oscillation within a step is not seen, and leaves no error of a fit. An effort that does not change at all
        may be as coarse as any other.
        """
        measured = np.array([effort for _, effort in self._measured])
        steps = np.diff(np.sort(measured, axis=0), axis=0)
        smallest = np.where(steps > 1e-6 * self.amplitude, steps, np.inf).min(axis=0)  # more than rounding
        seen = smallest < np.inf
        return np.where(seen, smallest, smallest[seen].max(initial=0.0))

    def _amplitudes(self, efforts: list[tuple[float, Array]]) -> tuple[Array, Array]:
        """Fit the oscillations of all joints to the efforts of each.

        Returns:
            amplitude in the effort of joint i of the oscillation of joint j, N m or N, shape (n, n); and its standard
            error.
        """
        t, tau = np.array([at for at, _ in efforts]), np.array([effort for _, effort in efforts])
        n = tau.shape[1]
        s = (t - self.begin) / self.duration
        X = np.hstack([s[:, None] ** np.arange(DRIFT), *self._oscillations(t)])
        fit = np.linalg.lstsq(X, tau, rcond=None)[0]
        variance = np.sum((tau - X @ fit) ** 2, axis=0) / (len(t) - X.shape[1])
        covariance = np.linalg.pinv(X.T @ X)
        cosine, sine = fit[DRIFT : DRIFT + n], fit[DRIFT + n :]
        spread = np.diag(covariance)[DRIFT : DRIFT + n] + np.diag(covariance)[DRIFT + n :]
        return np.hypot(cosine, sine).T, np.sqrt(np.outer(variance, spread))

    def _oscillations(self, t: Array) -> tuple[Array, Array]:
        """Return cosine and sine of each joint under the window of Hann, at times, s; each of shape (m, n)."""
        s = np.clip((t - self.begin) / self.duration, 0.0, 1.0)[:, None]
        window = np.sin(pi * s) ** 2
        phase = self._omega * self.duration * (s - 0.5)
        return window * np.cos(phase), window * np.sin(phase)
