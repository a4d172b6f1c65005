# SPDX-License-Identifier: Apache-2.0
"""Stability limits of damping and bandwidth in a sampled loop with delay."""

from __future__ import annotations

from typing import NamedTuple

MAX_RATE_TIMES_DELAY = 0.6
"""Maximum product of a rate and the delay of the loop."""
MAX_BANDWIDTH_TIMES_DELAY = 0.3
"""Maximum product of the bandwidth of a spring and the delay."""


def longest_delay(period: float, delay: float) -> float:
    """Return the longest time from a measurement to the end of its effort, s; a delay of a period is assumed at least.

    Args:
        period: longest time for which an effort is held, s.
        delay: longest age of a state when its effort takes effect, s.
    """
    return period + max(period, delay)


def limit_rate_to_sampling(rate: float, period: float, delay: float = 0.0) -> float:
    """Return a damping rate, reduced to the limit of a sampled loop with delay.

    Damping that a loop holds between two states obeys ``M qdd = -d M qd(t - s(t))``. With M constant each direction
    is ``v' = -d v(t - s(t))``. The delay s grows from ``delay`` to ``period + delay``, and jumps back. Whatever course
    it takes below its maximum S, the solution decays if ``d S < 3/2`` (Myshkis 1951, Yorke 1970). It does not even
    change its sign if ``d S <= 1/e``. The limit is 0.6: a tenth of overshoot at most, and room for a model that
    underestimates M. A delay of one period is assumed at least.

    Args:
        rate: damping rate, 1/s.
        period: longest time for which an effort is held, s; 0: unknown, no reduction.
        delay: longest age of a state when its effort takes effect, s.
    """
    longest = longest_delay(period, delay)
    return min(rate, MAX_RATE_TIMES_DELAY / longest) if longest > 0 else rate


def limit_bandwidth_to_sampling(bandwidth: float, period: float, delay: float = 0.0) -> float:
    """Return the bandwidth of a spring, reduced to the limit of a sampled loop with delay.

    Args:
        bandwidth: bandwidth of the spring, rad/s.
        period: longest time for which an effort is held, s; 0: unknown, no reduction.
        delay: longest age of a state when its effort takes effect, s.
    """
    longest = max(period, delay)
    return min(bandwidth, MAX_BANDWIDTH_TIMES_DELAY / longest) if longest > 0 else bandwidth


class SampledLoop(NamedTuple):
    """How late the loop through controller and arm is at one state, and what that costs."""

    period: float
    """Of the states, s; 0: unknown, no reduction."""
    delay: float
    """Longest age of a state when its command takes effect, s."""
    gain: float = 1.0
    """Factor of the dampers, from 0 to 1, which `PassivityObserver` reduces."""
    fed_energy: float = 0.0
    """Energy that late commands have fed into the arm, J; see `PassivityObserver`."""

    @property
    def longest(self) -> float:
        """The longest time from a measurement to the end of its effort, s."""
        return longest_delay(self.period, self.delay)

    def speed_before_damping(self, acceleration: float) -> float:
        """Return the speed, m/s, to which an acceleration, m/s^2, leads under the strongest damping that it bears."""
        return acceleration * self.longest / MAX_RATE_TIMES_DELAY

    def rate(self, rate: float) -> float:
        """Return a damping rate, 1/s, reduced to what the loop bears."""
        return self.gain * limit_rate_to_sampling(rate, self.period, self.delay)

    def bandwidth(self, bandwidth: float) -> float:
        """Return the bandwidth of a spring, rad/s, reduced to what the loop bears."""
        return limit_bandwidth_to_sampling(bandwidth, self.period, self.delay)
