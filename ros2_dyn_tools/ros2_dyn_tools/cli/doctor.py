# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn doctor`: what is wrong between a robot, its description and its driver, told from a recorded motion."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ros2_dyn_tools.cli.recorded_arm import arm_in
from ros2_dyn_tools.cli.recording_arguments import add_joint_arguments, add_parameters_argument
from ros2_dyn_tools.doctor import Report, diagnose
from ros2_dyn_tools.recording.recording import read_recording


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the description of the robot")
    parser.add_argument("recording", type=Path, metavar="RECORDING", help="rosbag2 folder, .db3, .mcap or .csv file")
    add_parameters_argument(parser)
    add_joint_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Print what is wrong.

    Raises:
        InputError: a file cannot be read or is too short, or joints do not match.
        ModelError: the URDF is wrong.
    """
    arm, names = arm_in(arguments.recording, arguments)
    recording = read_recording(arguments.recording, names, arguments.topic, partial=True)
    report = diagnose(arm.model, recording, arm.settings.in_order(arm.settings.states.effort_gain, arm.model, 1.0))
    if arguments.json:
        print(json.dumps(as_json(report), indent=2))
    else:
        show(report, Console(soft_wrap=True, highlight=False))


def as_json(report: Report) -> dict[str, list[dict[str, object]]]:
    """Return a report as plain numbers and texts."""
    findings, notes = ([each._asdict() for each in part] for part in (report.findings, report.notes))
    return {"findings": findings, "notes": notes}


def show(report: Report, console: Console) -> None:
    """Print a report as text."""
    remedies = [each.remedy for each in report.findings]
    for each, following in zip(report.findings, [*remedies[1:], ""]):
        colour = "green" if each.code == "ok" else "red"
        joint = f" {each.joint}" if each.joint else ""
        told = escape(f"{joint} (confidence {each.confidence:.2f}): {each.evidence}")
        console.print(f"[{colour}]{each.code}[/]{told}")
        if each.remedy != following:  # several gains are mended by one line
            console.print(f"    {escape(each.remedy)}", style="bold")
    table = Table("subject", "joint", "note")
    for note in report.notes:
        table.add_row(note.subject, escape(note.joint or ""), escape(note.text))
    console.print(table)
