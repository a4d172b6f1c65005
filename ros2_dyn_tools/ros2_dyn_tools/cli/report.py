# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn report`: efforts of a recorded motion against the model's, part by part, as an HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich import box
from rich import table as rich_table
from rich.console import Console
from rich.markup import escape

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.cli.recorded_arm import read_arm_and_motion
from ros2_dyn_tools.cli.recording_arguments import (
    add_recording_arguments,
    conditions_of,
    recording_began,
)
from ros2_dyn_tools.report.effort_report import ReportOptions, effort_report
from ros2_dyn_tools.report.html_page import write_page
from ros2_dyn_tools.report.tables import Table, contact_tables, effort_tables
from ros2_dyn_tools.report.text import contact_notes, heading


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    usual = ReportOptions()
    add_recording_arguments(parser)
    parser.add_argument("--identified", type=Path, metavar="FILE", help="the same robot as identified, as URDF")
    parser.add_argument(
        "--calibrate-on",
        type=float,
        default=usual.calibrate_on,
        help="first share of the recording: friction is fitted and thresholds are calibrated there, and the rest is "
        "judged; default: %(default)s",
    )
    parser.add_argument(
        "--bandwidth", type=float, default=usual.bandwidth, help="of the observer, 1/s; default: %(default)s"
    )
    parser.add_argument("--cutoff", type=float, default=usual.cutoff, help="of velocities, Hz; default: %(default)s")
    parser.add_argument("--low-pass", type=float, metavar="HZ", help="filter the measured effort and all parts alike")
    parser.add_argument("--output", type=Path, default=Path("report.html"), help="the page; default: %(default)s")


def run(arguments: argparse.Namespace) -> None:
    """Read, compare, print, and write the page.

    Raises:
        InputError: what `read_arm_and_motion`, `effort_report` and `write_page` raise.
        ModelError: a URDF is wrong.
    """
    page = arguments.output
    if page.suffix != ".html":
        raise InputError("output", f"expected a name that ends in .html, got '{page}'")
    arm, recording = read_arm_and_motion(arguments)
    options = ReportOptions(arguments.calibrate_on, arguments.bandwidth, arguments.cutoff, arguments.low_pass)
    described, identified = arm.model, None
    if arguments.identified or arguments.parameters:
        described = RobotModel.from_urdf_file(arguments.urdf).reduced(arm.model.joint_names)
        identified = read_arm(arguments.identified or arguments.urdf, arguments.parameters).model
        identified = identified.reduced(arm.model.joint_names)
    conditions = conditions_of(arm.settings, arguments.zero_phase)
    report = effort_report(described, recording, identified, options, conditions)
    console = Console()
    for table in (*effort_tables(report), *contact_tables(report)):
        console.print(_drawn(table))
    for note in contact_notes(report):
        console.print(note, markup=False, soft_wrap=True)
    told = heading(report, arguments.recording, recording, recording_began(arguments.recording))
    write_page(report, told, page)
    console.print(f"written: {page}", markup=False, soft_wrap=True)


def _drawn(table: Table) -> rich_table.Table:
    drawn = rich_table.Table(title=escape(table.title), box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for i, name in enumerate(table.header):
        drawn.add_column(escape(name), justify="right" if i else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(escape, row))
    return drawn
