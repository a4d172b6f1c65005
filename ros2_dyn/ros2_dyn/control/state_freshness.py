"""The watch over measured states: how old the newest usable one is, and whether the driver is frozen."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.model.spatial import Array

COMMAND_AGE_FRACTION = 0.8
"""A command is based only on states younger than this fraction of the timeout; the rest is for publishing it."""
RAMP_DOWN_AGE_FRACTION = 0.4
"""From this fraction of the timeout on without a state, commands ramp to the hold effort."""


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
        """When the newest accepted state was measured, s."""
        self._detect_frozen = detect_frozen
        self._problem = ""
        self._numbers: tuple[Array, Array] | None = None

    def restart(self, now: float, age: float, numbers: tuple[Array, Array] | None = None) -> None:
        """Begin with a state of an age, s, and its positions and velocities, where the next ones may repeat them."""
        self.state_at, self._problem, self._numbers = now - age, "", numbers

    def is_young(self, age: float) -> bool:
        """Return whether a command may be based on a state of an age, s; never for a NaN."""
        return abs(age) <= COMMAND_AGE_FRACTION * self.timeout

    def is_stale(self, now: float) -> bool:
        """Return whether the newest accepted state has become too old."""
        return not self.is_young(now - self.state_at)

    def is_late(self, now: float) -> bool:
        """Return whether the next state is so late that commands have to ramp down."""
        return now - self.state_at >= RAMP_DOWN_AGE_FRACTION * self.timeout

    def accept(self, now: float, age: float, q: Array, qd: Array) -> bool:
        """Take a state if it is new and young enough, and return whether it is; others are ignored.

        Args:
            now: time, s.
            age: of the state, s.
            q: joint positions, shape (n,).
            qd: joint velocities, shape (n,).
        """
        if not self.is_young(age):
            side = "behind" if age > 0 else "ahead of"
            self._problem = f"its stamp is {abs(age):.3f} s {side} the clock" if age < inf else "it has no stamp"
        elif self._detect_frozen and self._repeats(q, qd):
            self._problem = "it repeats the same numbers, though with velocities"
        else:
            self._problem, self.state_at = "", now - max(age, 0.0)
        return not self._problem

    def why_stale(self, now: float) -> str:
        """Return why there is no usable state."""
        return self._problem or f"none for {now - self.state_at:.3f} s"

    def _repeats(self, q: Array, qd: Array) -> bool:
        before, self._numbers = self._numbers, (q, qd)
        return repeats(before, self._numbers)


def repeats(before: tuple[Array, Array] | None, numbers: tuple[Array, Array]) -> bool:
    """Return whether positions and velocities repeat those before, with velocities other than zero."""
    same = before is not None and all(map(np.array_equal, before, numbers))
    return same and bool(np.any(numbers[1]))
