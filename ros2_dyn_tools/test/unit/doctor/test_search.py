# SPDX-License-Identifier: Apache-2.0
"""Which gains are dropped for what they explain."""

from dataclasses import replace

import pytest

from recordings import synthetic_recording
from robots import mock_arm
from ros2_dyn_tools.doctor.evidence import QUICK
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import Judge
from ros2_dyn_tools.doctor.recorded_samples import take_samples
from ros2_dyn_tools.doctor.search import explains_less

pytest.importorskip("scipy", reason="SciPy is not installed")
MODEL = mock_arm()
RIGHT = Hypothesis.nothing_wrong(MODEL.n)
SMALL = replace(RIGHT, common_gain=0.02)
EXCHANGED = replace(RIGHT, states=(0, 1, 2, 3, 5, 4), efforts=(0, 1, 2, 3, 5, 4))


@pytest.mark.parametrize(
    ("unit", "hypothesis", "without", "less"),
    [
        (1.0, SMALL, RIGHT, True),  # as if all that is measured were nothing, beside the model
        (50.0, SMALL, RIGHT, False),  # true
        (1.0, EXCHANGED, RIGHT, False),  # no gain
        (1.0, replace(EXCHANGED, heavy=1.1), RIGHT, False),  # nor is this
        (1.0, replace(SMALL, states=EXCHANGED.states), replace(RIGHT, states=EXCHANGED.states), True),
    ],
)
def test_a_gain_thatexplains_less_than_none_is_dropped(unit, hypothesis, without, less):
    recording = synthetic_recording(MODEL, 2, seconds=15.0, rate=50.0)
    judge = Judge(MODEL, take_samples(recording._replace(effort=unit * recording.effort)), 80, QUICK)
    assert explains_less(judge, hypothesis, without) == less
