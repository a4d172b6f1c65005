# SPDX-License-Identifier: Apache-2.0
"""The commands of the last moments, by the time at which they were sent."""

from __future__ import annotations

from ros2_dyn.control.stop.motion import History
from ros2_dyn.model.spatial import Array


class CommandHistory(History):
    """What was commanded at a time; a controller holds each command until the next."""

    @property
    def last(self) -> Array | None:
        """The newest command, N m or N, shape (n,); None: there is none."""
        return self.rows[-1].copy() if len(self.rows) else None

    def at(self, t: float) -> Array | None:
        """Return what was commanded at a time, s; None before the first command."""
        i = int(self.times.searchsorted(t, "right")) - 1
        return self.rows[i].copy() if i >= 0 else None

    def at_all(self, times: Array) -> Array | None:
        """Return what was commanded at some times, s, shape (m, n); None: one of them is before the first command."""
        held = self.times.searchsorted(times, "right") - 1
        return self.rows[held] if held.min() >= 0 else None

    def since(self, t: float) -> tuple[Array, Array]:
        """Return the smallest and the largest command that was held since a time, s; N m or N, each of shape (n,)."""
        rows = self.rows[max(int(self.times.searchsorted(t, "right")) - 1, 0) :]
        return rows.min(axis=0), rows.max(axis=0)
