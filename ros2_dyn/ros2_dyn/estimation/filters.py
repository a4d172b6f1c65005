# SPDX-License-Identifier: Apache-2.0
"""Filters of samples at irregular times: a low-pass, and filtered differences (velocity, acceleration)."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, pi, remainder, tau

MAX_GAP = 0.5
"""Interval between samples, s, above which no rate is computed."""


def time_constant(cutoff: float) -> float:
    """Return the time constant, s, of a first-order low-pass with a cut-off frequency, Hz."""
    return 1 / (2 * pi * cutoff)


class LowPass:
    """First-order low-pass, discretised exactly for inputs that are constant from one sample to the next."""

    def __init__(self, cutoff: float = inf) -> None:
        """Make the filter.

        Args:
            cutoff: cut-off frequency, Hz; infinite to pass everything.
        """
        self._cutoff = cutoff
        self.restart(-inf, [])

    def restart(self, t: float, x: Sequence[float]) -> list[float]:
        """Begin as if the quantity had always been that of a sample; return it."""
        self._t, self._newest, self._passed = t, list(x), list(x)
        return self._passed

    def update(self, t: float, x: Sequence[float]) -> list[float]:
        """Add a sample, and return the quantity behind the filter.

        Args:
            t: time of the sample, s. One that is not later than the last is ignored.
            x: the quantity, shape (n,).
        """
        if self._cutoff == inf or not self._passed:
            return self.restart(t, x)
        if t > self._t:
            weight = 1 - exp(-2 * pi * self._cutoff * (t - self._t))
            self._passed = [y + weight * (new - y) for y, new in zip(self._passed, x)]
            self._t, self._newest = t, list(x)
        return self._passed

    def shift_to(self, x: Sequence[float]) -> list[float]:
        """Take the newest sample for another one, and what went before as shifted alike; return the output."""
        self._passed = [y + (new - old) for y, old, new in zip(self._passed, self._newest, x)]
        self._newest = list(x)
        return self._passed


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
