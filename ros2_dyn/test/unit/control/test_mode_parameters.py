# SPDX-License-Identifier: Apache-2.0
"""The parameters of a mode: where they are declared, and how they change while it commands."""

import pytest

from ros2_dyn.control import MODES
from ros2_dyn.control.modes.feed_forward import FeedForward, FeedForwardSettings
from ros2_dyn.control.modes.hand_guiding import HandGuiding, HandGuidingSettings
from ros2_dyn.control.ramp import Ramp


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_the_parameters_of_a_mode_have_its_name(mode):
    assert {name.split(".")[0] for name in (each.name for each in mode.Parameters.parameters().values())} == {mode.name}


def test_gains_are_ramped_linearly():
    mode, after = HandGuiding(HandGuidingSettings(damping=2.0), 0.0), HandGuidingSettings(damping=50.0)
    mode.use(after, Ramp(10.0, 0.2))
    assert mode.parameters(10.1).damping == pytest.approx(26.0)
    mode.use(HandGuidingSettings(damping=1.0), Ramp(10.1, 0.2))
    assert mode.parameters(10.2).damping == pytest.approx(13.5)
    assert mode.parameters(10.3).damping == 1.0


def test_a_list_that_is_not_set_counts_as_zeros_on_the_ramp():
    mode = FeedForward(FeedForwardSettings(damping=(40.0, 20.0)), 0.0)
    mode.use(FeedForwardSettings(), Ramp(1.0, 0.2))
    assert mode.parameters(1.1).damping == pytest.approx([20.0, 10.0])
    assert mode.parameters(1.2).damping == ()


def test_what_is_no_number_changes_at_once():
    mode, after = FeedForward(FeedForwardSettings(), 0.0), FeedForwardSettings(law="computed_torque", gain=0.0)
    mode.use(after, Ramp(1.0, 0.25))
    assert mode.parameters(1.125) == FeedForwardSettings(law="computed_torque", gain=0.5)
