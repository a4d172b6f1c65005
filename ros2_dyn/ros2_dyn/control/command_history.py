# SPDX-License-Identifier: Apache-2.0
"""The commands of the last moments, by the time at which they were sent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ros2_dyn.model.spatial import Array


class CommandHistory:
    """What was commanded at a time; a controller holds each command until the next."""

    def __init__(self, duration: float) -> None:
        """Keep commands for a duration, s."""
        self._duration = duration
        self._times: list[float] = []
        self._efforts: list[Array] = []

    def add(self, now: float, effort: Array) -> None:
        """Add a command, N m or N, shape (n,), that is sent now, s."""
        self._times.append(now)
        self._efforts.append(effort)
        if len(self._times) > 2 and now - self._times[0] > 2 * self._duration:
            first = max(bisect_right(self._times, now - self._duration) - 1, 0)  # it is still held at that time
            del self._times[:first], self._efforts[:first]

    def at(self, t: float) -> Array | None:
        """Return what was commanded at a time, s; None before the first command."""
        i = bisect_right(self._times, t) - 1
        return self._efforts[i] if i >= 0 else None

    def at_all(self, times: Sequence[float]) -> list[Array] | None:
        """Return what was commanded at some times, s; None where one of them is before the first command."""
        held = [bisect_right(self._times, t) - 1 for t in times]
        return [self._efforts[i] for i in held] if min(held) >= 0 else None

    def clear(self) -> None:
        """Forget all."""
        self._times.clear()
        self._efforts.clear()
