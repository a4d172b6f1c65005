# SPDX-License-Identifier: Apache-2.0
"""What is done periodically, by a clock that may stand still."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf


class Periodic:
    """Does something whenever a period has passed in real time or by a clock, whichever comes first."""

    def __init__(
        self,
        period: float,
        callback: Callable[[], None],
        when: Callable[[], bool],
        now: Callable[[], float],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make it.

        Args:
            period: the period, s.
            callback: does it.
            when: tells whether it is to be done.
            now: the clock, s; it may stand still or jump.
            steady: real time, s.
        """
        self._callback = callback
        self._period, self._when, self._now, self._steady = period, when, now, steady
        self._next = steady()
        self._last = now()

    def left(self) -> float:
        """Return the time until it is due, s; infinite where it is not to be done."""
        return self._next - self._steady() if self._when() else inf

    def call_if_due(self) -> None:
        """Do it if it is due; then the next period begins."""
        if not self._when():
            return
        steady, now = self._steady(), self._now()
        if steady < self._next and abs(now - self._last) < self._period:
            return
        self._next += self._period
        if self._next <= steady:  # what was missed is not made up for
            self._next = steady + self._period
        self._last = now
        self._callback()
