"""The ramp to the safe effort without states: of a supervisor that has lost them, and of the failsafe process."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.control.effort_limiter import CommandLimits, EffortLimiter
from ros2_dyn.control.modes import StopBehaviour
from ros2_dyn.model.spatial import Array

REPETITIONS = 5
"""Number of times that the safe effort is commanded before commands end, so that a lost message does not matter."""


class LastCommand(NamedTuple):
    """The newest command of the node."""

    state_at: float
    """Time at which its state was measured, s."""
    effort: Array
    """Commanded effort, N m or N, shape (n,)."""
    hold: Array
    """Effort that compensates gravity at that state, N m or N, shape (n,)."""


class SafeEffortRamp:
    """Moves a limiter's commands to the safe effort at the slew rate, repeats it there, and ends."""

    def __init__(self, limiter: EffortLimiter) -> None:
        self._limiter = limiter
        self.restart()

    def restart(self) -> None:
        """Begin again."""
        self._arrivals = 0

    @property
    def ended(self) -> bool:
        """Whether the safe effort has been commanded often enough."""
        return self._arrivals >= REPETITIONS

    def step(self, safe: Array, now: float) -> Array:
        """Return the next command towards a safe effort, N m or N, shape (n,), at a time, s."""
        target = self._limiter.saturate(safe)
        effort = self._limiter.slew(target, now)
        self._arrivals = self._arrivals + 1 if np.array_equal(effort, target) else 0
        return effort


def safe_effort(stop_behaviour: StopBehaviour, hold: Array) -> Array:
    """Return the effort in which commands end, N m or N, shape (n,).

    Args:
        stop_behaviour: command after a stop.
        hold: effort that compensates gravity, N m or N, shape (n,).
    """
    return np.zeros_like(hold) if stop_behaviour == "zero_effort" else hold


class FailsafeRamp:
    """The commands after the death of the node; each call of `step` returns one."""

    def __init__(
        self, effort_limit: Array, slew_rate: Array, stop_behaviour: StopBehaviour, last: LastCommand, now: float
    ) -> None:
        """Take over at a time, s.

        Args:
            effort_limit: maximum effort, N m or N, shape (n,).
            slew_rate: maximum rate of change of the effort, N m/s or N/s, shape (n,).
            stop_behaviour: command after a stop.
            last: the newest command, however old its state is: the controller still holds it.
            now: time, s.
        """
        n = len(slew_rate)
        self._limiter = EffortLimiter(CommandLimits(("",) * n, effort_limit, slew_rate, np.full(n, np.inf)))
        self._ramp = SafeEffortRamp(self._limiter)
        self._commands = stop_behaviour != "none"
        self._safe = safe_effort(stop_behaviour, last.hold)
        self._first = self._limiter.saturate(last.effort)
        self._limiter.start(self._first, now)

    @property
    def first(self) -> Array | None:
        """The first command: the newest command of the node, which may have been stored but not published.

        Publishing it makes the ramp start from the value that the controller holds. None if commands end at once.
        """
        return self._first if self._commands else None

    @property
    def ended(self) -> bool:
        """Whether the ramp has ended."""
        return not self._commands or self._ramp.ended

    def step(self, now: float) -> Array | None:
        """Return the command at a time, s, or None; to be called every `RAMP_DOWN_PERIOD`."""
        return None if self.ended else self._ramp.step(self._safe, now)
