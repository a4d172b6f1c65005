# SPDX-License-Identifier: Apache-2.0
"""The judge of effort commands: the four rules that every message must obey, whatever happens.

The judge reads the same messages as the runtime and keeps its own account of them; it asks the runtime nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.control.state_plausibility import MIN_SPEED
from ros2_dyn.runtime.inputs import JointSample

NOT_FINITE = "not finite"
ABOVE_LIMIT = "above the limit"
STEP = "step above the slew limit"
STALE = "on a stale state"
RULES = (NOT_FINITE, ABOVE_LIMIT, STEP, STALE)
"""Kinds of violations."""
SEQUENCE_GAP = 0.5
"""A command that comes this long after the one before, s, begins a new sequence: its step is not judged."""
CLOCK_JUMP = 10**9
"""A stamp that is older than the one before by more than this, ns, is of a clock that was set back."""
DESCENT_MARGIN = 0.5
"""Time, s, that commands on a stale state may change besides that of the largest change at the slew rate."""
TOLERANCE = 1e-9
"""Relative tolerance of limits and steps."""


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


class CommandJudge:
    """Judges each command when it is published.

    - Every number is finite.
    - No number is above its limit.
    - From one command to the next no number changes by more than the slew rate allows in `MAX_SLEW_STEP`.
    - The state of every joint is known from a message that is not older than `state_timeout`, by its stamp. Commands on
      an older state may only go on to the declared safe effort, and repeat it (`DescentJudge`).

    A message that repeats the numbers of the message before, with velocities other than zero, is no new state. One that
    arrives out of order, by its stamp, is not what later ones are compared with.
    """

    def __init__(self, limits: CommandLimits, state_timeout: float, stop_behaviour: StopBehaviour) -> None:
        """Create a judge.

        Args:
            limits: limits of the joints, in the order of the commands' efforts.
            state_timeout: maximum age of a state, s.
            stop_behaviour: the declared safe effort.
        """
        self._index = {name: i for i, name in enumerate(limits.joint_names)}
        self._limit = [(1 + TOLERANCE) * x for x in limits.effort.tolist()]
        self._step = [(1 + TOLERANCE) * MAX_SLEW_STEP * x for x in limits.slew_rate.tolist()]
        self._timeout = state_timeout
        self._descent = DescentJudge(limits, stop_behaviour)
        self._known = [(inf, inf)] * len(self._limit)
        self._measured_at = [-inf] * len(self._limit)
        self.begin_sequence()

    def begin_sequence(self) -> None:
        """Take the next command as the first of a new node, which knows no stamps yet."""
        self._stamp = 0
        self._last: list[float] | None = None
        self._last_at = -inf
        self._descent.end()

    def on_placed(self) -> None:
        """Take note that the controller holds another effort: the next command does not follow the last one."""
        self._last_at = -inf

    @property
    def state_at(self) -> float:
        """Time of the oldest joint in the newest state, s."""
        return min(self._measured_at)

    def on_state(self, sample: JointSample, received: int, now: float) -> None:
        """Take note of a message that a node has received.

        Args:
            sample: the message.
            received: time of its arrival by the node's clock of stamps, ns.
            now: virtual time, s.
        """
        age = 1e-9 * (received - sample.stamp)
        count = len(sample.names)
        if sample.stamp == 0 or len(sample.position) != count:
            return
        late = self._stamp - CLOCK_JUMP <= sample.stamp < self._stamp
        self._stamp = self._stamp if late else sample.stamp
        if age < -self._timeout:
            return
        velocities = sample.velocity if len(sample.velocity) == count else [0.0] * count
        known, measured_at = self._known[:], self._measured_at[:]
        for name, x, v in zip(sample.names, sample.position, velocities):
            i = self._index.get(name)
            if i is not None and isfinite(x):
                known[i], measured_at[i] = (x, v), max(measured_at[i], now - max(age, 0.0))
        repeats = known == self._known and any(MIN_SPEED < abs(v) < inf for _, v in known)
        if late or not repeats:
            self._measured_at = measured_at
        if not late:
            self._known = known

    def on_command(self, effort: Sequence[float], now: float, stopped: bool = False) -> list[str]:
        """Return the rules that a command breaks, of `RULES`.

        Args:
            effort: N m or N, shape (n,).
            now: time of the publication, s.
            stopped: whether the node has said that no active mode commands, or its failsafe process commands.
        """
        broken = []
        if not all(map(isfinite, effort)):
            broken.append(NOT_FINITE)
        if any(abs(x) > limit for x, limit in zip(effort, self._limit)):
            broken.append(ABOVE_LIMIT)
        if self._last is not None and now - self._last_at < SEQUENCE_GAP:
            steps = (abs(x - before) for x, before in zip(effort, self._last))
            if any(step > allowed for step, allowed in zip(steps, self._step)):
                broken.append(STEP)
        if now - self.state_at <= self._timeout * (1 + TOLERANCE):
            self._descent.end()
        elif self._last is None or not self._descent.allows(effort, self._last, now, stopped):
            broken.append(STALE)
        self._last, self._last_at = list(effort), now
        return broken
