# SPDX-License-Identifier: Apache-2.0
"""Averages of measured states over short windows, gathered as the states come, in little memory.

States are averaged with the weight ``1 - (s / T)^2``, s being the time from the middle of a window of duration 2 T.
With that weight the average of the acceleration is the slope of the straight line through the velocities, so that
nothing has to be differentiated (modulating functions; Shinbrot 1957).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array

DURATION = 0.1
"""Shortest duration of a window, s: motions faster than some 5 Hz are averaged away."""
MIN_SAMPLES = 5
"""Smallest number of states in a window."""
MAX_GAP = 0.5
"""Time between two states, s, above which a new window begins."""
MAX_TURN = 3.0
"""Way of a joint within a window, rad or m, above which its position has jumped by a turn: the window is left out."""


class StateWindows(NamedTuple):
    """Averages over m windows, in order of time, of n joints."""

    t: Array
    """Time of the middle, s, shape (m,)."""
    q: Array
    """Joint positions, rad or m, shape (m, n)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (m, n)."""
    qdd: Array
    """Joint accelerations, rad/s^2 or m/s^2, shape (m, n)."""
    effort: Array
    """Measured efforts, N m or N, shape (m, n)."""


class WindowAverager:
    """Averages states as they come. Its state is two arrays of bytes, which are saved in no time."""

    def __init__(self, n: int) -> None:
        """Begin without states, for n joints."""
        self._n = n
        self._open, self._begins, self._last = bytearray(), 0.0, 0.0
        self._averages = bytearray()

    def add(self, t: float, q: Sequence[float], qd: Sequence[float], effort: Sequence[float]) -> None:
        """Take a state; one that is not newer than the last one begins a new window, as does one after a gap.

        Args:
            t: time, s.
            q: joint positions, rad or m, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,).
            effort: measured efforts, N m or N, shape (n,).
        """
        state = array("d", (t, *q, *qd, *effort)).tobytes()
        if not self._open or not 0 < t - self._last < MAX_GAP:
            self._open, self._begins = bytearray(), t
        self._open += state
        self._last = t
        if t - self._begins >= DURATION and len(self._open) >= MIN_SAMPLES * len(state):
            self._average()
            self._open, self._begins = bytearray(state), t

    def windows(self) -> StateWindows:
        """Return the windows so far."""
        rows = np.frombuffer(bytes(self._averages)).reshape(-1, 1 + 4 * self._n)
        return StateWindows(rows[:, 0], *np.split(rows[:, 1:], 4, axis=1))

    def _average(self) -> None:
        """Append the average of the open window: t, q, qd, qdd, effort."""
        rows = np.frombuffer(bytes(self._open)).reshape(-1, 1 + 3 * self._n)
        t, q, qd, effort = rows[:, 0], *np.split(rows[:, 1:], 3, axis=1)
        if np.any(np.ptp(q, axis=0) > MAX_TURN):
            return
        middle = (t[0] + t[-1]) / 2
        weight = 1 - ((t - middle) / (t[-1] - middle)) ** 2
        weight /= weight.sum()
        s = t - t.mean()
        averages = (weight @ q, weight @ qd, s @ qd / (s @ s), weight @ effort)
        self._averages += np.concatenate([[middle], *averages]).tobytes()


def state_windows(recording: tuple[Array, Array, Array, Array]) -> StateWindows:
    """Return the windows of a recording: times, s, shape (m,), and positions, velocities and efforts, shape (m, n)."""
    averager = WindowAverager(recording[1].shape[1])
    for t, q, qd, effort in zip(*(values.tolist() for values in recording)):
        averager.add(t, q, qd, effort)
    return averager.windows()
