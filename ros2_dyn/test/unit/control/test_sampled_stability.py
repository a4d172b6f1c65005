"""The limit of a sampled loop's rates, against the loop itself."""

from __future__ import annotations

from math import inf

import pytest

from ros2_dyn.control.sampled_stability import MAX_RATE_TIMES_PERIOD, limit_rate_to_sampling


def test_rate_times_period_is_limited():
    assert limit_rate_to_sampling(100.0, 0.002) == 100.0
    assert limit_rate_to_sampling(100.0, 0.004) == MAX_RATE_TIMES_PERIOD / 0.004
    assert limit_rate_to_sampling(100.0, 0.0) == 100.0
    assert limit_rate_to_sampling(0.0, 0.1) == 0.0


@pytest.mark.parametrize(
    ("share", "most", "swings"), [(0.25, 0.0, False), (MAX_RATE_TIMES_PERIOD, 0.02, True), (1.01, inf, True)]
)
def test_delayed_damping_swings_little_at_the_limit_and_diverges_beyond_one(share, most, swings):
    """The loop is ``v[k+1] = v[k] - share v[k-1]``; it does not swing up to a share of a quarter."""
    v = [1.0, 1.0]
    for _ in range(400):
        v.append(v[-1] - share * v[-2])
    assert (min(v) < 0) == swings
    assert -min(v) <= most
    assert (abs(v[-1]) < 1e-9) == (share < 1)
