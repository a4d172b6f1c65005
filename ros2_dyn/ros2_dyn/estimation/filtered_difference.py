"""The rate of a measured quantity: differences between samples, low-passed."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, remainder, tau

LONGEST_GAP = 0.5
"""Samples further apart than this, s, say nothing about a rate."""


class FilteredDifference:
    """Backward differences through a first-order low-pass.

    At the cutoff f a rate lags by 1 / (2 pi f) plus half a sample; noise of standard deviation s in samples dt apart
    becomes about s sqrt(2 pi f / dt) where 2 pi f dt is small.
    """

    def __init__(self, cutoff: float, turns: Sequence[bool]) -> None:
        """Make it.

        Args:
            cutoff: Hz.
            turns: for each number whether it is an angle that may jump by whole turns.
        """
        self._time_constant = 1 / (2 * pi * cutoff)
        self._periods = [tau if turn else inf for turn in turns]
        self.restart()

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
            weight = dt / (dt + self._time_constant)
            old = raw if self._rate is None else self._rate
            self._rate = [o + weight * (r - o) for o, r in zip(old, raw)]
        self._t, self._x = t, list(x)
        return self._rate
