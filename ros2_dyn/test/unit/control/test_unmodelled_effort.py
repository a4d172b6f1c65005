# SPDX-License-Identifier: Apache-2.0
"""What held an arm beyond its model: kept near where it was needed, and faded once where the model changes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn.control.ramp import Ramp
from ros2_dyn.control.unmodelled_effort import UnmodelledEffort

HELD = UnmodelledEffort(np.array([0.1, -0.4]), np.array([3.0, -2.0]))


@pytest.mark.parametrize(
    ("away", "share"), [(0.0, 1.0), (np.pi / 3, 0.5), (-np.pi / 3, 0.5), (np.pi / 2, 0.0), (3.0, 0.0)]
)
def test_less_is_kept_the_farther_a_joint_goes(away, share):
    assert_allclose(HELD.at(HELD.q + np.array([0.0, away]), now=1.0), share * HELD.effort, atol=1e-12)


def test_it_is_what_a_load_on_a_horizontal_link_that_turns_adds():
    """A weight of 3 N at 1 m: ``m g l cos q``; the second joint bears nothing."""
    held = UnmodelledEffort(np.zeros(2), np.array([3.0, 0.0]))
    for q in np.linspace(-np.pi / 2, np.pi / 2, 9):
        assert_allclose(held.at(np.array([q, 0.0]), now=0.0), [3.0 * np.cos(q), 0.0], atol=1e-12)


def test_it_fades_over_the_ramp_to_another_model():
    fading = HELD.fading(Ramp(start=2.0, duration=4.0))
    for now, share in ((1.0, 1.0), (3.0, 0.75), (6.0, 0.0), (9.0, 0.0)):
        assert_allclose(fading.at(HELD.q, now), share * HELD.effort)


@pytest.mark.parametrize("again", [3.0, 5.0, 6.0, 20.0])
def test_another_change_of_the_model_brings_nothing_of_it_back(again):
    """A payload is declared, and declared again: amid the ramp what is left fades, later nothing is left."""
    fading = HELD.fading(Ramp(start=2.0, duration=4.0))
    left = fading.at(HELD.q, again)
    twice = fading.fading(Ramp(start=again, duration=2.0))
    for since, share in ((0.0, 1.0), (0.5, 0.75), (2.0, 0.0)):
        assert_allclose(twice.at(HELD.q, again + since), share * left)
