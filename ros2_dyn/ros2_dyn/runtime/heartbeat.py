# SPDX-License-Identifier: Apache-2.0
"""The heartbeat of another process, as who watches it sees it."""

from __future__ import annotations

from ros2_dyn.control.command_supervisor import RAMP_DOWN_PERIOD
from ros2_dyn.control.state_freshness import max_command_age


class Heartbeat:
    """Counts for how long a number of another process has not changed. To be looked at every `RAMP_DOWN_PERIOD`.

    A process that gets the processor now and then beats, and still holds its commands for too long where the state
    timeout is long. What a silence exceeds 0.15 s by is therefore added to the next one, less the time that the
    process works for between.
    """

    def __init__(self, state_timeout: float) -> None:
        """Begin.

        Args:
            state_timeout: `states.timeout`, s.
        """
        self.timeout = max(5 * RAMP_DOWN_PERIOD, max_command_age(state_timeout))
        """Silence from which on the process is held up, s."""
        self.beat_at = 0.0
        """When the number was seen to change last, s."""
        self._silence = self._remembered = 0.0
        self._beats = -1
        self._looked_at = 0.0, 0.0

    @property
    def silence(self) -> float:
        """Time without a change, s, of which each look counts two periods at most, and what is remembered."""
        return self._silence + self._remembered

    @property
    def held_up(self) -> bool:
        """Whether the process is held up."""
        return self.silence > self.timeout

    def look(self, beats: int, now: float, steady: float | None = None) -> None:
        """Look at the number.

        Args:
            beats: the number.
            now: time, s.
            steady: real time, s, where `now` is a simulation's, which may be slow or fast; None: `now`.
        """
        steady = now if steady is None else steady
        before, self._looked_at = self._looked_at, (now, steady)
        # Where the watcher itself was held up, the other may have been, too.
        passed = max(min(now - before[0], steady - before[1], 2 * RAMP_DOWN_PERIOD), 0.0)
        if beats == self._beats:
            self._silence += passed
            return
        excess = max(self._silence - 0.15, 0.0)  # s; a busy machine makes shorter ones now and then
        self._remembered = max(self._remembered + excess - passed, 0.0)
        self._beats, self.beat_at, self._silence = beats, now, 0.0

    def forget(self) -> None:
        """Forget all silence so far: the process had nothing to command."""
        self._silence = self._remembered = 0.0
