"""Freshness of measured states: age, agreement of the clocks, and frozen drivers."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.model.spatial import Array

COMMAND_AGE_FRACTION = 0.8
"""A command is based on states younger than this fraction of the timeout; the rest is for publishing it."""
RAMP_DOWN_AGE_FRACTION = 0.4
"""Age of the newest state, as a fraction of the timeout, from which commands ramp to the hold effort."""
MOTION_TIME = 1e-4
"""Time, s, within which a velocity has to change a position in floating-point numbers to count as a motion."""


class StateFreshness:
    """Decides which states a command may be based on."""

    def __init__(self, timeout: float, detect_frozen: bool = True) -> None:
        """Create it.

        Args:
            timeout: maximum age of a state, s.
            detect_frozen: whether a state that repeats the one before, with velocities other than zero, is ignored.
        """
        self.timeout = timeout
        self.state_at = -inf
        """Time at which the newest accepted state was measured, s."""
        self._detect_frozen = detect_frozen
        self._problem = ""
        self._numbers: tuple[Array, Array] | None = None

    def restart(self, now: float, age: float, numbers: tuple[Array, Array] | None = None) -> None:
        """Start with a state of an age, s; a next state that repeats its positions and velocities is frozen."""
        self.state_at, self._problem, self._numbers = now - max(age, 0.0), "", numbers

    def is_young(self, age: float) -> bool:
        """Return whether a command may be based on a state of an age, s; False for NaN."""
        return abs(age) <= COMMAND_AGE_FRACTION * self.timeout

    def is_stale(self, now: float) -> bool:
        """Return whether the newest accepted state is too old."""
        return not self.is_young(now - self.state_at)

    def is_late(self, now: float) -> bool:
        """Return whether the next state is so late that commands must ramp down."""
        return now - self.state_at >= RAMP_DOWN_AGE_FRACTION * self.timeout

    def accept(self, now: float, age: float, q: Array, qd: Array, problem: str = "") -> bool:
        """Return whether a state is new and fresh; other states are ignored.

        Args:
            now: time, s.
            age: age of the state, s.
            q: joint positions, shape (n,).
            qd: joint velocities, shape (n,).
            problem: why it does not fit the states before; empty where it does.
        """
        if problem:
            self._problem = problem
        elif not self.is_young(age):
            side = "behind" if age > 0 else "ahead of"
            self._problem = "it has no stamp" if age == inf else f"its stamp is {abs(age):.3f} s {side} the clock"
        elif self._detect_frozen and self._repeats(q, qd):
            self._problem = "it repeats the same numbers, though with velocities"
        else:
            self._problem, self.state_at = "", now - max(age, 0.0)
        return not self._problem

    def why_stale(self, now: float) -> str:
        """Return the reason why there is no usable state."""
        return self._problem or f"none for {now - self.state_at:.3f} s"

    def _repeats(self, q: Array, qd: Array) -> bool:
        before, self._numbers = self._numbers, (q, qd)
        return repeats(before, self._numbers)


def repeats(before: tuple[Array, Array] | None, numbers: tuple[Array, Array]) -> bool:
    """Return whether positions and velocities repeat those before, though the velocities change the positions.

    A simulated arm that creeps has velocities too small to change a position.
    """
    same = before is not None and all(map(np.array_equal, before, numbers))
    q, qd = numbers
    return same and bool(np.any(q + MOTION_TIME * qd != q))
