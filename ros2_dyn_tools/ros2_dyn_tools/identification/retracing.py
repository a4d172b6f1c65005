# SPDX-License-Identifier: Apache-2.0
"""Whether a test part goes through what the fit part went through, so that it says little about other motions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.parts import NONE, TEST
from ros2_dyn_tools.recording.signals import EvenMotion

NEAR = 0.2
"""Distance of two states that are nearly the same, in standard deviations of position and velocity, as a root mean
square over the joints."""
MOST = 20_000
"""States that are compared at most."""


def retraced(motions: Sequence[EvenMotion], parts: Sequence[Array]) -> float:
    """Return the share of the test part that is near to a state of the fit part; NaN without a test part."""
    from scipy.spatial import cKDTree  # here, because it takes a while to import

    states = np.concatenate([np.hstack([motion.q, motion.qd]) for motion in motions])
    part = np.concatenate(parts)
    fitted, tested = states[(part != TEST) & (part != NONE)], states[part == TEST]
    if not len(tested):
        return float("nan")
    size = np.maximum(np.std(fitted, axis=0), 1e-9) * np.sqrt(states.shape[1])
    fitted, tested = (x[:: 1 + len(x) // MOST] / size for x in (fitted, tested))
    distances, _ = cKDTree(fitted).query(tested)
    return float(np.mean(distances < NEAR))
