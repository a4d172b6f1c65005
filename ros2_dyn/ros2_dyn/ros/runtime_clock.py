"""The time that the runtime is given: steady, or the simulation's with `use_sim_time`. It never decreases."""

from __future__ import annotations

CLOCK_JUMP = 1.0
"""A simulation's clock that goes back, or forward by more than this, s, was set."""


class RuntimeClock:
    """Makes `now`, s, from a simulation's clock, which may stand still or be set.

    It follows the simulation's clock. While that stands still for longer than a timeout, it follows real time, so that
    states age and commands end. Where that was set, it stands still for the moment.
    """

    def __init__(self, timeout: float) -> None:
        """Create it.

        Args:
            timeout: real time, s, for which the simulation's clock may stand still.
        """
        self.timeout = timeout
        self.now = 0.0
        self._stamp: int | None = None
        self._changed_at = self._steady = 0.0

    def update(self, stamp: int, steady: float) -> str:
        """Read both clocks; return what happened to the simulation's, or an empty text.

        Args:
            stamp: the simulation's clock, ns.
            steady: real time, s.
        """
        before, self._stamp = self._stamp, stamp
        since, self._steady = steady - self._steady, steady
        if before is None or stamp != before:
            self._changed_at = steady
        if before is None:
            return ""
        passed = 1e-9 * (stamp - before)
        if passed < 0 or passed > CLOCK_JUMP:
            return f"/clock was set by {passed:+.3f} s"
        if passed == 0 and steady - self._changed_at > self.timeout:
            self.now += since
        else:
            self.now += passed
        return ""
