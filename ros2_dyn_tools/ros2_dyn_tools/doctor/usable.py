# SPDX-License-Identifier: Apache-2.0
"""What of a recording can be used, and clear words where nothing can."""

from __future__ import annotations

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.recording.gate import in_order, silent_joints
from ros2_dyn_tools.recording.recording import Recording

SLOWEST = 0.2
"""Time between two states, s, above which a motion cannot be seen."""
BACK = 0.5
"""Time by which stamps of one run do not go back, s."""


def usable(model: RobotModel, recording: Recording) -> Recording:
    """Return the states with increasing stamps, and efforts of 0 for joints that have no efforts.

    Raises:
        InputError: joints do not match, no joint has efforts, or stamps go back far or are too far apart.
    """
    several = [joint.name for joint in model.joints if joint.dof > 1]
    if several:
        raise InputError("model", f"joint '{several[0]}' has several degrees of freedom: choose the joints of the arm")
    if recording.q.shape[1:] != (model.n,):
        raise InputError("recording", f"expected {model.n} joints, got {recording.q.shape[1]}")
    before = np.maximum.accumulate(recording.t)[:-1]
    if np.any(recording.t[1:] < before - BACK):
        back = float(np.max(before - recording.t[1:]))
        raise InputError("recording", f"its stamps go back by {back:.3g} s: give one run at a time")
    recording = in_order(recording)
    silent = silent_joints(recording)
    if np.all(silent):
        raise InputError(
            "recording", "no joint has efforts that change, from which all is told: see the driver's manual"
        )
    apart = float(np.median(np.diff(recording.t))) if len(recording.t) > 1 else 0.0
    if apart > SLOWEST:
        raise InputError("recording", f"its states are {apart:.3g} s apart, expected at most {SLOWEST:g} s")
    return recording._replace(effort=np.where(silent, 0.0, recording.effort))
