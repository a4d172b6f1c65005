"""What a loop bears that acts once a period, and a period late."""

from __future__ import annotations

MAX_RATE_TIMES_PERIOD = 0.3
"""Greatest rate times period. A damping that acts a period late is stable below 1, and does not swing below 1/4."""


def limit_rate_to_sampling(rate: float, period: float) -> float:
    """A rate of damping, 1/s, or a bandwidth, rad/s, or less where the loop would swing with it.

    Args:
        rate: 1/s or rad/s.
        period: of the loop, s.
    """
    return min(rate, MAX_RATE_TIMES_PERIOD / period) if period > 0 else rate
