# SPDX-License-Identifier: Apache-2.0
"""The limits of a sampled loop's gains, against the loop itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ros2_dyn.control.sampled_stability import (
    MAX_BANDWIDTH_TIMES_DELAY,
    MAX_RATE_TIMES_DELAY,
    SampledLoop,
)

STEP = 1e-3
"""Integration step, s."""


def test_rate_times_the_longest_delay_is_limited():
    assert SampledLoop(0.002, 0.0).rate(100.0) == 100.0
    assert SampledLoop(0.004, 0.0).rate(100.0) == MAX_RATE_TIMES_DELAY / 0.008
    assert SampledLoop(0.004, 0.003).rate(100.0) == MAX_RATE_TIMES_DELAY / 0.008
    assert SampledLoop(0.002, 0.038).rate(100.0) == MAX_RATE_TIMES_DELAY / 0.040
    assert SampledLoop(0.0, 0.0).rate(100.0) == 100.0
    assert SampledLoop(0.1, 0.0).rate(0.0) == 0.0


def test_bandwidth_times_delay_is_limited():
    assert SampledLoop(0.008, 0.0).bandwidth(20.0) == 20.0
    assert SampledLoop(0.008, 0.003).bandwidth(66.0) == MAX_BANDWIDTH_TIMES_DELAY / 0.008
    assert SampledLoop(0.002, 0.030).bandwidth(66.0) == MAX_BANDWIDTH_TIMES_DELAY / 0.030
    assert SampledLoop(0.0, 0.0).bandwidth(66.0) == 66.0


def damped_speed(
    rate: float, period: float, age: Callable[[], float], push: float, seconds: float = 4.0
) -> list[float]:
    """Return the speed of a unit mass, damped by speeds of some age that are held for a period."""
    v, held, n = [1.0] * 1000, 1.0, round(period / STEP)
    for k in range(round(seconds / STEP)):
        if k % n == 0:
            held = v[-1 - round(age() / STEP)]
        v.append(v[-1] + STEP * (push - rate * held))
    return v[1000:]


@pytest.mark.parametrize("period", [0.001, 0.008, 0.02])
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.08])
@pytest.mark.parametrize("jitters", [False, True])
def test_limited_damping_decays_with_little_overshoot_whatever_the_course_of_the_delay(period, delay, jitters):
    rng = np.random.default_rng(0)
    rate = SampledLoop(period, delay).rate(500.0)

    def age() -> float:
        return float(rng.uniform(0, delay)) if jitters else delay

    v = damped_speed(rate, period, age, 0.0)
    assert min(v) > -0.12
    assert max(map(abs, v[-500:])) < 1e-2


@pytest.mark.parametrize(("share", "decays"), [(1.4, True), (1.7, False)])
def test_late_damping_diverges_above_three_halves(share, decays):
    """A delay that grows as a sawtooth from 0 to S diverges from ``d S = 2`` on, a constant one from pi / 2 on."""
    v = damped_speed(share / 0.041, 0.001, lambda: 0.04, 0.0)
    assert (abs(v[-1]) < 1e-2) == decays


@pytest.mark.parametrize(("period", "delay"), [(0.002, 0.0), (0.002, 0.04), (0.02, 0.0)])
def test_a_push_reaches_the_predicted_speed(period, delay):
    loop = SampledLoop(period, delay)
    v = damped_speed(loop.rate(1e3), period, lambda: delay, 2.0)
    assert v[-1] == pytest.approx(loop.speed_before_damping(2.0), rel=0.02)
    assert loop.longest >= 2 * period
