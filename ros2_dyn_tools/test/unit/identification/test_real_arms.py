# SPDX-License-Identifier: Apache-2.0
"""Real arms: errors in a part of the recording that was not fitted, against those that are promised in the docs."""

import numpy as np
import pytest

from real_arms import real_arm
from ros2_dyn.model.pseudo_inertia import is_consistent
from ros2_dyn_tools.identification.identification import Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.identification.parts import Split
from tiers import FULL

pytestmark = pytest.mark.skipif(not FULL, reason="takes half a minute: FULL=1")
MIDDLE = Split(1 / 3, 2 / 3)


@pytest.mark.parametrize(
    ("arm", "options", "most"),
    [
        ("panda", Options(cutoff=5.0, band=3.0), [0.30, 0.18, 0.21, 0.18, 0.09, 0.06, 0.04]),
        ("ur10", Options(), [0.95, 1.3, 0.9, 0.43, 0.35, 1.6]),
        ("ur10", Options(split=MIDDLE), [1.3, 4.0, 1.8, 0.45, 0.45, 1.6]),
    ],
)
def test_part_that_was_not_fitted_is_predicted(arm, options, most):
    model, recording = real_arm(arm)
    found = identify(model, [recording], options)
    assert np.all(found.tested < most)
    assert all(is_consistent(body.parameters) for body in found.model.inertia)
