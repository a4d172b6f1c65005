# SPDX-License-Identifier: Apache-2.0
"""Whether the arm is at rest, how fast it has been lately, and whether its joints do what is commanded."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

FASTEST_FALL = 100.0
"""Growth of a joint's acceleration with its angle under a wrong model, 1/s^2: a link of 0.2 m, gravity turned over."""
ROUNDING = 1e-6
"""Difference of two times, s, that is none."""


class History:
    """Rows of numbers over the last moments, by their times."""

    def __init__(self, memory: float) -> None:
        """Remember rows for a time, s: the longest that is asked about."""
        self._memory = memory
        self._times, self._rows = np.zeros(0), np.zeros((0, 0))
        self._count = 0

    @property
    def times(self) -> Array:
        """Times of the rows, s, shape (k,), ascending."""
        return self._times[: self._count]

    @property
    def rows(self) -> Array:
        """The rows, shape (k, n)."""
        return self._rows[: self._count]

    def clear(self) -> None:
        """Forget all rows."""
        self._count = 0

    def add(self, t: float, row: ArrayLike) -> None:
        """Add a row, shape (n,), of a time, s; one of before the last row counts as of the same time."""
        row = np.asarray(row, dtype=float)
        if self._count == len(self._times) or row.shape != self._rows.shape[1:]:
            self._make_room(len(row))
        before = self._times[self._count - 1] if self._count else t
        self._times[self._count], self._rows[self._count] = max(t, before), row
        self._count += 1

    def _make_room(self, n: int) -> None:
        """Forget what nobody asks about, and rows of a robot with other joints."""
        kept = self._count if self._rows.shape[1] == n else 0
        first = 0
        if kept:
            times = self._times[:kept]
            first = max(int(np.searchsorted(times, times[-1] - self._memory - ROUNDING)) - 1, 0)
        times, rows = self._times[first:kept], self._rows[first:kept]
        room = max(64, 2 * len(times))
        self._times, self._rows, self._count = np.empty(room), np.empty((room, n)), len(times)
        self._times[: len(times)], self._rows[: len(times)] = times, rows.reshape(-1, n)


class ArmMotion(History):
    """The positions of the joints, rad or m, over the last moments, by the times at which they were measured.

    Speeds are ranges of positions over a time, so that wrong velocities of a driver hide no motion, and an arm that
    swings is not at rest when it passes where it was.
    """

    def at_rest(self, distance: float, time: float) -> bool:
        """Return whether each joint has stayed within a range, rad or m, for a time, s; False while that is unknown."""
        seen = self._lately(time)
        if seen is None or (np.abs(seen[-1] - seen[0]) > distance).any():
            return False
        return bool((seen.max(axis=0) - seen.min(axis=0) <= distance).all())

    def speed(self, time: float) -> Array | None:
        """Return how fast each joint has been for a time, s: rad/s or m/s, shape (n,); None while that is unknown."""
        seen = self._lately(time)
        if seen is None:
            return None
        return (seen.max(axis=0) - seen.min(axis=0)) / (self.times[-1] - self.times[-len(seen)])

    def _lately(self, time: float) -> Array | None:
        """Return the positions of the last time, s, shape (k, n): two at least; None where it is not remembered.

        The first are those of the newest state before: joints that were not seen for a while may have moved.
        """
        times = self.times
        first = int(times.searchsorted(times[-1] - time + ROUNDING)) - 1 if len(times) else -1
        return self.rows[first:] if first >= 0 else None


class EffortResponse:
    """What the joints make of changes of the commanded effort: the slope of the rate of momentum over the effort.

    It is 1 where a joint obeys, 0 where its effort has no effect, -1 where the sign is turned over. A load that the
    model does not know leaves the slope as it is.
    """

    def __init__(self, memory: float) -> None:
        """Remember states for about a time, s."""
        self._memory = memory
        self._qd: Array | None = None
        self._sums: Array = np.zeros((5, 1))

    def observe(self, arm: ArmState, effort: Array, dt: float) -> None:
        """Take a state, and the effort that was commanded for a time dt, s, before it, N m or N, shape (n,)."""
        if self._qd is not None:
            change = arm.M @ (arm.qd - self._qd)
            new = np.array([np.full_like(change, dt), effort * dt, effort**2 * dt, change, effort * change])
            self._sums = self._sums * np.exp(-dt / self._memory) + new
        self._qd = arm.qd

    def turned_over(self, arm: ArmState, speed: float, rate: float) -> Array:
        """Return which joints do the opposite of what is commanded, shape (n,), bool.

        Under a damping that is turned over, a joint's speed grows at the rate of the damping, less its own friction. A
        load that grows with the joint's angle makes a joint that obeys look alike, at a lower rate: x with
        ``x (x + rate) = FASTEST_FALL`` at most.

        Args:
            arm: the newest state.
            speed: what the efforts have to have varied by, rad/s or m/s: by so much would they change a speed.
            rate: of the damping, 1/s.
        """
        time, effort, square, change, product = self._sums
        spread = square * time - effort**2
        fall = sqrt(rate**2 / 4 + FASTEST_FALL) - rate / 2
        driven = rate * (product * time - effort * change) < -fall * spread
        return driven & (spread > (np.diag(arm.M) * speed) ** 2)
