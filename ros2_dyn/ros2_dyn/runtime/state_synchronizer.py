# SPDX-License-Identifier: Apache-2.0
"""The stage "synchronise": which desired state belongs to which measured state.

It is the one of the same stamp, or else the newest while it is young enough.
"""

from __future__ import annotations

from math import inf

from ros2_dyn.runtime.states import DesiredState, MeasuredState, SynchronizedState

QUEUE_SIZE = 32
"""Maximum number of desired states that wait for their measured state."""


class StateSynchronizer:
    """Matches two streams by stamp, whichever arrives first.

    Once the stamps have matched three times in a row, a measured state that arrives before its desired state is kept
    until that arrives, or until the next measured state does. Otherwise nothing waits; nor does a state that no command
    is based on: a mode would begin at the one before.
    """

    def __init__(self, timeout: float) -> None:
        """Create it.

        Args:
            timeout: maximum age, s, at which a desired state is used with a state of another stamp.
        """
        self.timeout = timeout
        self._desired: dict[int, DesiredState] = {}
        self._newest: DesiredState | None = None
        self._newest_at = -inf
        self._waiting: MeasuredState | None = None
        self._last_stamp: int | None = None
        self._matches = 0

    def on_desired(self, desired: DesiredState, now: float) -> list[SynchronizedState]:
        """Take a desired state; return the synchronized state that it completes, if any.

        Args:
            desired: the state.
            now: time, s.
        """
        self._newest, self._newest_at = desired, now
        if self._waiting is not None and self._waiting.stamp == desired.stamp:
            measured, self._waiting = self._waiting, None
            return [SynchronizedState(measured, desired, now)]
        if desired.stamp == self._last_stamp:
            self._matches += 1  # too late for its state, but such streams are worth waiting for
            return []
        self._desired[desired.stamp] = desired
        if len(self._desired) > QUEUE_SIZE:
            del self._desired[next(iter(self._desired))]
        return []

    def on_measured(self, measured: MeasuredState, now: float) -> list[SynchronizedState]:
        """Take a measured state; return the synchronized states that are complete now, in order.

        Args:
            measured: the state.
            now: time, s.
        """
        ready: list[SynchronizedState] = []
        if self._waiting is not None:  # its desired state never came
            ready.append(self._with_newest(self._waiting, now))
            self._waiting = None
            self._matches = 0
        self._last_stamp = measured.stamp
        desired = self._desired.pop(measured.stamp, None)
        if desired is not None:
            self._matches += 1
            ready.append(SynchronizedState(measured, desired, self._newest_at))
        elif self._matches >= 3 and not measured.problem:
            self._waiting = measured
        else:
            ready.append(self._with_newest(measured, now))
        return ready

    def _with_newest(self, measured: MeasuredState, now: float) -> SynchronizedState:
        young = now - self._newest_at <= self.timeout
        return SynchronizedState(measured, self._newest if young else None, self._newest_at)
