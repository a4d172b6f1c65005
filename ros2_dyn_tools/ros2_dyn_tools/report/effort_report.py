# SPDX-License-Identifier: Apache-2.0
"""What a report on a recorded motion says: how far each description of the robot explains the efforts, and by what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.detection import USUAL
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.recording.effort_split import PARTS, EffortSplit, effort_units, rms, split_effort
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import EvenMotion, even_motion, zero_phase
from ros2_dyn_tools.report.contact_report import TRIM as TRIM
from ros2_dyn_tools.report.contact_report import CollisionReport, collision_report

PUBLISHED, FITTED, IDENTIFIED = "as described", "friction fitted", "identified"
"""Names of the descriptions."""
LABELS = {part: part for part in PARTS} | {"coriolis": "Coriolis", "spring": "springs"}
"""What readers call the parts."""


@dataclass(frozen=True)
class ReportOptions:
    """How a recording is judged."""

    calibrate_on: float = 0.5
    """First share of the recording, on which friction is fitted and thresholds are calibrated; the rest is judged."""
    bandwidth: float = 25.0
    """Bandwidth of the observer of external efforts, 1/s."""
    cutoff: float = 10.0
    """Cut-off of the filter of positions and velocities, Hz."""
    low_pass: float | None = None
    """Cut-off of a further filter of the measured effort and of each part alike, Hz; None for none."""


class Explanation(NamedTuple):
    """One description of the robot, and what it makes of the recording."""

    name: str
    split: EffortSplit
    contact: CollisionReport | None
    """None where the thresholds cannot be calibrated."""


@dataclass(frozen=True)
class EffortReport:
    """The report on one recording."""

    model: RobotModel
    options: ReportOptions
    t: Array
    """Time since the recording began, s, shape (m,), at equal steps, without the ends."""
    judged: Array
    """Which of these are judged, shape (m,)."""
    variants: tuple[Explanation, ...]
    """From the published description to the best one."""
    no_contact: str = ""
    """Why there are no thresholds."""
    conditions: Conditions = USUAL
    """Under which the identified robot was judged."""

    @property
    def best(self) -> Explanation:
        """The last description."""
        return self.variants[-1]

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each joint's effort."""
        return effort_units(self.model)

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts that the best description has; springs are rare."""
        return tuple(part for part in PARTS if part != "spring" or np.any(self.best.split.spring))

    def rms(self, values: Array) -> Array:
        """Return the RMS of values, shape (m, n), over the part that is judged, shape (n,)."""
        return rms(values[self.judged])


def effort_report(
    model: RobotModel,
    recording: Recording,
    identified: RobotModel | None = None,
    options: ReportOptions | None = None,
    conditions: Conditions = USUAL,
) -> EffortReport:
    """Compare the efforts of a recording with those of a description, of the same with fitted friction, and of another.

    Args:
        model: the robot as published.
        recording: a motion during which nothing touched the arm, in the order of the robot's joints, in N m or N.
        identified: the same robot with identified parameters.
        options: how it is judged.
        conditions: how the robot stands and what its driver does to efforts, as it was identified; the descriptions
            without identification are judged under the usual ones.

    Raises:
        InputError: the recording is too short, a share or a frequency is out of range, or the joints differ.
    """
    options = options or ReportOptions()
    _check(model, identified, options)
    motion = even_motion(recording, options.cutoff)
    inside = (motion.t >= motion.t[0] + TRIM) & (motion.t <= motion.t[-1] - TRIM)
    judged = motion.t[inside] > options.calibrate_on * recording.t[-1]
    if not np.any(judged):
        raise InputError("recording", f"nothing is left to be judged of {recording.t[-1]:.1f} s: record longer")
    models = {PUBLISHED: model, FITTED: identify_friction(model, recording.between(0.0, options.calibrate_on))}
    if identified is not None:
        models[IDENTIFIED] = identified
    known = {name: conditions if name == IDENTIFIED else USUAL for name in models}
    contacts, problem = _contacts(models, known, recording, options)
    variants = tuple(
        Explanation(name, _split(each, known[name], motion, inside, options.low_pass), contacts.get(name))
        for name, each in models.items()
    )
    return EffortReport(model, options, motion.t[inside], judged, variants, problem, conditions)


def _check(model: RobotModel, identified: RobotModel | None, options: ReportOptions) -> None:
    if not 0 < options.calibrate_on < 1:
        raise InputError("calibrate-on", f"expected a share between 0 and 1, got {options.calibrate_on}")
    for name, frequency in (("cutoff", options.cutoff), ("low-pass", options.low_pass)):
        if frequency is not None and not frequency > 0:
            raise InputError(name, f"expected a positive frequency in Hz, got {frequency}")
    if identified is not None and identified.joint_names != model.joint_names:
        expected, found = ", ".join(model.joint_names), ", ".join(identified.joint_names)
        raise InputError("identified", f"expected the joints {expected}, got {found}")


def _split(
    model: RobotModel, conditions: Conditions, motion: EvenMotion, inside: Array, low_pass: float | None
) -> EffortSplit:
    split = split_effort(model, motion.q, motion.qd, motion.qdd, measured=motion.effort, gravity=conditions.gravity)
    parts = {name: conditions.effort_filter.apply(getattr(split, name), motion.step) for name in PARTS}
    split = split._replace(**parts)
    if low_pass is not None:
        split = EffortSplit(*(zero_phase(part, low_pass, motion.step) for part in split))
    return EffortSplit(*(part[inside] for part in split))


def _contacts(
    models: Mapping[str, RobotModel], conditions: Mapping[str, Conditions], recording: Recording, options: ReportOptions
) -> tuple[dict[str, CollisionReport], str]:
    """Return the collision detector's report with each description, and why some have none."""
    found, problems = {}, []
    for name, model in models.items():
        try:
            found[name] = collision_report(
                model,
                recording,
                calibrate_on=options.calibrate_on,
                bandwidth=options.bandwidth,
                fit=False,
                conditions=conditions[name],
            )
        except InputError as error:  # from the calibration: a joint did not move, for example
            problems.append(f"{name}: {error}")
    return found, "; ".join(problems)
