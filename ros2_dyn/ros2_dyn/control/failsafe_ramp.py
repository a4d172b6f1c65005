"""The ramp to the safe effort that a failsafe process commands after the commanding node has died.

It equals the commands of `CommandSupervisor.ramp_down` without further states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.control.command_supervisor import CommandSupervisor, SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.modes import StopBehaviour
from ros2_dyn.control.state_freshness import StateFreshness
from ros2_dyn.model.spatial import Array


class LastCommand(NamedTuple):
    """The newest command of the node."""

    state_at: float
    """Time at which its state was measured, s."""
    effort: Array
    """Commanded effort, N m or N, shape (n,)."""
    hold: Array
    """Effort that compensates gravity at that state, N m or N, shape (n,)."""


class FailsafeRamp:
    """The commands after the death of the node; each call of `step` returns one."""

    def __init__(
        self, slew_rate: Array, state_timeout: float, stop_behaviour: StopBehaviour, last: LastCommand, now: float
    ) -> None:
        """Take over at a time, s.

        Args:
            slew_rate: maximum rate of change of the effort, N m/s or N/s, shape (n,).
            state_timeout: maximum age of a state that a command may be based on, s.
            stop_behaviour: command after a stop.
            last: the newest command.
            now: time, s.
        """
        unlimited = np.full(len(slew_rate), np.inf)
        limits = CommandLimits(("",) * len(slew_rate), unlimited, slew_rate, unlimited)
        policy = SupervisorPolicy(state_timeout=state_timeout, stop_behaviour=stop_behaviour)
        self._supervisor = CommandSupervisor(limits, policy)
        self._last = last
        self._in_time = StateFreshness(state_timeout).is_young(now - last.state_at)
        if self._in_time:
            self._supervisor.enter("gravity", last.effort, now - last.state_at, now)

    @property
    def first(self) -> Array | None:
        """The first command: the newest command of the node, which may have been stored but not published.

        Publishing it makes the ramp start from the value that the controller holds. None if its state is too old.
        """
        return self._last.effort if self._in_time else None

    @property
    def ended(self) -> bool:
        """Whether the ramp has ended."""
        return not self._supervisor.commands

    def step(self, now: float) -> Array | None:
        """Return the command at a time, s, or None; to be called every `RAMP_DOWN_PERIOD`."""
        return self._supervisor.ramp_down(self._last.hold, now)
