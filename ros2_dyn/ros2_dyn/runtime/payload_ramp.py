# SPDX-License-Identifier: Apache-2.0
"""The payload: what a link carries, and the ramp from one payload to the next, so that efforts do not step."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

from ros2_dyn.control.ramp import Ramp
from ros2_dyn.errors import InputError

NO_PAYLOAD = (0.0,) * 10


class PayloadRamp:
    """Inertial parameters of what one link carries, on their way from one payload to the next.

    Inverse dynamics is linear in these parameters, and valid inertial parameters form a convex set, so linear
    interpolation is safe.
    """

    def __init__(self, link: str) -> None:
        self.link = link
        self._before: Sequence[float] = NO_PAYLOAD
        self.target: Sequence[float] = NO_PAYLOAD
        """The parameters at the end of the ramp."""
        self.ramp = Ramp()
        """The change of the payload in time, if it does not wait from now on."""
        self._from, self._until = -inf, inf  # s; it waits before and after

    def change(self, parameters: Sequence[float], ramp_time: float, now: float) -> None:
        """Begin the ramp to another payload.

        Args:
            parameters: its inertial parameters in the link's frame, shape (10,); zeros: none.
            ramp_time: duration of the ramp, s.
            now: time, s.

        Raises:
            InputError: the duration is negative or not finite. Nothing is changed then.
        """
        if not (isfinite(ramp_time) and ramp_time >= 0):
            raise InputError("ramp_time", f"expected a number of seconds, not negative, got {ramp_time}")
        self._before, self.target = self.at(now), tuple(parameters)
        self.ramp, self._until = Ramp(now, ramp_time), max(self._until, now)

    def wait(self, waits: bool, now: float) -> None:
        """Let the ramp wait from a time on, s, or go on then."""
        if waits:
            self._until = min(self._until, now)
        elif self._until < inf:
            self.ramp = self.ramp._replace(start=self.ramp.start + now - self._until)
            self._from, self._until = now, inf

    def share(self, now: float) -> float:
        """Return the share of the change that has taken place at a time, s: from 0 to 1."""
        return self.ramp.share(min(max(now, self._from), self._until))

    def at(self, now: float) -> Sequence[float]:
        """Return the parameters at a time, s, shape (10,)."""
        s = self.share(now)
        return self.target if s == 1 else tuple(a + s * (b - a) for a, b in zip(self._before, self.target))
