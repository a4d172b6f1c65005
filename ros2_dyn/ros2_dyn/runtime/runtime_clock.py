# SPDX-License-Identifier: Apache-2.0
"""The time `now` of a runtime that is driven in real time or by a simulation's clock. It never decreases."""

from __future__ import annotations


class RuntimeClock:
    """Makes `now`, s, from the steady clock, or from a simulation's, which may stand still or be set.

    While the simulation's clock stands still for longer than a timeout, `now` follows the steady clock, so that states
    age and commands end. A clock that goes back, or forward by more than 1 s, was set: `now` stands still for the
    moment.
    """

    def __init__(self, timeout: float, steady: float) -> None:
        """Create it.

        Args:
            timeout: real time, s, for which the simulation's clock may stand still.
            steady: the steady clock, s, where `now` begins.
        """
        self.timeout = timeout
        self.now = steady
        self._steady = self._changed_at = steady
        self._stamp: int | None = None

    def follow_steady(self, steady: float) -> None:
        """Let real time pass.

        Args:
            steady: the steady clock, s.
        """
        self.now += steady - self._steady
        self._steady, self._stamp = steady, None

    def follow_simulation(self, stamp: int, steady: float) -> str:
        """Let the simulation's time pass; return what happened to its clock, or an empty text.

        Args:
            stamp: the simulation's clock, ns.
            steady: the steady clock, s.
        """
        before, self._stamp = self._stamp, stamp
        since, self._steady = steady - self._steady, steady
        if stamp != before:
            self._changed_at = steady
        if before is None:
            return ""
        passed = 1e-9 * (stamp - before)
        if passed < 0 or passed > 1.0:
            return f"/clock was set by {passed:+.3f} s"
        self.now += since if passed == 0 and steady - self._changed_at > self.timeout else passed
        return ""
