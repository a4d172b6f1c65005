# SPDX-License-Identifier: Apache-2.0
"""The efforts of the last seconds: a ring of constant size, and curves that keep their peaks in a few points."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.viewer.picture import CURVES, EffortWindow


class History:
    """The newest efforts of n joints."""

    def __init__(self, n: int, capacity: int = 16384) -> None:
        """Make it, empty; `capacity` is the number of states that it holds."""
        self._t = np.zeros(capacity)
        self._efforts = np.zeros((capacity, CURVES, n))
        self._next = self._count = 0

    def append(self, t: float, efforts: Array) -> None:
        """Add the efforts at a time, s, shape (`CURVES`, n); time that goes back begins anew."""
        if self._count and t < self._t[self._next - 1]:
            self._count = 0
        self._t[self._next], self._efforts[self._next] = t, efforts
        self._next = (self._next + 1) % len(self._t)
        self._count = min(self._count + 1, len(self._t))

    def window(self, span: float, points: int) -> EffortWindow:
        """Return the efforts of the last seconds, in at most so many points."""
        order = np.arange(self._next - self._count, self._next) % len(self._t)
        t = self._t[order]
        order = order[t >= t[-1] - span] if len(t) else order
        return thin(self._t[order], self._efforts[order], span, points)


def thin(t: Array, efforts: Array, span: float, points: int) -> EffortWindow:
    """Return curves in a few points: the smallest and the greatest value of each interval of time.

    Intervals begin at multiples of their length, so that a peak keeps its point while the window moves on.

    Args:
        t: increasing times, s, shape (m,).
        efforts: shape (m, `CURVES`, n).
        span: what the intervals share, s.
        points: number of points at most: two for each interval.
    """
    before = t - t[-1] if len(t) else t
    if len(t) <= points:
        return EffortWindow(before, efforts)
    place = np.floor(t * ((points // 2 - 1) / span))  # one interval is cut in two by the window's ends
    begins = np.flatnonzero(np.diff(place, prepend=-np.inf))
    low, high = (extreme.reduceat(efforts, begins) for extreme in (np.fmin, np.fmax))
    both = np.stack([low, high], axis=1).reshape(-1, *efforts.shape[1:])
    ends = np.append(begins[1:], len(t)) - 1
    return EffortWindow(np.stack([before[begins], before[ends]], axis=1).ravel(), both)
