# SPDX-License-Identifier: Apache-2.0
"""The limiter of commands: saturation, mode ramps and slew rate."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.ramp import Ramp
from ros2_dyn.model.spatial import Array, clip

MAX_SLEW_STEP = 0.02
"""Longest time step used by the slew-rate limit, s: after a gap a command still changes by at most this times it."""


@dataclass(frozen=True)
class CommandLimits:
    """Limits of the joints; arrays of shape (n,)."""

    joint_names: tuple[str, ...]
    effort: Array
    """Maximum effort, N m or N."""
    slew_rate: Array
    """Maximum rate of change of the effort, N m/s or N/s."""
    velocity: Array
    """Maximum velocity, rad/s or m/s."""


class EffortLimiter:
    """Turns a requested effort into the next command: finite, within the limits, without steps."""

    def __init__(self, limits: CommandLimits) -> None:
        self.limits = limits
        self.last: Array | None = None
        """The newest command, N m or N, shape (n,); None while nothing is commanded."""
        self._last_at = 0.0
        self._before: deque[Array] = deque(maxlen=8)
        self._ramp_from: Array | None = None
        self._ramp = Ramp()

    @property
    def ramps(self) -> bool:
        """Whether a ramp is in progress."""
        return self._ramp_from is not None

    def start(self, applied: ArrayLike, now: float) -> None:
        """Start from the effort that the joints exert, N m or N, shape (n,), at a time, s."""
        self.last, self._last_at, self._ramp_from = np.array(applied, dtype=float), now, None
        self._before.clear()

    def clear(self) -> None:
        """End commands."""
        self.last = self._ramp_from = None
        self._before.clear()

    def withdraw(self, now: float) -> None:
        """Go on from the command before the newest, which was not published, at a time, s."""
        if self._before:
            self.last, self._last_at = self._before.pop(), now

    def ramp(self, now: float, duration: float) -> None:
        """Begin a ramp from the newest command to the requested effort, with a duration, s."""
        self._ramp_from, self._ramp = self.last, Ramp(now, duration)

    def end_ramp(self) -> None:
        """End the ramp; only the slew rate limits changes from now on."""
        self._ramp_from = None

    def saturate(self, effort: Array) -> Array:
        """Return an effort clipped to the effort limits; NaN becomes zero."""
        return clip(np.where(np.isnan(effort), 0.0, effort), -self.limits.effort, self.limits.effort)

    def limit(self, wanted: Array, now: float) -> tuple[Array, tuple[tuple[str, str], ...]]:
        """Return the next command, and the limits that changed it: each as its kind, and a sentence.

        Args:
            wanted: requested effort, N m or N, shape (n,).
            now: time, s.
        """
        saturated = self.saturate(wanted)
        blended = self._blend(saturated, now)
        command = self.slew(blended, now)
        changes = (self._change("effort limit", wanted, saturated), self._change("slew limit", blended, command))
        return command, tuple(change for change in changes if change is not None)

    def slew(self, effort: Array, now: float) -> Array:
        """Return the next command towards an effort, as far as the slew rate allows."""
        assert self.last is not None, "the limiter has to be started first"
        self._before.append(self.last)
        step = self.limits.slew_rate * min(max(now - self._last_at, 0.0), MAX_SLEW_STEP)
        self.last, self._last_at = clip(effort, self.last - step, self.last + step), now
        return self.last

    def _blend(self, effort: Array, now: float) -> Array:
        """Return the effort of the ramp, between its start and the requested effort."""
        s, begin = self._ramp.share(now), self._ramp_from
        if begin is None or s == 1:
            self._ramp_from = None
            return effort
        return begin + s * (effort - begin)

    def _change(self, kind: str, wanted: Array, given: Array) -> tuple[str, str] | None:
        kept = np.abs(wanted - given) <= 1e-9  # N m or N, which rounding changes; not where one is not a number
        if kept.all():
            return None
        i = int(kept.argmin())
        joint = self.limits.joint_names[i]
        return kind, f"{kind} of '{joint}': {given[i]:.4g} for {wanted[i]:.4g} N m or N"
