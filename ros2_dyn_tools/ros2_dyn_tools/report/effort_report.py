# SPDX-License-Identifier: Apache-2.0
"""What a report on a recorded motion says: how far a robot explains its efforts, as described and as identified."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.detection import USUAL
from ros2_dyn_tools.recording.effort_filter import Conditions, EffortFilter
from ros2_dyn_tools.recording.effort_split import PARTS, EffortSplit, effort_units, rms, split_effort
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import GAP, EvenMotion, even_motion
from ros2_dyn_tools.report.contact_report import TRIM, CollisionReport, collision_report

DESCRIBED, IDENTIFIED = "as described", "identified"
"""Names of the two models."""
LABELS = {part: part for part in PARTS} | {"coriolis": "Coriolis", "spring": "springs"}
"""What readers call the parts."""
CUTOFF = 10.0
"""Cut-off of the filter of positions and velocities, Hz."""


@dataclass(frozen=True)
class EffortReport:
    """The report on one recording."""

    model: RobotModel
    t: Array
    """Time since the recording began, s, shape (m,), at equal steps, without ends and gaps."""
    judged: Array
    """Which of these are judged, shape (m,)."""
    described: EffortSplit
    """By the robot as it is described."""
    identified: EffortSplit
    """By the identified robot."""
    effort_filter: EffortFilter
    """Of the driver, as the identified robot has it."""
    contact: CollisionReport | None
    """What a detector with the identified robot makes of the recording; None where it has no thresholds."""
    no_contact: str
    """Why it has none."""

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each joint's effort."""
        return effort_units(self.model)

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts that the identified robot has; springs are rare."""
        return tuple(part for part in PARTS if part != "spring" or np.any(self.identified.spring))

    def rms(self, values: Array) -> Array:
        """Return the RMS of values, shape (m, n), over the part that is judged, shape (n,)."""
        return rms(values[self.judged])


def effort_report(
    model: RobotModel,
    recording: Recording,
    identified: RobotModel,
    *,
    calibrate_on: float = 0.5,
    gravity: tuple[float, ...] = STANDARD_GRAVITY,
    conditions: Conditions = USUAL,
) -> EffortReport:
    """Compare the efforts of a recording with those of a robot as it is described and as it was identified.

    Args:
        model: the robot as described.
        recording: a motion during which nothing touched the arm, in the order of the robot's joints, in N m or N.
        identified: the same robot with identified parameters.
        calibrate_on: first share of the recording, on which thresholds are calibrated.
        gravity: acceleration of free fall in the base frame as it is described, m/s^2.
        conditions: how the identified robot stands, and what its driver does to efforts.

    Raises:
        InputError: the recording is too short, or the share leaves nothing to be judged.
    """
    motion = even_motion(recording, CUTOFF)
    since = np.diff(recording.t)[np.searchsorted(recording.t[1:-1], motion.t)]
    inside = (motion.t >= motion.t[0] + TRIM) & (motion.t <= motion.t[-1] - TRIM) & (since <= GAP)
    judged = motion.t[inside] > calibrate_on * recording.t[-1]
    if not np.any(judged):
        raise InputError("recording", f"nothing is left to be judged of {recording.t[-1]:.1f} s: record longer")
    contact, no_contact = _contact(identified, recording, calibrate_on, conditions)
    return EffortReport(
        model,
        motion.t[inside],
        judged,
        described=_split(model, Conditions(gravity), motion, inside),
        identified=_split(identified, conditions, motion, inside),
        effort_filter=conditions.effort_filter,
        contact=contact,
        no_contact=no_contact,
    )


def _split(model: RobotModel, conditions: Conditions, motion: EvenMotion, inside: Array) -> EffortSplit:
    split = split_effort(model, motion.q, motion.qd, motion.qdd, measured=motion.effort, gravity=conditions.gravity)
    parts = {name: conditions.effort_filter.apply(getattr(split, name), motion.step) for name in PARTS}
    return EffortSplit(*(part[inside] for part in split._replace(**parts)))


def _contact(
    model: RobotModel, recording: Recording, calibrate_on: float, conditions: Conditions
) -> tuple[CollisionReport | None, str]:
    """Return what the collision detector makes of the recording, or why it has no thresholds."""
    try:
        return collision_report(model, recording, calibrate_on, conditions), ""
    except InputError as error:  # from the calibration: a joint did not move, for example
        return None, str(error)
