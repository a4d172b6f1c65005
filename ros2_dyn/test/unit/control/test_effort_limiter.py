# SPDX-License-Identifier: Apache-2.0
"""The limiter of efforts: saturation, ramps and the slew rate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, EffortLimiter
from supervisor_loop import LIMITS, PERIOD

HUGE = np.array([1e9, -1e9])


def started(applied=(0.0, 0.0)) -> EffortLimiter:
    """Return a limiter that commands since time 0."""
    limiter = EffortLimiter(LIMITS)
    limiter.start(applied, 0.0)
    return limiter


def test_commands_change_at_the_slew_rate_up_to_the_effort_limit():
    limiter = started()
    for k in range(1, 150):
        command, _ = limiter.limit(HUGE, k * PERIOD)
        assert_allclose(command, np.minimum(k * PERIOD * LIMITS.slew_rate, LIMITS.effort) * [1, -1], rtol=1e-9)
    assert_array_equal(command, [10.0, -4.0])


def test_interventions_name_the_limit_the_joint_and_the_efforts():
    limiter = started()
    _, interventions = limiter.limit(HUGE, PERIOD)
    assert [tuple(each) for each in interventions] == [
        ("effort limit", "effort limit of 'a': 10 for 1e+09 N m or N"),
        ("slew limit", "slew limit of 'a': 0.2 for 10 N m or N"),
    ]
    assert limiter.limit(np.array([0.21, -0.07]), 2 * PERIOD)[1] == ()


@pytest.mark.parametrize("gap", [0.08, 1e9])
def test_a_command_after_a_gap_changes_by_the_longest_slew_step(gap):
    assert_allclose(started().limit(np.array([10.0, 4.0]), gap)[0], MAX_SLEW_STEP * LIMITS.slew_rate)


def test_a_command_at_an_earlier_time_does_not_change():
    assert_array_equal(started([1.0, 2.0]).limit(HUGE, -1.0)[0], [1.0, 2.0])


def test_saturation_makes_every_number_finite():
    assert_array_equal(EffortLimiter(LIMITS).saturate(np.array([np.nan, np.inf])), [0.0, 4.0])
    assert_array_equal(EffortLimiter(LIMITS).saturate(np.array([-np.inf, 3.9])), [-10.0, 3.9])
