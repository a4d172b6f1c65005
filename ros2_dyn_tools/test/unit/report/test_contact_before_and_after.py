# SPDX-License-Identifier: Apache-2.0
"""Real arms: contacts that the collision detector sees before and after an identification.

Friction is fitted, the arm identified, and thresholds calibrated on the first two thirds of each recording. Alarms are
counted and smallest steps found in the last third, that nothing was fitted to.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from real_arms import real_arm
from ros2_dyn_tools.identification.identification import Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.report.contact_report import collision_report
from ros2_dyn_tools.report.effort_report import ReportOptions, effort_report
from tiers import FULL

pytestmark = pytest.mark.skipif(not FULL, reason="takes half a minute: FULL=1")


@pytest.mark.parametrize(
    ("arm", "options", "most"),
    [
        ("ur10", Options(), [1 / 3, 1 / 6, 1 / 3, 1 / 4, 0.45, 0.8]),
        ("panda", Options(cutoff=5.0, band=3.0), [0.55, 1 / 6, 0.2, 0.25, 0.2, 0.2, 1.0]),
    ],
)
def test_smallest_step_shrinks_and_there_is_no_false_alarm(arm, options, most):
    model, recording = real_arm(arm)
    found = identify(model, [recording], options)
    conditions = Conditions(tuple(found.gravity), found.settings.effort_filter)
    before = collision_report(model, recording, calibrate_on=2 / 3)
    after = collision_report(found.model, recording, calibrate_on=2 / 3, fit=False, conditions=conditions)
    assert after.recording.t[0] > 2 / 3 * recording.t[-1]
    assert not before.alarms
    assert not after.alarms
    assert np.all(np.array(after.smallest) < np.array(most) * before.smallest)
    page = effort_report(model, recording, found.model, ReportOptions(calibrate_on=2 / 3), conditions)
    assert_allclose([each.contact.smallest for each in page.variants[1:]], [before.smallest, after.smallest])
