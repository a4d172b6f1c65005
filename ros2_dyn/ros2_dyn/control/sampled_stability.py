# SPDX-License-Identifier: Apache-2.0
"""Stability limits of damping and bandwidth in a sampled loop with delay."""

from __future__ import annotations

from typing import NamedTuple

MAX_RATE_TIMES_DELAY = 0.6
"""Maximum product of a rate and the delay of the loop."""
MAX_BANDWIDTH_TIMES_DELAY = 0.3
"""Maximum product of the bandwidth of a spring and the delay."""


class SampledLoop(NamedTuple):
    """How late the loop through controller and arm is at one state, and what that costs."""

    period: float
    """Of the states, s; inf where it is not known, so that all gains are 0."""
    delay: float
    """Longest age of a state when its command takes effect, s."""
    gain: float = 1.0
    """Factor of the dampers, from 0 to 1, which `PassivityObserver` reduces."""
    fed_energy: float = 0.0
    """Energy that late commands have fed into the arm, J; see `PassivityObserver`."""

    @property
    def longest(self) -> float:
        """The longest time from a measurement to the end of its effort, s; the delay is a period at least."""
        return self.period + max(self.period, self.delay)

    def speed_before_damping(self, acceleration: float) -> float:
        """Return the speed, m/s, to which an acceleration, m/s^2, leads under the strongest damping that it bears."""
        return acceleration * self.longest / MAX_RATE_TIMES_DELAY

    def rate(self, rate: float) -> float:
        """Return a damping rate, 1/s, reduced to what the loop bears.

        Damping that a loop holds between two states obeys ``M qdd = -d M qd(t - s(t))``. With M constant each direction
        is ``v' = -d v(t - s(t))``. The delay s grows from ``delay`` to ``period + delay``, and jumps back. Whatever
        course it takes below its maximum S, the solution decays if ``d S < 3/2`` (Myshkis 1951, Yorke 1970). It does
        not even change its sign if ``d S <= 1/e``. The limit is 0.6: a tenth of overshoot at most, and room for a model
        that underestimates M.
        """
        return self.gain * (min(rate, MAX_RATE_TIMES_DELAY / self.longest) if self.longest > 0 else rate)

    def bandwidth(self, bandwidth: float) -> float:
        """Return the bandwidth of a spring, rad/s, reduced to what the loop bears."""
        longest = max(self.period, self.delay)
        return min(bandwidth, MAX_BANDWIDTH_TIMES_DELAY / longest) if longest > 0 else bandwidth
