# SPDX-License-Identifier: Apache-2.0
"""The ramp: the share of a change at a time."""

import pytest

from ros2_dyn.control.ramp import Ramp


@pytest.mark.parametrize(("now", "share"), [(9.0, 0.0), (10.0, 0.0), (11.0, 0.25), (14.0, 1.0), (100.0, 1.0)])
def test_share_grows_from_the_start_for_the_duration(now, share):
    assert Ramp(10.0, 4.0).share(now) == share


def test_ramp_without_a_duration_is_a_step():
    assert Ramp(10.0, 0.0).share(10.0) == 1.0


def test_ramp_that_was_never_begun_is_over():
    assert Ramp().share(0.0) == 1.0
