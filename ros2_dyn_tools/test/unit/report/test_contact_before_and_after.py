# SPDX-License-Identifier: Apache-2.0
"""Real arms: contacts that the collision detector sees before and after an identification.

Friction is fitted, the arm identified, and thresholds calibrated on the first two thirds of each recording. Alarms are
counted and smallest steps found in the last third, that nothing was fitted to.
"""

import numpy as np
import pytest

from real_arms import real_arm
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.report.contact_report import collision_report
from tiers import FULL

pytestmark = pytest.mark.skipif(not FULL, reason="takes half a minute: FULL=1")


@pytest.mark.parametrize(
    ("arm", "most"),
    [("ur10", [1.0, 1 / 6, 0.45, 0.2, 0.5, 0.75]), ("panda", [0.75, 1 / 6, 0.25, 0.25, 1 / 7, 1 / 7, 0.9])],
)
def test_smallest_step_shrinks_and_there_is_no_false_alarm(arm, most):
    model, recording = real_arm(arm)
    found = identify(model, [recording])
    conditions = Conditions(tuple(found.gravity), found.settings.effort_filter)
    fitted = identify_friction(model, recording.between(0.0, 2 / 3))
    before = collision_report(fitted, recording, calibrate_on=2 / 3)
    after = collision_report(found.model, recording, calibrate_on=2 / 3, conditions=conditions)
    assert after.recording.t[0] > 2 / 3 * recording.t[-1]
    assert not before.alarms
    assert not after.alarms
    assert np.all(np.array(after.smallest) < np.array(most) * before.smallest)
