# SPDX-License-Identifier: Apache-2.0
"""What commands on stale states may do: go on to the declared safe effort, and repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.effort_limiter import CommandLimits

DESCENT_MARGIN = 0.5
"""Time, s, that commands on a stale state may change besides that of the largest change at the slew rate."""


class DescentJudge:
    """Judges commands on stale states: they may only go on to the declared safe effort.

    No joint's command turns back on its way, or moves away from zero where that is the safe effort. They arrive in the
    time that the slew rate allows: then zero effort ends, and gravity compensation is only repeated, to the last digit,
    and in no active mode.
    """

    def __init__(self, limits: CommandLimits, stop_behaviour: StopBehaviour) -> None:
        self._max_time = DESCENT_MARGIN + float(np.max(2 * limits.effort / limits.slew_rate))
        self._stop_behaviour, self._n = stop_behaviour, len(limits.effort)
        self.end()

    def end(self) -> None:
        """Take notice of a command on a fresh state."""
        self._since, self._directions = inf, [0.0] * self._n

    def allows(self, effort: Sequence[float], before: Sequence[float], now: float, stopped: bool) -> bool:
        """Return whether a command may follow the one before.

        Args:
            effort: N m or N, shape (n,).
            before: the command before, N m or N, shape (n,).
            now: time, s.
            stopped: whether a stop commands, and no active mode.
        """
        self._since = min(self._since, now)
        if self._stop_behaviour == "none":
            return False
        if now - self._since > self._max_time:
            return stopped and self._stop_behaviour == "hold_gravity" and list(effort) == list(before)
        for i, (x, last) in enumerate(zip(effort, before)):
            change, direction = x - last, self._directions[i]
            if change * direction < 0 or (self._stop_behaviour == "zero_effort" and abs(x) > abs(last)):
                return False
            self._directions[i] = direction or change
        return True
