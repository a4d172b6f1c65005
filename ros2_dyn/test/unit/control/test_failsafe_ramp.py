# SPDX-License-Identifier: Apache-2.0
"""The ramp without states: from the newest command to the safe effort within the limits, and then silence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ros2_dyn.control.effort_limiter import CommandLimits, EffortLimiter
from ros2_dyn.control.failsafe_ramp import REPETITIONS, SafeEffortRamp, safe_effort

LIMIT, SLEW_RATE = np.array([6.0, 3.0]), np.array([50.0, 20.0])
PERIOD = 0.01


def commands(start, safe) -> np.ndarray:
    """Return the commands of a ramp until it ends."""
    limiter = EffortLimiter(CommandLimits(("", ""), LIMIT, SLEW_RATE, np.full(2, np.inf)))
    limiter.start(start, 0.0)
    ramp, sent = SafeEffortRamp(limiter), []
    while not ramp.ended:
        sent.append(ramp.step(np.array(safe), PERIOD * (len(sent) + 1)))
    return np.array(sent)


def test_the_ramp_goes_all_the_way_at_the_slew_rate_and_repeats_its_end():
    sent = commands([5.0, 2.0], [1.2, -0.8])
    assert_allclose(sent[0], np.array([5.0, 2.0]) - PERIOD * SLEW_RATE)
    assert np.max(np.abs(np.diff(sent, axis=0)) / (PERIOD * SLEW_RATE)) <= 1 + 1e-9
    assert_array_equal(sent[-REPETITIONS:], [[1.2, -0.8]] * REPETITIONS)


def test_an_end_above_the_limits_is_clipped():
    assert_array_equal(commands([5.0, 2.0], [100.0, -100.0])[-1], [6.0, -3.0])


@pytest.mark.parametrize(("behaviour", "expected"), [("hold_gravity", [1.0, 2.0]), ("zero_effort", [0.0, 0.0])])
def test_safe_effort_is_the_declared_one(behaviour, expected):
    assert_array_equal(safe_effort(behaviour, np.array([1.0, 2.0])), expected)
