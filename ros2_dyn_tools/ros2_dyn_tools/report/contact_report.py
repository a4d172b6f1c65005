# SPDX-License-Identifier: Apache-2.0
"""The collision detector over a recorded motion: thresholds, alarms, and the smallest contacts that it detects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.detection import USUAL, calibrate, detect, observe, smallest_steps, with_step
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.recording.recording import Recording

TRIM = 0.5
"""Time at each end of a recording that is left out, s: there, filters know one side only, and friction no past."""


@dataclass(frozen=True)
class ArtificialContact:
    """An artificial contact: an external effort on one joint for a time."""

    joint: str
    effort: float
    """N m or N."""
    start: float
    """s since the recording began."""
    duration: float = 1.0
    """s."""


@dataclass(frozen=True)
class CollisionReport:
    """What the detector makes of the part of a recording that its thresholds were not calibrated on."""

    model: RobotModel
    """With the friction that was used."""
    recording: Recording
    """That part, artificial contacts included."""
    residuals: Array
    """External efforts, N m or N, shape (m, n), artificial contacts included."""
    thresholds: tuple[float, ...]
    """Of each joint, N m or N."""
    alarms: tuple[float, ...]
    """When a collision was detected, s."""
    steps: tuple[ArtificialContact, ...]
    delays: tuple[float | None, ...]
    """From the beginning of each step to its detection, s; None: it was missed."""
    smallest: tuple[float, ...]
    """Smallest step of each joint, N m or N, that is detected whenever it sets in; NaN with artificial contacts."""


def collision_report(
    model: RobotModel,
    recording: Recording,
    *,
    calibrate_on: float = 0.5,
    bandwidth: float = 25.0,
    fit: bool = True,
    steps: Sequence[ArtificialContact] = (),
    conditions: Conditions = USUAL,
) -> CollisionReport:
    """Calibrate on the first part of a recording during which nothing touched the arm, and watch the rest.

    Args:
        model: the robot.
        recording: in the order of its joints, efforts in N m or N.
        calibrate_on: share of the recording's length, 0 to 1.
        bandwidth: of the observer, 1/s.
        fit: whether friction and armature are fitted to the first part.
        steps: artificial contacts in the rest.
        conditions: how the robot stands, and the filter of its driver.

    Raises:
        InputError: a part is too short, or a step is on a joint that is not there, or lies outside of the rest.
    """
    if fit:
        model = identify_friction(model, recording.between(0.0, calibrate_on))
    driver, border = conditions.effort_filter, calibrate_on * recording.t[-1]
    recording, observed = _without_ends(recording, observe(model, recording, bandwidth, conditions))
    early = recording.t <= border
    first, rest = (Recording(*(values[part] for values in recording)) for part in (early, ~early))
    if len(rest.t) < 2:
        raise InputError("calibrate-on", f"expected a share that leaves states to judge, got {calibrate_on}")
    thresholds = calibrate(model, first, observed[early])
    residuals = observed[~early]
    smallest = (np.nan,) * model.n
    if not steps:
        _, needed = smallest_steps(rest, residuals, thresholds, bandwidth=bandwidth, effort_filter=driver)
        smallest = tuple(np.max(needed, axis=(0, 2)).tolist())
    for step in steps:
        effort = _effort(model, rest, step)
        residuals = with_step(
            rest, residuals, start=step.start, effort=effort, bandwidth=bandwidth, effort_filter=driver
        )
        residuals = with_step(
            rest, residuals, start=step.start + step.duration, effort=-effort, bandwidth=bandwidth, effort_filter=driver
        )
    alarms = tuple(float(rest.t[i]) for i in detect(residuals, thresholds))
    delays = tuple(_delay(step, alarms) for step in steps)
    return CollisionReport(model, rest, residuals, thresholds, alarms, tuple(steps), delays, smallest)


def _without_ends(recording: Recording, observed: Array) -> tuple[Recording, Array]:
    """Return a recording and its external efforts without the ends."""
    inside = (recording.t >= TRIM) & (recording.t <= recording.t[-1] - TRIM)
    return Recording(*(values[inside] for values in recording)), observed[inside]


def _delay(step: ArtificialContact, alarms: Sequence[float]) -> float | None:
    return min((t - step.start for t in alarms if step.start < t <= step.start + step.duration), default=None)


def _effort(model: RobotModel, recording: Recording, step: ArtificialContact) -> Array:
    if step.joint not in model.joint_names:
        raise InputError("inject", f"no joint '{step.joint}'; there are {', '.join(model.joint_names)}")
    if not recording.t[0] <= step.start < recording.t[-1]:
        raise InputError("inject", f"expected a time from {recording.t[0]:.2f} to {recording.t[-1]:.2f} s")
    effort = np.zeros(model.n)
    effort[model.joint_names.index(step.joint)] = step.effort
    return effort
