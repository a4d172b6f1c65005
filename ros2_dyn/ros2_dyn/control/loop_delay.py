# SPDX-License-Identifier: Apache-2.0
"""The delay of the whole loop: from the measurement of a state to the end of the effort that it leads to.

It has two parts. The first is seen at each state: how old the state before it is by then, whose command was in force
until now. It holds age, period, jitter and bursts. The second is the way of the commands. Measured efforts show it:
they repeat the commands later. Where they show nothing, it is what is declared.

A stamp ahead of its arrival is one of another clock: the state is older than it says by as much at least. Measured
efforts show that, too, for they seem to repeat the commands later by the difference of the clocks.

What neither stamps nor efforts show, the arm shows by swinging.
"""

from __future__ import annotations

from math import exp, inf
from statistics import median

import numpy as np

from ros2_dyn.control.command_history import CommandHistory
from ros2_dyn.control.swing import Swing
from ros2_dyn.model.spatial import Array

MAX_COMMAND_DELAY = 0.12
"""Longest delay of commands that is looked for, s."""
RESOLUTION = 0.004
"""Resolution of the estimated delay of commands, s."""
MEAN_TIME = 0.3
"""Time over which efforts are averaged, s: only how they differ from that shows a delay."""


class LoopDelay:
    """An envelope of the loop's delay, which rises at once and decays slowly."""

    def __init__(self, commands: CommandHistory, timeout: float = inf, declared: float = 0.0) -> None:
        """Start without knowledge.

        Args:
            commands: what is commanded.
            timeout: pause of the states after which all starts afresh, s: no mode outlasts it.
            declared: delay of the commands, s.
        """
        self.timeout, self.declared = timeout, declared
        self.way = CommandDelay(commands)
        """Of the commands to the joints."""
        self.swing = Swing()
        """Of the arm."""
        self._states = self._shown = 0.0
        self.ahead = 0.0
        """How far stamps were ahead of their arrival in the last time, s."""
        self._measured_at = self._now = -inf

    @property
    def longest(self) -> float:
        """The longest delay of the last time, s."""
        return self._states + self.command_delay

    @property
    def command_delay(self) -> float:
        """The delay of the commands, and what the stamps hide of that of the states, s."""
        return max(self.declared + self.ahead, self._shown, self.way.delay)

    @property
    def answer_time(self) -> float:
        """Time within which measured efforts follow the commands, s; the longest looked for where none shows."""
        return min(self.longest, MAX_COMMAND_DELAY) if self.way.shows else MAX_COMMAND_DELAY

    @property
    def clock_problem(self) -> str:
        """What is wrong with the stamps, in words; empty: nothing that matters."""
        if self.ahead <= 0.002:  # s
            return ""
        return f"stamps of joint_states are {1e3 * self.ahead:.3g} ms ahead of this node's clock"

    def on_state(self, now: float, measured_at: float) -> None:
        """Take notice of a state that comes now, s, and when it was measured, s."""
        late, ahead, measured_at = now - self._measured_at, max(measured_at - now, 0.0), min(measured_at, now)
        if late > self.timeout:
            self._states, self._shown, self.ahead, self._measured_at = 0.0, 0.0, ahead, measured_at
        else:
            keep = exp((self._now - now) / 0.5)  # s
            self._states = late + max(keep * (self._states - late), 0.0)
            self._shown = max(keep * self._shown, self.way.delay)
            self.ahead = ahead + max(keep * (self.ahead - ahead), 0.0)
            self._measured_at = max(self._measured_at, measured_at)
        self._now = now


class CommandDelay:
    """Finds how late measured efforts repeat the commands."""

    def __init__(self, commands: CommandHistory) -> None:
        """Compare efforts with these commands."""
        self.delay = 0.0
        """The newest estimate that is certain, s; 0 before."""
        self.shows = False
        """Whether an estimate was certain."""
        self._commands = commands
        self._delays = np.arange(0.0, MAX_COMMAND_DELAY, RESOLUTION)
        self.begin()

    def begin(self) -> None:
        """Take notice that commands begin; the estimate stays, and is believed from now on."""
        self._believed, self._obeyed = (self.delay, self.shows), True
        self._restart()

    def disbelieve(self) -> None:
        """Forget what was found since commands began, and find nothing until they begin again: they are not obeyed."""
        (self.delay, self.shows), self._obeyed = self._believed, False

    def _restart(self) -> None:
        self._at = self._begun = -inf
        self._mean: Array | None = None
        self._mismatch = np.zeros((len(self._delays), 1))
        self._variance = np.zeros(1)

    def on_effort(self, measured_at: float, effort: Array, limit: Array) -> None:
        """Take notice of a measured effort.

        Args:
            measured_at: when it was measured, s.
            effort: as it would be commanded, N m or N, shape (n,).
            limit: of which parts are rounding, and multiples outliers, N m or N, shape (n,).
        """
        since = measured_at - self._at
        if not self._obeyed or since < 0.0079:  # s; 125 Hz are enough
            return
        sent = self._commands.at_all(measured_at - self._delays)
        if sent is None or not np.isfinite(effort).all():
            return
        rows = np.concatenate([effort[None], sent]) / limit
        rows = np.minimum(np.maximum(rows, -2.0), 2.0)  # an outlier counts as twice the limit
        if self._mean is None or since > MEAN_TIME:
            self._restart()
            self._mean, self._begun = rows, measured_at
        self._at = measured_at
        since = min(since, MEAN_TIME)
        self._mean += (1 - exp(-since / MEAN_TIME)) * (rows - self._mean)
        change = rows - self._mean
        keep = exp(-since / 0.5)  # s
        self._mismatch = keep * self._mismatch + (1 - keep) * (change[1:] - change[0]) ** 2
        self._variance = keep * self._variance + (1 - keep) * change[0] ** 2
        if measured_at - self._begun < MAX_COMMAND_DELAY:  # the noise of a few states looks like any delay
            return
        rounding = 1e-4**2  # of the limits
        if self._variance.sum() < rounding:
            return
        # What no delay explains is noise; each joint weighs by its own, or that of light joints would hide the others.
        noise = np.maximum(self._mismatch.min(axis=0), rounding)
        mismatch, variance = (self._mismatch / noise).sum(axis=1), float((self._variance / noise).sum())
        least = float(mismatch.min())
        # Certain is a delay that explains 70 % of the variance, where others leave three times as much unexplained.
        if least < 0.3 * variance and 3 * least < median(mismatch.tolist()):
            # States cannot tell delays apart between which no command was sent: the shortest of them counts.
            best = int(np.argmax(mismatch <= least + 1e-6 * variance))
            self.delay = float(self._delays[best]) + (RESOLUTION if best else 0.0)
            self.shows = True
