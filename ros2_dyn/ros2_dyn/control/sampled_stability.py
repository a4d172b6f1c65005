"""Stability limits of damping and bandwidth in a sampled loop with one period of delay."""

from __future__ import annotations

MAX_RATE_TIMES_PERIOD = 0.3
"""Maximum product of rate and period. Delayed by one period, damping is stable below 1 and overshoots above 1/4."""


def limit_rate_to_sampling(rate: float, period: float) -> float:
    """Return a damping rate or bandwidth, reduced to the limit of a sampled loop.

    Args:
        rate: damping rate, 1/s, or bandwidth, rad/s.
        period: period of the loop, s; 0: unknown, no reduction.
    """
    return min(rate, MAX_RATE_TIMES_PERIOD / period) if period > 0 else rate
