# SPDX-License-Identifier: Apache-2.0
"""Freshness of measured states: age, and agreement of the clocks."""

from __future__ import annotations

from math import inf


def max_command_age(timeout: float) -> float:
    """Return the largest age of a state that a command may be based on, s; the rest of a timeout is to publish it."""
    return 0.8 * timeout


class StateFreshness:
    """Decides which states a command may be based on."""

    def __init__(self, timeout: float) -> None:
        """Create it.

        Args:
            timeout: maximum age of a state, s.
        """
        self.timeout = timeout
        self.state_at = -inf
        """Time at which the newest accepted state was measured, s."""
        self._problem = ""

    def restart(self, now: float, age: float) -> None:
        """Start with a state of an age, s."""
        self.state_at, self._problem = now - max(age, 0.0), ""

    def is_young(self, age: float) -> bool:
        """Return whether a command may be based on a state of an age, s; False for NaN."""
        return abs(age) <= max_command_age(self.timeout)

    def is_stale(self, now: float) -> bool:
        """Return whether the newest accepted state is too old."""
        return not self.is_young(now - self.state_at)

    def lateness(self, now: float, usual: float) -> float:
        """Return how far commands are to be on their way to the safe effort: 0 in time, 1 where the state is stale.

        Args:
            now: time, s.
            usual: age that states had at most until their commands ended, s; inf where it is not known.
        """
        begin, end = min(usual, 0.4 * self.timeout), max_command_age(self.timeout)
        return min(max((now - self.state_at - begin) / (end - begin), 0.0), 1.0)

    def accept(self, now: float, age: float, problem: str = "") -> bool:
        """Return whether a state is new and fresh; other states are ignored.

        Args:
            now: time, s.
            age: age of the state, s.
            problem: why it does not fit the states before; empty where it does.
        """
        if problem:
            self._problem = problem
        elif not self.is_young(age):
            side = "behind" if age > 0 else "ahead of"
            self._problem = "it has no stamp" if age == inf else f"its stamp is {abs(age):.3f} s {side} the clock"
        else:
            self._problem, self.state_at = "", now - max(age, 0.0)
        return not self._problem

    def why_stale(self, now: float) -> str:
        """Return the reason why there is no usable state."""
        return self._problem or f"the newest was measured {now - self.state_at:.3f} s ago"
