"""A payload that comes and goes over a time, so that efforts do not step."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from ros2_dyn.errors import InputError

NOTHING = (0.0,) * 10


class PayloadRamp:
    """Inertial parameters of what one link carries, on their way from one payload to the next.

    Efforts are linear in these parameters, and what lies between two bodies' parameters is a body's, too.
    """

    def __init__(self, link: str) -> None:
        self.link = link
        self._before: Sequence[float] = NOTHING
        self._target: Sequence[float] = NOTHING
        self._start = 0.0
        self._end = 0.0

    def pass_to(self, parameters: Sequence[float], ramp_time: float, now: float) -> None:
        """Begin to pass to another payload.

        Raises:
            InputError: the time is negative or not finite. Nothing is changed then.
        """
        if not (isfinite(ramp_time) and ramp_time >= 0):
            raise InputError("ramp_time", f"expected a number of seconds, not negative, got {ramp_time}")
        self._before, self._target = self.at(now), tuple(parameters)
        self._start, self._end = now, now + ramp_time

    def at(self, now: float) -> Sequence[float]:
        """The parameters at a time of a steady clock, s."""
        if now >= self._end:
            return self._target
        s = (now - self._start) / (self._end - self._start)
        return tuple(a + s * (b - a) for a, b in zip(self._before, self._target))
