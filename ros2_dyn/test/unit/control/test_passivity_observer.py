# SPDX-License-Identifier: Apache-2.0
"""The energy of late commands, against oscillators whose energy is known."""

from __future__ import annotations

from math import cos, exp, pi

import numpy as np
import pytest

from ros2_dyn.control.passivity_observer import ENERGY_BUDGET, PassivityObserver

STEP, MASS, RATE = 0.002, 2.0, 5.0


def observed(
    omega: float, delay: float, seconds: float = 1.0, damping: float = RATE
) -> tuple[PassivityObserver, float]:
    """Return the observer of a body that swings, with late damping, and the true work of the damping, J."""
    observer, work = PassivityObserver(), 0.0
    for k in range(round(seconds / STEP)):
        t = k * STEP
        effort = -damping * MASS * omega * cos(omega * (t - STEP / 2 - delay))  # held since the state before
        q = np.array([np.sin(omega * t)])
        observer.on_state(q, np.array([effort]), np.zeros(1), 0.0)
        work += 0.0 if k == 0 else effort * (q[0] - np.sin(omega * (t - STEP)))
    return observer, work


def test_damping_at_the_wrong_phase_is_seen_as_the_energy_that_it_feeds():
    omega = 30.0
    observer, work = observed(omega, pi / omega)
    assert observer.energy == pytest.approx(work, rel=1e-9)
    assert work == pytest.approx(RATE * MASS * omega**2 / 2, rel=0.05)


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03])
def test_damping_in_time_feeds_nothing(delay):
    observer, work = observed(30.0, delay)
    assert work < 0
    assert observer.energy < 0.1 * abs(work)


def test_energy_that_was_taken_before_is_no_credit():
    observer, _ = observed(30.0, 0.0, seconds=5.0)
    q = 1.0
    for _ in range(10):
        q += 0.01
        observer.on_state(np.array([q]), np.array([3.0]), np.array([1.0]), 0.0)
    assert observer.energy >= 9 * 0.01 * (3.0 - 1.0) - 1e-9


def test_supply_is_no_fed_energy_and_unknown_work_is_not_counted():
    observer = PassivityObserver()
    for k in range(10):
        observer.on_state(np.array([0.1 * k]), np.array([5.0]), np.array([5.0]), 0.01)
    assert observer.energy == 0.0
    observer.on_state(np.array([2.0]), None, np.array([0.0]), 0.01)
    observer.on_state(np.array([3.0]), np.array([5.0]), None, 0.01)
    observer.on_state(np.array([4.0]), np.array([5.0]), np.array([0.0]), 0.01)
    assert observer.energy == 0.0


def test_energy_fades_and_the_gain_falls_from_a_tenth_of_the_budget_to_a_half():
    observer = PassivityObserver()
    effort = np.full(1, ENERGY_BUDGET)
    gains = []
    for q in (0.0, 0.1, 0.3, 0.5, 1.0):
        observer.on_state(np.full(1, q), effort, np.zeros(1), 0.0)
        assert observer.energy == pytest.approx(q * ENERGY_BUDGET)
        gains.append(observer.gain())
    assert gains == pytest.approx([1.0, 1.0, 0.5, 0.0, 0.0])
    observer.on_state(np.ones(1), effort, np.zeros(1), 5.0)
    assert observer.energy == pytest.approx(exp(-1) * ENERGY_BUDGET)
    observer.restart()
    assert observer.energy == 0.0


def test_stamps_that_went_back_a_day_count_as_one_instant():
    observer = PassivityObserver()
    for q, since in ((0.0, 0.01), (0.01, 0.01), (0.01, -86400.0)):
        observer.on_state(np.array([q]), np.ones(1), np.zeros(1), since)
    assert observer.energy == pytest.approx(0.01)
