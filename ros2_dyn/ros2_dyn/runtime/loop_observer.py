# SPDX-License-Identifier: Apache-2.0
"""What is known of the loop through the controller and the arm: its delay, and the energy of late commands."""

from __future__ import annotations

from collections import deque
from math import inf
from statistics import median

import numpy as np

from ros2_dyn.control.command_history import CommandHistory
from ros2_dyn.control.loop_delay import LoopDelay
from ros2_dyn.control.passivity_observer import PassivityObserver
from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.control.state_freshness import max_command_age
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_pipeline import Observed
from ros2_dyn.runtime.states import MeasuredState


class LoopObserver:
    """Watches states, commands and measured efforts."""

    def __init__(self, commands: CommandHistory) -> None:
        """Begin without knowledge of a loop to which these commands are given."""
        self._commands = commands
        self.delay = LoopDelay(commands)
        """How late the loop is."""
        self._passivity = PassivityObserver()
        self._periods: deque[float] = deque(maxlen=9)
        self.period = inf
        """The median of the newest nine periods of the states, s; inf before the second state."""
        self._state: Observed | None = None
        self._before: MeasuredState | None = None

    def sampled(self, *, touches: bool = False) -> SampledLoop:
        """Return what the loop bears at the newest state.

        Args:
            touches: whether a mode touches things: an arm that bounces on them does not swing, and needs its dampers.
        """
        longest = self.delay.longest if touches else max(self.delay.longest, self.delay.swing.delay)
        delay = max(longest - self.period, 0.0)
        return SampledLoop(self.period, delay, self._passivity.gain(), self._passivity.energy)

    @property
    def lead(self) -> float:
        """The mean age of the newest state while its command is in force, s."""
        if self._state is None:
            return 0.0
        age = max(self._state.now - self._state.state.measured.measured_at, 0.0)
        return min(age + self.delay.command_delay + self.period / 2, self.delay.timeout)

    def use(self, settings: Settings) -> None:
        """Go on with other parameters."""
        # a pause of the states by this ends a mode, and no damper is in force any more
        self.delay.timeout = max_command_age(settings.states.timeout)
        self.delay.declared = settings.commands.delay

    def begin(self, commanded: bool) -> None:
        """Take notice that a mode begins, and whether the arm has been commanded until now."""
        if not commanded:
            self.delay.way.begin()
        self._passivity.restart()

    def on_state(self, observed: Observed) -> None:
        """Take a state."""
        if self._state is not None:
            self._periods.append(observed.now - self._state.now)
            self.period = median(self._periods)
            self._before = self._state.state.measured
        self._state = observed
        self.delay.swing.on_state(observed.state.measured.qd, observed.now)
        self.delay.on_state(observed.now, observed.state.measured.measured_at)

    def on_effort(self, effort: Array, limit: Array) -> None:
        """Take the measured effort of the newest state, as it would be commanded, and the limits, N m or N."""
        if self._state is not None:
            self.delay.way.on_effort(self._state.state.measured.measured_at, effort, limit)

    def on_disobedience(self) -> None:
        """Take notice that the measured efforts are not those commanded: they say nothing of when these come."""
        self.delay.way.disbelieve()

    def observe_energy(self, supply: Array | None) -> None:
        """Sum the energy that the law has fed into the arm until the newest state.

        Args:
            supply: what the law gives at this state that is passive or wanted, as it would be commanded, N m or N,
                shape (n,); None: it is not known.
        """
        if self._state is None or self._before is None or supply is None:
            self._passivity.restart()
            return
        measured, before = self._state.state.measured, self._before
        between = (measured.measured_at + before.measured_at) / 2 - self.delay.command_delay
        applied = self._commands.at(between)
        self._passivity.on_state(np.array(measured.q), applied, supply, measured.measured_at - before.measured_at)
