# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn identify`: bodies, friction and motors from recorded motions, as URDF and parameter file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ros2_dyn.errors import InputError
from ros2_dyn.model.description_bounds import read_text
from ros2_dyn_tools.cli.gate_table import show_gate
from ros2_dyn_tools.cli.recorded_arm import arm_in
from ros2_dyn_tools.cli.recording_arguments import (
    add_joint_arguments,
    add_parameters_argument,
    in_newtons,
)
from ros2_dyn_tools.identification.identification import Identification, Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.identification.parts import Split
from ros2_dyn_tools.identification.report import report
from ros2_dyn_tools.identification.urdf_output import write_arm
from ros2_dyn_tools.recording.gate import gate
from ros2_dyn_tools.recording.recording import Recording, read_recording

SPLITS = {"last": Split(), "middle": Split(1 / 3, 2 / 3), "none": Split(1.0, 1.0)}
"""The part that is kept for the test."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the robot as it is described")
    add_parameters_argument(parser)
    parser.add_argument("recordings", type=Path, nargs="+", metavar="RECORDING", help="rosbag2 folder or file, or CSV")
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="IDENTIFIED.urdf",
        help="the robot as found; the node's parameter file is written beside it, as .yaml",
    )
    parser.add_argument("--report", type=Path, help="text in Markdown; default: beside the output, as .md")
    add_joint_arguments(parser)
    parser.add_argument(
        "--cutoff", type=float, default=10.0, help="of positions and velocities, Hz; default: %(default)s"
    )
    parser.add_argument("--band", type=float, help="compare efforts below this frequency only, Hz")
    parser.add_argument(
        "--gravity",
        type=float,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="in the base, m/s^2; default: as in --parameters, or 0 0 -9.81",
    )
    parser.add_argument("--no-tilt", action="store_true", help="take the base to be mounted as gravity says")
    parser.add_argument("--test", choices=SPLITS, default="last", help="third that is kept for the test; default: last")


def run(arguments: argparse.Namespace) -> None:
    """Read, identify, write.

    Raises:
        InputError: an argument is wrong, or what `read_recording` and `identify` raise.
        ModelError: the URDF is wrong.
        OSError: the report cannot be written.
    """
    if arguments.output.suffix == ".yaml":
        raise InputError("output", "expected the name of a URDF: the parameter file is written beside it, as .yaml")
    for name in ("cutoff", "band"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise InputError(name, f"expected a positive frequency, got {value}")
    arm, names = arm_in(arguments.recordings[0], arguments)
    model = arm.model
    options = Options(
        cutoff=arguments.cutoff,
        band=arguments.band,
        gravity=tuple(arguments.gravity or arm.settings.robot.gravity),
        split=SPLITS[arguments.test],
        tilt=not arguments.no_tilt,
    )
    console = Console()

    def motions() -> Iterator[Recording]:
        for path in arguments.recordings:
            recording = in_newtons(arm, read_recording(path, names, arguments.topic))
            show_gate(gate(model, recording, options.gravity), console, path.name)
            yield recording

    columns = (TextColumn("{task.description:16}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("reading", total=1.0)
        found = identify(
            model,
            motions(),
            options,
            lambda step, share: progress.update(task, description=step, completed=share),
        )
    gain = arm.settings.states.effort_gain
    recordings = ", ".join(path.name for path in arguments.recordings)
    write_arm(
        arguments.output,
        read_text(arguments.urdf),
        model,
        found.model,
        others=found.parameters(arm.settings.in_order(gain, model, 1.0) if gain else None),
        comment=f"Identified with {arguments.output.name} from {recordings}, {date.today().isoformat()}.",
    )
    text = arguments.report or arguments.output.with_suffix(".md")
    text.write_text("\n".join(report(found)) + "\n", encoding="utf-8")
    _show(found, console)
    console.print(f"written: {arguments.output}, {arguments.output.with_suffix('.yaml')}, {text}", soft_wrap=True)


def _show(found: Identification, console: Console) -> None:
    """Print the errors."""
    rows = Table("joint", "description", "fit part", "test part", title="root mean square error, N m or N")
    for i, name in enumerate(found.model.joint_names):
        rows.add_row(name, *(f"{errors[i]:.3g}" for errors in (found.before, found.fitted, found.tested)))
    console.print(rows)
    console.print(f"filter of the driver: {found.settings.effort_filter}", highlight=False)
