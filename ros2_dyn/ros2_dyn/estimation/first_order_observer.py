"""What acts on a quantity from outside: its measured rate, less what is known to change it, low-passed."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf

GAP, LONGEST_GAP = 5.0, 0.5
"""Samples that are this many times further apart than usual, or this many seconds apart, are not bridged."""
MEMORY = 0.05
"""Weight of the newest sample in what is usual."""


class FirstOrderObserver:
    """``r = K / (s + K) (x' - u)``, discretised exactly for what is constant between two samples.

    This is the observer ``r = K (x - x(0) - integral of (u + r))``. Where x is the generalised momentum and u what the
    model knows to change it, r is the external effort. A step of height tau crosses a threshold e after
    ``-ln(1 - e/tau) / K``; white noise of standard deviation s on x becomes ``s K``, where K dt is small.
    """

    def __init__(self, bandwidth: float) -> None:
        """Make it.

        Args:
            bandwidth: K, 1/s.
        """
        self.bandwidth = bandwidth
        self.value: list[float] = []
        """The newest r; empty before the first sample."""
        self.restarts = -1
        """How often it began anew, because samples lay too far apart or time was set back."""
        self._t, self._period = inf, 0.0
        self._x: Sequence[float] = ()
        self._u: Sequence[float] = ()

    def update(self, t: float, x: Sequence[float], u: Sequence[float]) -> bool:
        """Take a sample.

        Args:
            t: its time, s. One that is not later than the last is passed over; after a gap, or a step back of more than
                that, all begins anew, with r = 0.
            x: the quantity.
            u: what is known to change it, in units of x per second.

        Returns:
            whether `value` is now that of this sample.
        """
        dt = t - self._t
        if -GAP * self._period < dt <= 0 and self.value:
            return False
        if self.value and 0 < dt <= min(GAP * self._period or LONGEST_GAP, LONGEST_GAP):
            self._period += (MEMORY if self._period else 1.0) * (dt - self._period)
            a, rate = 1 - exp(-self.bandwidth * dt), 1 / dt
            self.value = [
                r + a * (rate * (x1 - x0) - (u0 + u1) / 2 - r)
                for r, x0, x1, u0, u1 in zip(self.value, self._x, x, self._u, u)
            ]
        else:
            self._period, self.restarts = 0.0, self.restarts + 1
            self.value = [0.0] * len(x)
        self._t, self._x, self._u = t, x, u
        return True
