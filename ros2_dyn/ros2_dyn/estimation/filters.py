"""Velocity from positions, and acceleration from velocities: differences between samples, low-passed."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, remainder, sqrt, tau

LONGEST_GAP = 0.5
"""Samples further apart than this, s, say nothing about a rate."""


class FilteredDerivative:
    """Backward differences through a first-order low-pass; two in a row make accelerations from positions."""

    def __init__(self, cutoff: float, turns: Sequence[bool]) -> None:
        """Make it.

        Args:
            cutoff: Hz.
            turns: for each number whether it is an angle that may jump by whole turns.
        """
        self._time_constant = 1 / (2 * pi * cutoff)
        self._periods = [tau if turn else inf for turn in turns]
        self.restart()

    def delay(self, dt: float) -> float:
        """By how much, s, a steadily changing rate comes late, for samples dt apart: that of the filter, and dt / 2."""
        return dt * (1 / self._weight(dt) - 1) + dt / 2

    def noise_gain(self, dt: float) -> float:
        """Standard deviation of the rate over that of white noise on the samples, 1/s, for samples dt apart."""
        weight = self._weight(dt)
        return weight / dt * sqrt(2 / (2 - weight))

    def _weight(self, dt: float) -> float:
        """Of the newest difference."""
        return dt / (dt + self._time_constant)

    def restart(self) -> None:
        """Forget all samples."""
        self._t = -inf
        self._x: list[float] = []
        self._rate: list[float] | None = None

    def update(self, t: float, x: Sequence[float]) -> list[float] | None:
        """Take a sample; its rate, or None for the first one and after a gap.

        Args:
            t: time of the sample, s.
            x: its numbers.
        """
        dt, before = t - self._t, self._x
        if not 0 < dt <= LONGEST_GAP:
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
