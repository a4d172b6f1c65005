# SPDX-License-Identifier: Apache-2.0
"""The four rules for every command, judged by the messages: finite, limited, slewed, on a state that is not stale.

On a stale state a command may only go on towards the effort that carries the arm.
"""

from __future__ import annotations

import numpy as np

from driver import MODEL, Driver
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP
from ros2_dyn.dynamics import gravity

LIMIT = 0.8 * MODEL.effort_limit
"""effort_scale times the limits, N m."""
STEP = 10.0 * LIMIT * MAX_SLEW_STEP
"""Maximum step between commands: slew_rate times the limit times the longest time step, N m."""


class CommandRules:
    """Judges each command that a driver gets."""

    def __init__(self, driver: Driver, state_timeout: float) -> None:
        """Begin to judge.

        Args:
            driver: whose commands are judged; its `elapsed` is the time.
            state_timeout: maximum age of a state that a command may be based on, s.
        """
        self.violations: list[str] = []
        self._driver, self._timeout = driver, 1e9 * state_timeout
        self._held: np.ndarray | None = None
        driver.on_command.append(self._judge)

    def _judge(self, command: list[float]) -> None:
        effort, age = np.array(command), self._driver.elapsed - self._driver.stated_at
        if not np.all(np.isfinite(effort)):
            self.violations.append(f"not finite: {effort}")
        elif np.any(np.abs(effort) > LIMIT * (1 + 1e-12)):
            self.violations.append(f"above the limit: {effort}")
        if age > self._timeout and not self._descends(effort):
            self.violations.append(f"on a state that is {1e-9 * age:.3f} s old: {effort}")
        if self._held is not None and np.any(np.abs(effort - self._held) > STEP * (1 + 1e-9)):
            self.violations.append(f"a step: {effort} after {self._held}")
        self._held = effort

    def _descends(self, effort: np.ndarray) -> bool:
        """Return whether a command is no farther from the effort that carries the arm than the one before."""
        safe = gravity(MODEL, np.array(self._driver.arm.q))
        before = np.inf if self._held is None else np.abs(self._held - safe)
        return bool(np.all(np.abs(effort - safe) <= before + 1e-6))
