# SPDX-License-Identifier: Apache-2.0
"""The gain of all joints, which no motion alone tells, by a load of known mass."""

from functools import cache

import numpy as np
import pytest

from recordings import TRUE, efforts, exciting_motion, recording
from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload
from ros2_dyn.simulation.perturbed import perturbed
from ros2_dyn_tools.identification.identification import Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.identification.known_load import common_gain

pytest.importorskip("scipy", reason="SciPy is not installed")
ARM = TRUE.reduced(TRUE.joint_names[:4])
LOAD = Payload(2.8, (0.02, -0.01, 0.08), np.diag([0.012, 0.012, 0.006]))


def in_amperes(arm, constant, seed=0):
    """Return what a driver tells that measures currents: N m through a constant, with noise of 0.5 N m."""
    motion = exciting_motion(ARM, 40.0, 50.0)
    noise = np.random.default_rng(seed).normal(size=motion.q.shape)
    return recording(motion, (efforts(arm, motion) + 0.5 * noise) / constant)


@cache
def identified(constant):
    """Return an arm that is not quite its model, what it was identified as in amperes, and the recording."""
    arm = perturbed(ARM, np.random.default_rng(3), 0.15)
    bare = in_amperes(arm, constant)
    return arm, identify(ARM, [bare], Options(tilt=False)), bare


def test_gain_is_told_by_a_known_load_within_its_error():
    arm, found, bare = identified(8.0)
    gain = common_gain(found, bare, in_amperes(arm.carrying(LOAD), 8.0, seed=1), LOAD.mass)
    assert abs(gain.value - 8.0) < 4 * gain.error
    assert gain.error < 0.02


def test_load_that_is_not_there_is_refused():
    arm, found, bare = identified(8.0)
    with pytest.raises(InputError, match="the efforts do not show"):
        common_gain(found, bare, in_amperes(arm, 8.0, seed=1), 2.8)
    with pytest.raises(InputError, match="positive mass"):
        common_gain(found, bare, bare, 0.0)
