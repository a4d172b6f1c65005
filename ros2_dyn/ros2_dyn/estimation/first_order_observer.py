# SPDX-License-Identifier: Apache-2.0
"""First-order observer of the unknown input of a quantity: its measured rate less the known inputs, low-passed."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, isfinite

MAX_GAP_PERIODS = 5.0
"""Interval between samples, in sample periods, above which the observer restarts."""
MAX_GAP = 0.5
"""Interval between samples, s, above which the observer restarts."""
PERIOD_WEIGHT = 0.05
"""Weight of the newest interval in the running average of the sample period."""
MIN_INTERVALS = 5
"""Number of intervals after which the average is taken for the sample period: samples may come in pairs."""


class FirstOrderObserver:
    """Observer ``r = K / (s + K) (x' - u)``, discretised exactly for inputs that are constant between two samples.

    It equals ``r = K (x - x(0) - integral of (u + r))``. Where x is the generalised momentum and u its rate by the
    model, r is the external effort. A step of height tau crosses a threshold e after
    ``-ln(1 - e/tau) / K``; white noise of standard deviation s on x becomes ``s K``, where K dt is small.
    """

    def __init__(self, bandwidth: float) -> None:
        """Make the observer.

        Args:
            bandwidth: bandwidth K, 1/s.
        """
        self.bandwidth = bandwidth
        self.value: list[float] = []
        """Newest r; empty before the first sample."""
        self.restarts = -1
        """Number of restarts, because of a gap between samples, a step back in time, or numbers without end."""
        self._t, self._period, self._intervals = inf, 0.0, 0
        self._x: Sequence[float] = ()
        self._u: Sequence[float] = ()

    def update(self, t: float, x: Sequence[float], u: Sequence[float]) -> bool:
        """Add a sample.

        Args:
            t: time of the sample, s. A sample that is not later than the last one is ignored. After a gap, or a step
                back by more than a gap, the observer restarts with r = 0.
            x: the quantity, shape (n,).
            u: sum of the known inputs, in units of x per second, shape (n,).

        Returns:
            Whether `value` belongs to this sample.
        """
        dt, gap = t - self._t, self._gap()
        if self.value and -gap < dt <= 0:
            return False
        goes_on = bool(self.value) and 0 < dt <= gap
        if goes_on:
            self._intervals += 1
            self._period += max(PERIOD_WEIGHT, 1 / self._intervals) * (dt - self._period)
            a, rate = 1 - exp(-self.bandwidth * dt), 1 / dt
            self.value = [
                r + a * (rate * (x1 - x0) - (u0 + u1) / 2 - r)
                for r, x0, x1, u0, u1 in zip(self.value, self._x, x, self._u, u)
            ]
            goes_on = isfinite(sum(self.value))
        if not goes_on:
            self._period, self._intervals, self.restarts = 0.0, 0, self.restarts + 1
            self.value = [0.0] * len(x)
        self._t, self._x, self._u = t, x, u
        return True

    def replace_last(self, x: Sequence[float], u: Sequence[float]) -> None:
        """Take the newest sample for another one, as where the model has changed since; `value` stays.

        Args:
            x: the quantity by the new model, shape (n,).
            u: sum of the known inputs by the new model, shape (n,).
        """
        self._x, self._u = x, u

    def _gap(self) -> float:
        """Return the interval, s, above which the observer restarts."""
        return MAX_GAP if self._intervals < MIN_INTERVALS else min(MAX_GAP_PERIODS * self._period, MAX_GAP)
