# SPDX-License-Identifier: Apache-2.0
"""Collision detection: external efforts against a threshold per joint, with hysteresis, latched until a reset.

Contact that a mode intends, such as the hand that guides the arm, is no collision as long as it lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

LASTING_TIME = 2.0
"""Time for which such a contact may outlast its mode, s; beyond it, a wrong model would look like one for ever."""


class CollisionDetector:
    """Compare external efforts with their thresholds, and latch a collision.

    A joint exceeds its threshold from a sample above it on, until one lies below 0.8 times the threshold. One such
    joint is a collision. External efforts are low-passed: to wait for several samples hardly helps, since an outlier
    stays in them for many.
    """

    def __init__(self, threshold: Sequence[float]) -> None:
        """Make the detector.

        Args:
            threshold: of each joint, N m or N, shape (n,); infinite for a joint that is not monitored.
        """
        self.threshold = tuple(threshold)
        self.exceeded = [False] * len(self.threshold)
        """Whether each joint exceeds its threshold."""
        self.collision = False
        """Whether any joint has exceeded its threshold since the last reset."""

    def update(self, residual: Sequence[float]) -> bool:
        """Add a sample of external efforts, N m or N, shape (n,); return whether a collision begins with it."""
        for i, (r, e) in enumerate(zip(residual, self.threshold)):
            self.exceeded[i] = abs(r) > e or (self.exceeded[i] and abs(r) >= 0.8 * e)
        begins = not self.collision and any(self.exceeded)
        self.collision = self.collision or begins
        return begins

    def reset(self) -> None:
        """Clear the collision; a joint that still exceeds its threshold causes a new one."""
        self.collision = False
        self.exceeded = [False] * len(self.exceeded)


class IntendedContact:
    """Tells whether what is felt is a contact that was intended when it began."""

    def __init__(self) -> None:
        self._until = -inf

    def excuses(self, intended: bool, felt: bool, now: float) -> bool:
        """Return whether external efforts are no collision.

        Args:
            intended: whether the mode intends contact.
            felt: whether a joint exceeds its threshold.
            now: time, s.
        """
        if intended:
            self._until = now + LASTING_TIME
        elif not felt:
            self._until = -inf
        return intended or now <= self._until
