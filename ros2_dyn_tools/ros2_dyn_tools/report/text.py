# SPDX-License-Identifier: Apache-2.0
"""The words of a report on a recorded motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ros2_dyn_tools.report.contact_report import TRIM
from ros2_dyn_tools.report.curves import points_of_a_curve
from ros2_dyn_tools.report.effort_report import CUTOFF, DESCRIBED, IDENTIFIED, EffortReport

PARTS = (
    "The measured effort, that of the identified model, its parts, and the rest that it does not explain. "
    "Click on a name to hide or to show a curve, twice to see it alone. The grey part is not judged."
)
CONTACT = (
    "The external effort is what the momentum observer finds. Nothing touched the arm, so that it shows errors of the "
    "model. A contact is detected where it exceeds a threshold, dashed, which is calibrated on the first part of the "
    "recording."
)


class Heading(NamedTuple):
    """What a page shows, and of what."""

    title: str
    facts: str


def notes(report: EffortReport) -> Iterator[str]:
    """Yield how the numbers were made."""
    judged = report.t[report.judged]
    yield (
        f"RMS values are those of {judged[0]:.1f} to {judged[-1]:.1f} s, to which nothing was fitted; {TRIM:g} s at "
        f"each end are left out. Velocities were low-passed at {CUTOFF:g} Hz without delay, and differentiated."
    )
    yield f"'{DESCRIBED}': the robot description. '{IDENTIFIED}': with what was identified from the other part."
    if report.effort_filter.kind != "none":
        yield f"The efforts of '{IDENTIFIED}' passed the driver's filter: {report.effort_filter}."
    if report.effort_filter != report.effort_filter.causal:
        yield "That filter looks ahead, which no observer can: external efforts and thresholds are without it."
    points = points_of_a_curve(report)
    if len(report.t) > points:
        step = 2 * (report.t[-1] - report.t[0]) / points
        yield f"Curves show the least and the greatest value of each {step:.2f} s; numbers are computed before."


def contact_note(report: EffortReport) -> str:
    """Return what the detector did where nothing touched the arm, or why it has no thresholds."""
    if report.contact is None:
        return f"No thresholds: {report.no_contact}"
    return f"False alarms in the part that is judged: {len(report.contact.alarms)}."
