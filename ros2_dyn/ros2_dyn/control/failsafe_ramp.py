# SPDX-License-Identifier: Apache-2.0
"""The ramp to the safe effort without states."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.effort_limiter import EffortLimiter
from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.model.spatial import Array

REPETITIONS = 5
"""Number of times that the safe effort is commanded before commands end, so that a lost message does not matter."""


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
