# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn collision-report`: the collision detector over a recorded motion, in numbers and as an HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools import palette
from ros2_dyn_tools.cli.recorded_arm import read_arm_and_motion
from ros2_dyn_tools.cli.recording_arguments import add_recording_arguments, conditions_of
from ros2_dyn_tools.recording.effort_split import effort_units
from ros2_dyn_tools.report.contact_report import ArtificialContact, CollisionReport, collision_report
from ros2_dyn_tools.report.curves import Curve, decimated
from ros2_dyn_tools.report.html_page import write_plots
from ros2_dyn_tools.report.text import Heading


def plots(report: CollisionReport) -> dict[str, tuple[str, list[Curve]]]:
    """Return unit and curves of each joint: residual and thresholds, detections and artificial contacts."""
    t = report.recording.t
    found: dict[str, tuple[str, list[Curve]]] = {}
    units = effort_units(report.model)
    for i, name in enumerate(report.model.joint_names):
        residual, level = report.residuals[:, i], report.thresholds[i]
        height = max(float(np.max(np.abs(residual))), level)
        band = ((t[[0, -1]], np.full(2, edge)) for edge in (level, -level))
        curves = [Curve("threshold", *edge, palette.THRESHOLD) for edge in band]
        curves.append(Curve("external effort", *decimated(t, residual, 4000), palette.EXTERNAL))
        curves.append(Curve("detected", *_marks(report.alarms, height), "#000000"))
        begun = [step.start for step in report.steps if step.joint == name]
        curves.append(Curve("contact begins", *_marks(begun, height), palette.GRAVITY, dash="dash"))
        found[name] = units[i], curves
    return found


def _marks(times: Sequence[float], height: float) -> tuple[Array, Array]:
    """Return a curve of vertical lines."""
    return np.repeat(np.asarray(times, dtype=float), 3), np.tile([-height, height, np.nan], len(times))


def show(report: CollisionReport, console: Console) -> None:
    """The same in numbers."""
    table = Table("joint", "threshold", "greatest residual", "smallest step always detected", title="N m or N")
    greatest = np.max(np.abs(report.residuals), axis=0)
    for row in zip(report.model.joint_names, report.thresholds, greatest, report.smallest):
        table.add_row(row[0], *(f"{x:.3g}" for x in row[1:]))
    console.print(table)
    for step, delay in zip(report.steps, report.delays):
        told = "missed" if delay is None else f"detected after {1e3 * delay:.0f} ms"
        console.print(f"{step.joint}: {step.effort:g} at {step.start:g} s: {told}")
    span = report.recording.t[-1] - report.recording.t[0]
    console.print(f"{len(report.alarms)} collisions detected in {span:.1f} s")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_recording_arguments(parser)
    parser.add_argument("--calibrate-on", type=float, default=0.5, help="share of the recording; default: %(default)s")
    parser.add_argument("--bandwidth", type=float, default=25.0, help="of the observer, 1/s; default: %(default)s")
    parser.add_argument("--no-fit", action="store_true", help="take the friction that is given, fit none")
    parser.add_argument(
        "--inject",
        nargs=3,
        action="append",
        default=[],
        metavar=("JOINT", "EFFORT", "TIME"),
        help="an artificial contact of 1 s: N m or N, s since the recording began; may be repeated",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("collision_report.html"), help="the page; default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> None:
    """Read, report, write the page.

    Raises:
        InputError: what `read_arm_and_motion`, `collision_report` and `write_plots` raise.
        ModelError: the URDF is wrong.
    """
    arm, recording = read_arm_and_motion(arguments)
    steps = [ArtificialContact(joint, float(effort), float(start)) for joint, effort, start in arguments.inject]
    report = collision_report(
        arm.model,
        recording,
        calibrate_on=arguments.calibrate_on,
        bandwidth=arguments.bandwidth,
        fit=not arguments.no_fit,
        steps=steps,
        conditions=conditions_of(arm.settings, arguments.zero_phase),
    )
    console = Console()
    show(report, console)
    facts = f"{len(report.alarms)} collisions detected in {arguments.recording.name}"
    write_plots(Heading(f"{report.model.name}: external efforts", facts), plots(report), arguments.output)
    console.print(f"written: {arguments.output}", markup=False, soft_wrap=True)
