# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn passport`: from a recorded motion to what is known of an arm, as files and as pages for a person."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.description_bounds import read_text
from ros2_dyn.runtime.parameter_files import Arm, read_arm
from ros2_dyn_tools.cli.gate_table import show_gate
from ros2_dyn_tools.cli.recorded_arm import arm_in
from ros2_dyn_tools.cli.recording_arguments import add_joint_arguments, add_parameters_argument
from ros2_dyn_tools.identification.identification import Options
from ros2_dyn_tools.identification.urdf_output import write_arm
from ros2_dyn_tools.passport.drift import drift
from ros2_dyn_tools.passport.page import page
from ros2_dyn_tools.passport.passport import Load, Passport, passport
from ros2_dyn_tools.recording.gate import gate, silent_joints
from ros2_dyn_tools.recording.recording import Recording, read_recording
from ros2_dyn_tools.report.html_page import write_page
from ros2_dyn_tools.report.text import Heading


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the robot as it is described")
    parser.add_argument("recordings", type=Path, nargs="+", metavar="RECORDING", help="rosbag2 folder or file, or CSV")
    add_parameters_argument(parser)
    add_joint_arguments(parser)
    parser.add_argument("--load", type=Path, metavar="RECORDING", help="a motion with a load at the tip")
    parser.add_argument("--mass", type=float, metavar="KG", help="mass of that load")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="an earlier passport, to tell what has changed")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("arm"), metavar="FOLDER", help="is made; default: %(default)s"
    )


def run(arguments: argparse.Namespace) -> None:
    """Read, examine, write.

    Raises:
        InputError: an argument or a recording is wrong, or what the doctor finds has to be mended first.
        ModelError: the URDF is wrong.
        OSError: the folder cannot be written.
    """
    if (arguments.load is None) != (arguments.mass is None):
        raise InputError("load", "expected --load and --mass together")
    arm, names = arm_in(arguments.recordings[0], arguments)
    folder = arguments.before
    before = None if folder is None else read_arm(folder / "arm.urdf", folder / "arm.yaml")
    known = before if before is not None and arguments.parameters is None else arm
    gain = np.array(known.settings.in_order(known.settings.states.effort_gain, arm.model, 1.0))
    arguments.output.mkdir(parents=True, exist_ok=True)
    console = Console()

    def read(path: Path, partial: bool = False) -> Recording:
        return read_recording(path, names, arguments.topic, partial=partial)

    as_recorded = [read(path, partial=True) for path in arguments.recordings]
    checks = {}
    for path, recording in zip(arguments.recordings, as_recorded):
        in_newtons = recording._replace(effort=recording.effort * gain)
        checks[path.name] = gate(arm.model, in_newtons, arm.settings.robot.gravity)
        show_gate(checks[path.name], console, path.name)
    _refuse_silent(arm.model, as_recorded[0])
    columns = (TextColumn("{task.description:16}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("reading", total=1.0)
        x, y, z = arm.settings.robot.gravity
        recordings = [read(path) for path in arguments.recordings]
        found = passport(
            arm.model,
            as_recorded[0],
            recordings,
            options=Options(gravity=(x, y, z)),
            effort_gain=gain,
            tip=arm.settings.robot.tip_link or None,
            load=None if arguments.load is None else Load(read(arguments.load), arguments.mass),
            progress=lambda step, share: progress.update(task, description=step, completed=share),
        )
    changed = None
    if before is not None:
        gravities = np.array(before.settings.robot.gravity), found.identification.gravity
        changed = drift(before.model, found.identification.model, recordings[0].q, recordings[0].qd, gravities)
    _write(arguments, arm, found)
    no_curves = _write_efforts(arguments, found)
    text = page(found, checks, date.today(), changed, no_curves)
    (arguments.output / "passport.html").write_text(text, encoding="utf-8")
    if no_curves:
        console.print(f"no efforts.html: {no_curves}", markup=False, soft_wrap=True)
    pages = "passport.html" if no_curves else "passport.html, efforts.html"
    console.print(f"written: {arguments.output}/{pages}, arm.urdf, arm.yaml", markup=False, soft_wrap=True)


def _refuse_silent(model: RobotModel, recording: Recording) -> None:
    silent = [name for name, without in zip(model.joint_names, silent_joints(recording)) if without]
    if silent and len(silent) < model.n:
        others = " ".join(name for name in model.joint_names if name not in silent)
        raise InputError("joints", f"{', '.join(silent)} has no efforts that change; leave it out: --joints {others}")


def _write(arguments: argparse.Namespace, arm: Arm, found: Passport) -> None:
    recordings = [path.name for path in arguments.recordings]
    others = found.identification.parameters(found.effort_gain.tolist())
    if found.contact is not None:
        others["collision.threshold"] = list(found.contact.thresholds)
    write_arm(
        arguments.output / "arm.urdf",
        read_text(arguments.urdf),
        arm.model,
        found.identification.model,
        others=others,
        comment=f"Passport of {arm.model.name}, from {', '.join(recordings)}, {date.today().isoformat()}.",
    )


def _write_efforts(arguments: argparse.Namespace, found: Passport) -> str:
    """Write the page of the efforts; return why there is none, empty if there is."""
    if found.efforts is None:
        return found.unfelt
    facts = f"Made on {date.today():%Y-%m-%d} from {arguments.recordings[-1].name}."
    heading = Heading(f"{found.model.name}: effort measured and modelled", facts)
    try:
        write_page(found.efforts, heading, arguments.output / "efforts.html")
    except InputError as error:  # it takes Plotly, which is not installed
        return str(error)
    return ""
