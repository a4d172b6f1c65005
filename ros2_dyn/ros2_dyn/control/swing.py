# SPDX-License-Identifier: Apache-2.0
"""How late the loop is of an arm that swings.

Efforts that come late drive an arm to and fro, and so do efforts at the motor of an elastic joint whose encoder is on
the link: the joint answers late. Neither stamps nor measured efforts show that. The motion does: a damper that is late
by T swings with a period of 4 T.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np

from ros2_dyn.control.stop.law import FAST
from ros2_dyn.model.spatial import Array

LONGEST_PERIOD = 0.25
"""Period of the slowest motion to and fro that counts as a swing, s: nobody leads an arm as quickly. A loop that counts
as so late bears a damping of 2.4/s."""
MEMORY = 3.0
"""Time in which a swing is forgotten, s."""


class Swing:
    """Watches how often the velocities of the joints turn, about rest or about a motion."""

    def __init__(self) -> None:
        self.delay = 0.0
        """How late the loop counts as, s: half a period, twice what explains it; twice that if a joint swings on."""
        self._rises: Array = np.zeros(0, dtype=bool)
        self._extreme: Array = np.zeros(0)
        self._turns: Array = np.zeros((4, 0))
        self._at, self._swung_at = 0.0, -np.inf

    def goes_on(self, now: float) -> bool:
        """Return whether a joint has swung lately at a time, s."""
        return now - self._swung_at < LONGEST_PERIOD

    def on_state(self, qd: Sequence[float] | Array, now: float) -> None:
        """Take the velocities of the joints, rad/s or m/s, shape (n,), at a time, s.

        A velocity turns where it comes back from an extreme by twice `FAST`.
        """
        since, self._at = now - self._at, now
        self.delay *= exp(-max(since, 0.0) / MEMORY)
        qd = np.asarray(qd, dtype=float)
        if self._extreme.shape != qd.shape:
            self._rises, self._extreme = np.zeros(qd.shape, dtype=bool), np.zeros_like(qd)
            self._turns = np.full((4, len(qd)), -np.inf)
        farthest = np.where(self._rises, np.maximum(self._extreme, qd), np.minimum(self._extreme, qd))
        turned = np.abs(qd - farthest) > 2 * FAST
        self._rises, self._extreme = self._rises ^ turned, np.where(turned, qd, farthest)
        if not turned.any():
            return
        self._turns = np.where(turned, [*self._turns[1:], np.full_like(qd, now)], self._turns)
        period = (now - self._turns[0]) / 1.5
        swings = turned & (period > 4 * since) & (period < LONGEST_PERIOD)  # what is faster are errors of velocities
        if swings.any():
            self._swung_at = now
            self.delay = min(max(2 * self.delay, float(np.max(period[swings])) / 2), LONGEST_PERIOD)
            self._turns[:3, swings] = -np.inf
