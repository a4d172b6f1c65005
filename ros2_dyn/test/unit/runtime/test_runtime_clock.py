# SPDX-License-Identifier: Apache-2.0
"""The time of a runtime, in real time and with a simulation's clock."""

import numpy as np
import pytest

from ros2_dyn.runtime.runtime_clock import RuntimeClock

S = 10**9


@pytest.fixture
def clock() -> RuntimeClock:
    """One that begins at 100 s and lets a simulation stand still for 2 s."""
    return RuntimeClock(timeout=2.0, steady=100.0)


def test_without_simulation_now_is_the_steady_clock(clock):
    for steady in (100.0, 100.25, 107.5):
        clock.follow_steady(steady)
        assert clock.now == steady


@pytest.mark.parametrize("pace", [0.1, 1.0, 5.0])
def test_with_simulation_now_passes_at_its_pace(clock, pace):
    for k in range(101):
        assert clock.follow_simulation(7 * S + round(0.01 * k * pace * S), 100.0 + 0.01 * k) == ""
    assert clock.now == pytest.approx(100.0 + pace)


def test_standing_simulation_holds_now_until_the_timeout_and_then_real_time_passes(clock):
    clock.follow_simulation(S, 100.0)
    clock.follow_simulation(S, 101.9)
    assert clock.now == 100.0
    clock.follow_simulation(S, 102.1)
    clock.follow_simulation(S, 102.6)
    assert clock.now == pytest.approx(100.7)
    assert clock.follow_simulation(S + S // 10, 102.7) == ""  # it goes on
    assert clock.now == pytest.approx(100.8)


@pytest.mark.parametrize("jump", [-0.001, -50.0, 1.001, 3600.0])
def test_simulation_that_is_set_is_told_and_holds_now(clock, jump):
    clock.follow_simulation(100 * S, 100.0)
    assert clock.follow_simulation(round((100 + jump) * S), 100.004) == f"/clock was set by {jump:+.3f} s"
    assert clock.now == 100.0
    assert clock.follow_simulation(round((100 + jump) * S) + S // 100, 100.008) == ""
    assert clock.now == pytest.approx(100.01)


def test_now_never_decreases_whatever_the_clocks_and_the_switches_between_them(clock):
    rng = np.random.default_rng(0)
    steady, stamp, before = 100.0, 0, clock.now
    for _ in range(5000):
        steady += float(rng.choice([0.0, 0.001, 0.5, 3.0]))
        stamp = max(0, stamp + round(float(rng.choice([0.0, 0.004, 0.9, 5.0, -5.0])) * S))
        if rng.random() < 0.3:
            clock.follow_steady(steady)
        else:
            clock.follow_simulation(stamp, steady)
        assert clock.now >= before
        before = clock.now
