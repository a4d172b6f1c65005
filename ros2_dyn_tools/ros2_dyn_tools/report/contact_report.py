# SPDX-License-Identifier: Apache-2.0
"""The collision detector over a recorded motion: thresholds, alarms, and the smallest contacts that it detects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.detection import USUAL, calibrate, detect, observe, smallest_steps
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.recording.recording import Recording

BANDWIDTH = 25.0
"""Bandwidth of the observer, 1/s: that of the node, unless it is told another."""
TRIM = 0.5
"""Time at each end of a recording that is left out, s: there, filters know one side only, and friction no past."""


@dataclass(frozen=True)
class CollisionReport:
    """What the detector makes of a recording whose first part its thresholds were calibrated on."""

    whole: Recording
    """The recording without its ends."""
    observed: Array
    """External efforts at each of its states, N m or N, shape (m, n)."""
    judged: Array
    """Which of its states come after that first part, shape (m,)."""
    thresholds: tuple[float, ...]
    """Of each joint, N m or N."""
    alarms: tuple[float, ...]
    """When a collision was detected in the part that is judged, s."""
    smallest: tuple[float, ...]
    """Smallest step of each joint, N m or N, that is detected whenever it sets in there."""

    @property
    def recording(self) -> Recording:
        """The part that is judged."""
        return Recording(*(values[self.judged] for values in self.whole))

    @property
    def residuals(self) -> Array:
        """External efforts there, N m or N, shape (k, n)."""
        return self.observed[self.judged]


def collision_report(
    model: RobotModel, recording: Recording, calibrate_on: float = 0.5, conditions: Conditions = USUAL
) -> CollisionReport:
    """Calibrate on the first part of a recording during which nothing touched the arm, and watch the rest.

    Args:
        model: the robot, with its friction.
        recording: in the order of its joints, efforts in N m or N.
        calibrate_on: share of the recording's length, 0 to 1.
        conditions: how the robot stands, and the filter of its driver.

    Raises:
        InputError: a part is too short, or the first part does not suffice to calibrate on.
    """
    border = calibrate_on * recording.t[-1]
    recording, observed = _without_ends(recording, observe(model, recording, BANDWIDTH, conditions))
    early = recording.t <= border
    first, rest = (Recording(*(values[part] for values in recording)) for part in (early, ~early))
    if len(rest.t) < 2:
        raise InputError("calibrate-on", f"expected a share that leaves states to judge, got {calibrate_on}")
    thresholds = calibrate(model, first, observed[early])
    residuals = observed[~early]
    alarms = tuple(float(rest.t[i]) for i in detect(residuals, thresholds))
    _, needed = smallest_steps(rest, residuals, thresholds, bandwidth=BANDWIDTH, effort_filter=conditions.effort_filter)
    smallest = tuple(np.max(needed, axis=(0, 2)).tolist())
    return CollisionReport(recording, observed, ~early, thresholds, alarms, smallest)


def _without_ends(recording: Recording, observed: Array) -> tuple[Recording, Array]:
    """Return a recording and its external efforts without the ends."""
    inside = (recording.t >= TRIM) & (recording.t <= recording.t[-1] - TRIM)
    return Recording(*(values[inside] for values in recording)), observed[inside]
