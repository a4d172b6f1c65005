"""Velocity from positions, and acceleration from velocities, by filtered differences between samples."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, remainder, sqrt, tau

MAX_GAP = 0.5
"""Interval between samples, s, above which no rate is computed."""


def time_constant(cutoff: float) -> float:
    """Return the time constant, s, of a first-order low-pass with a cut-off frequency, Hz."""
    return 1 / (2 * pi * cutoff)


class FilteredDerivative:
    """Backward differences through a first-order low-pass; two in series give accelerations from positions."""

    def __init__(self, cutoff: float, turns: Sequence[bool]) -> None:
        """Make the filter.

        Args:
            cutoff: cut-off frequency, Hz.
            turns: for each number, whether it is an angle that may jump by whole turns.
        """
        self._time_constant = time_constant(cutoff)
        self._periods = [tau if turn else inf for turn in turns]
        self.restart()

    def delay(self, dt: float) -> float:
        """Return the delay, s, of a steadily changing rate at the sample period dt, s: the filter's, and dt / 2."""
        return dt * (1 / self._weight(dt) - 1) + dt / 2

    def noise_gain(self, dt: float) -> float:
        """Return the ratio of the rate's standard deviation to that of white noise on the samples, 1/s."""
        weight = self._weight(dt)
        return weight / dt * sqrt(2 / (2 - weight))

    def _weight(self, dt: float) -> float:
        """Return the weight of the newest difference."""
        return dt / (dt + self._time_constant)

    def restart(self) -> None:
        """Discard all samples."""
        self._t = -inf
        self._x: list[float] = []
        self._rate: list[float] | None = None

    def update(self, t: float, x: Sequence[float]) -> list[float] | None:
        """Add a sample, and return its rate; None for the first sample and after a gap.

        Args:
            t: time of the sample, s.
            x: the quantity, shape (n,).
        """
        dt, before = t - self._t, self._x
        if not 0 < dt <= MAX_GAP:
            self._rate = None if dt != 0 else self._rate
        else:
            raw = [
                (b - a if period == inf else remainder(b - a, period)) / dt
                for a, b, period in zip(before, x, self._periods)
            ]
            weight = self._weight(dt)
            old = raw if self._rate is None else self._rate
            self._rate = [o + weight * (r - o) for o, r in zip(old, raw)]
        self._t, self._x = t, list(x)
        return self._rate
