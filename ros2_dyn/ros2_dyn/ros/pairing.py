"""Which desired state belongs to which measured state: that of the same stamp, else the newest that is young enough."""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.ros.joint_order import DesiredState
from ros2_dyn.ros.state_intake import MeasuredState

KEPT = 32
"""Desired states that wait for their measured state at most."""
HABIT = 3
"""Pairs in a row after which a measured state waits for its desired state to arrive."""


class Pair(NamedTuple):
    """A measured state, and the desired state to be used with it; None: there is none young enough."""

    measured: MeasuredState
    desired: DesiredState | None


class Pairing:
    """Pairs two streams by stamp, whichever arrives first.

    Once the stamps have matched a few times in a row, a measured state that comes before its desired state is held
    until that arrives, or until the next measured state does. Otherwise nothing waits.
    """

    def __init__(self, timeout: float) -> None:
        """Make it.

        Args:
            timeout: age, s, up to which a desired state may be used with a state of another stamp.
        """
        self.timeout = timeout
        self._desired: dict[tuple[int, int], DesiredState] = {}
        self._newest: DesiredState | None = None
        self._newest_at = 0.0
        self._held: MeasuredState | None = None
        self._last_stamp: tuple[int, int] | None = None
        self._matches = 0

    @property
    def waits(self) -> bool:
        """Whether a measured state is held until its desired state comes."""
        return self._held is not None

    def desired_arrived(self, desired: DesiredState, now: float) -> list[Pair]:
        """Take a desired state; the pair that it completes, if any.

        Args:
            desired: the state.
            now: time of a steady clock, s.
        """
        self._newest, self._newest_at = desired, now
        if self._held is not None and self._held.stamp == desired.stamp:
            held, self._held = self._held, None
            return [Pair(held, desired)]
        if desired.stamp == self._last_stamp:
            self._matches += 1  # too late for its state, but such streams are worth waiting for
            return []
        self._desired[desired.stamp] = desired
        if len(self._desired) > KEPT:
            del self._desired[next(iter(self._desired))]
        return []

    def measured_arrived(self, measured: MeasuredState, now: float) -> list[Pair]:
        """Take a measured state; the pairs that are ready now, in order.

        Args:
            measured: the state.
            now: time of a steady clock, s.
        """
        ready: list[Pair] = []
        if self._held is not None:  # its desired state never came
            ready.append(Pair(self._held, self._young_enough(now)))
            self._held = None
            self._matches = 0
        self._last_stamp = measured.stamp
        desired = self._desired.pop(measured.stamp, None)
        if desired is not None:
            self._matches += 1
            ready.append(Pair(measured, desired))
        elif self._matches >= HABIT:
            self._held = measured
        else:
            ready.append(Pair(measured, self._young_enough(now)))
        return ready

    def _young_enough(self, now: float) -> DesiredState | None:
        return self._newest if now - self._newest_at <= self.timeout else None
