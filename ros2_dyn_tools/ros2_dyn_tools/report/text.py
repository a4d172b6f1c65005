# SPDX-License-Identifier: Apache-2.0
"""The words of a report on a recorded motion."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.report.curves import points_of_a_curve
from ros2_dyn_tools.report.effort_report import FITTED, IDENTIFIED, PUBLISHED, TRIM, EffortReport

CONTACT = (
    "The external effort is what the momentum observer finds. Nothing touched the arm, so that it shows errors of the "
    "model. A contact is detected where it exceeds a threshold, dashed, which is calibrated on the first part of the "
    "recording."
)


class Heading(NamedTuple):
    """What was recorded."""

    title: str
    facts: str


def heading(report: EffortReport, path: Path, recording: Recording, began: datetime | None) -> Heading:
    """Return the title, and the recording's name, time and size."""
    seconds, states = float(recording.t[-1]), len(recording.t)
    if began is None:
        when = "date not recorded"
    else:
        ended = began + timedelta(seconds=seconds)
        when = f"{began:%Y-%m-%d %H:%M:%S} to {ended:%Y-%m-%d %H:%M:%S} UTC"
    size = f"{states} states in {seconds:.1f} s, {(states - 1) / seconds:.0f} Hz"
    return Heading(f"{report.model.name}: effort measured and modelled", f"{path.name}, {when}, {size}")


def notes(report: EffortReport) -> Iterator[str]:
    """Yield how the numbers were made."""
    options, judged = report.options, report.t[report.judged]
    yield (
        f"RMS values are those of {judged[0]:.1f} to {judged[-1]:.1f} s. What was fitted here, was fitted on the first "
        f"{options.calibrate_on:.0%} of the recording; {TRIM:g} s at each end are left out. Velocities were "
        f"low-passed at {options.cutoff:g} Hz without delay, and differentiated."
    )
    if options.low_pass is not None:
        yield f"The measured effort and all its parts were low-passed at {options.low_pass:g} Hz without delay."
    names = {variant.name for variant in report.variants}
    yield f"'{PUBLISHED}': the robot description. '{FITTED}': with friction and armature fitted to the first part."
    if IDENTIFIED in names:
        yield f"'{IDENTIFIED}': the identified description. Its errors are too small if it was fitted to these data."
    if IDENTIFIED in names and report.conditions.effort_filter.kind != "none":
        yield f"The efforts of '{IDENTIFIED}' passed the driver's filter: {report.conditions.effort_filter}."
    points = points_of_a_curve(report)
    if len(report.t) > points:
        step = 2 * (report.t[-1] - report.t[0]) / points
        yield f"Curves show the least and the greatest value of each {step:.2f} s; numbers are computed before."


def parts_note(report: EffortReport) -> str:
    """Return how the plots of efforts are read."""
    return (
        f"The measured effort, the model's ({report.best.name}), its parts, and the rest that it does not explain. "
        "Click on a name to hide or to show a curve, twice to see it alone. The grey part is not judged."
    )


def contact_notes(report: EffortReport) -> Iterator[str]:
    """Yield what the detector did where nothing touched the arm, and why it may have no thresholds."""
    alarms = [f"{len(each.contact.alarms)} {each.name}" for each in report.variants if each.contact is not None]
    if alarms:
        yield f"False alarms in the part that is judged: {', '.join(alarms)}."
    if report.no_contact:
        yield f"No thresholds: {report.no_contact}"
