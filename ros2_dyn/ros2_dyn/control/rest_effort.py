# SPDX-License-Identifier: Apache-2.0
"""The effort that held the arm when it last stood still: what to fall back on when the model cannot hold it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

STILL_DISTANCE = 1e-3
"""Distance within which a joint stands still, rad or m."""
STILL_TIME = 0.1
"""Time for which all joints have to stand still before their efforts are remembered, s."""
AVERAGING_TIME = 0.5
"""Time constant of the average of the efforts, s."""
MAX_STRETCH = 0.15
"""Longest stretch of the springs that hold an arm after a stop, rad or m."""
TRUSTED_ERROR = 0.5
"""Largest error of the model at rest, relative to its own effort, at which its change of gravity is used."""


class RestEffort:
    """Remembers the efforts of an arm that stands still, with their positions."""

    def __init__(self) -> None:
        self.q: Array | None = None
        """Positions, rad or m, shape (n,); None: the arm has not stood still yet."""
        self.effort: Array | None = None
        """Average of the efforts there, N m or N, shape (n,)."""
        self._anchor: Sequence[float] | None = None
        self._anchored_at = self._at = 0.0

    def stands_still(self, now: float, q: Sequence[float]) -> bool:
        """Take the positions of a state, rad or m, at a time, s; return whether all joints have stood still a while."""
        anchor = self._anchor
        if anchor is None or not all(abs(x - at) < STILL_DISTANCE for x, at in zip(q, anchor)):
            self._anchor, self._anchored_at = q, now
        return now - self._anchored_at >= STILL_TIME

    def observe(self, now: float, q: Array, effort: Array) -> bool:
        """Take a state of an arm that stands still; return whether its effort is remembered.

        Args:
            now: time, s.
            q: positions, rad or m, shape (n,).
            effort: efforts of the joints, N m or N, shape (n,); not remembered where one is not finite.
        """
        if not np.isfinite(effort).all():
            return False
        known = self.effort
        if known is None or self.q is None or not (np.abs(q - self.q) < STILL_DISTANCE).all():
            self.q, self.effort = q, effort
        else:
            self.effort = known + min((now - self._at) / AVERAGING_TIME, 1.0) * (effort - known)
        self._at = now
        return True

    def holding(self, hold: Array, hold_at_rest: Array, limit: Array) -> Array:
        """Return the effort that should hold the arm where it is now, N m or N, shape (n,).

        This is the effort at rest, plus the model's change of gravity since then if the model came close to the effort
        at rest: half its size, as with a payload that is missing, and not twice, as with gravity that is turned over.

        Args:
            hold: effort by the model that holds the arm where it is, N m or N, shape (n,).
            hold_at_rest: the same where it stood still.
            limit: effort limits, by which joints are compared, N m or N, shape (n,).
        """
        assert self.effort is not None
        error, size = (float(np.linalg.norm(x / limit)) for x in (self.effort - hold_at_rest, hold_at_rest))
        return self.effort + hold - hold_at_rest if error <= TRUSTED_ERROR * size else self.effort


def position_hold(state: ArmState, anchor: Array, damping: float) -> Array:
    """Return the efforts of springs that hold the joints at positions, N m or N, shape (n,).

    With a damping by momentum of the given rate, motions are damped with a ratio of 0.75. A joint that is farther away
    than `MAX_STRETCH` is drawn no harder: a longer spring would throw it back.

    Args:
        state: state of the arm.
        anchor: the positions, rad or m, shape (n,).
        damping: rate of the damping, 1/s.
    """
    return -((damping / 1.5) ** 2) * (state.M @ np.clip(state.q - anchor, -MAX_STRETCH, MAX_STRETCH))
