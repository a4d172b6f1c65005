# SPDX-License-Identifier: Apache-2.0
"""Observers behind the filter that a driver puts on efforts, against closed forms."""

from math import inf, pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn.estimation.filters import LowPass
from ros2_dyn.estimation.momentum_observer import DirectObserver, MomentumObserver
from ros2_dyn_tools.recording.detection import step_response
from ros2_dyn_tools.recording.effort_filter import EffortFilter

K, CUTOFF, STEP = 25.0, 2.0, 0.002
T = STEP * np.arange(1500)
EXTERNAL = np.where(T >= 1.0, 5.0, 0.0)


def low_passed(values, cutoff=CUTOFF):
    driver = LowPass(cutoff)
    return np.array([driver.update(t, [x])[0] for t, x in zip(T.tolist(), values.tolist())])


def momentum_residual(cutoff, effort):
    """Return what a momentum observer makes of a mass of 2 with viscous friction 3 that swings, and is pushed."""
    observer, found = MomentumObserver(K, cutoff), []
    speed = np.sin(4 * T)
    for t, v, tau in zip(T.tolist(), speed.tolist(), effort.tolist()):
        observer.observe(t, [tau], ([2 * v], [0.0], [0.0], [3 * v]))
        found.append(observer.value[0])
    return np.array(found)


EFFORT = 8 * np.cos(4 * T) + 3 * np.sin(4 * T) - EXTERNAL
"""What moves that mass in spite of the push."""


def test_low_pass_follows_a_step_as_the_continuous_filter_does_at_irregular_times():
    rng = np.random.default_rng(1)
    low_pass, t = LowPass(3.0), 0.0
    low_pass.update(t, [0.0])
    for dt in rng.uniform(0.5e-3, 5e-3, 100):
        t += dt
        assert_allclose(low_pass.update(t, [2.0]), [2 * (1 - np.exp(-2 * pi * 3.0 * t))], rtol=1e-9)
    assert low_pass.update(t - 1e-3, [9.0]) == low_pass.update(t, [7.0])  # late


def test_low_pass_without_cutoff_passes_everything():
    low_pass = LowPass()
    assert [low_pass.update(t, [x]) for t, x in ((0.0, 1.0), (0.1, -3.0))] == [[1.0], [-3.0]]


def test_momentum_observer_that_knows_the_drivers_filter_sees_the_push_alone():
    behind = momentum_residual(CUTOFF, low_passed(EFFORT))
    expected = 5 * step_response(T - 1.0, K, EffortFilter("first_order", CUTOFF))
    begun = T > 0.8  # it has forgotten that the motion before the first state is not known
    assert_allclose(behind[begun], expected[begun], rtol=0, atol=0.08)  # a sample's length
    assert np.max(np.abs(momentum_residual(inf, low_passed(EFFORT))[begun & (T < 1.0)])) > 1.0  # who does not know it


def test_direct_observer_that_knows_the_drivers_filter_sees_the_push_alone():
    expected, measured = EFFORT + EXTERNAL, low_passed(EFFORT)
    observer, found = DirectObserver(K, CUTOFF), []
    for t, tau, e in zip(T.tolist(), measured.tolist(), expected.tolist()):
        observer.observe(t, [-tau], [-e])  # the sign of the residual is that of tau - expected
        found.append(observer.value[0])
    response = step_response(T - 1.0, K, EffortFilter("first_order", CUTOFF))
    assert_allclose(np.abs(found), 5 * response, rtol=0, atol=0.08)


def test_observer_behind_a_filter_begins_afresh_after_a_gap_and_with_another_payload():
    observer = MomentumObserver(K, CUTOFF)
    for t in (0.0, 0.01, 0.02, 5.0, 5.01):  # at rest; held with 4 N m before the gap, with 9 N m after it
        weight = 4.0 if t < 1.0 else 9.0
        observer.observe(t, [weight], ([0.0], [0.0], [weight], [0.0]))
        assert_allclose(observer.value, [0.0], atol=1e-12)
    observer.change_model([9.0], ([0.0], [0.0], [6.0], [0.0]))
    observer.observe(5.02, [6.0], ([0.0], [0.0], [6.0], [0.0]))
    observer.observe(5.03, [6.0], ([0.0], [0.0], [6.0], [0.0]))
    observer.change_model([6.0], ([0.0], [0.0], [6.0], [0.0]))
    assert abs(observer.value[0]) < 3 * K * 0.01  # of the one sample in which the load was taken off


@pytest.mark.parametrize("K", [5.0, 25.0, 2 * pi * CUTOFF])
def test_step_response_behind_a_filter_is_the_step_through_both(K):
    """By simulation in steps of 0.1 ms."""
    t = 1e-4 * np.arange(8000)
    w, late, value, found = 2 * pi * CUTOFF, 0.0, 0.0, []
    for _ in t:
        found.append(value)
        late, value = late + 1e-4 * w * (1 - late), value + 1e-4 * K * (late - value)
    assert_allclose(step_response(t, K, EffortFilter("first_order", CUTOFF)), found, rtol=0, atol=2e-3)


def test_observer_has_no_filter_that_looks_ahead():
    ahead = EffortFilter("zero_phase", CUTOFF)
    assert_allclose(step_response(T - 1.0, K, ahead), step_response(T - 1.0, K), rtol=0, atol=0)
