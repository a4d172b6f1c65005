# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn identify`: bodies, friction and motors of a robot from recordings of its motion, as URDF and robot card."""

from __future__ import annotations

import argparse
import os
from math import isfinite
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ros2_dyn.errors import InputError
from ros2_dyn.model import CardAbout, RobotCard, RobotModel, read_card, write_card
from ros2_dyn.model.card_file import described_by, hash_recording, is_card
from ros2_dyn.model.description_bounds import read_text
from ros2_dyn_tools.cli.card import path_from
from ros2_dyn_tools.cli.recording_arguments import in_newtons, read_conditions, recorded_names
from ros2_dyn_tools.identification.identification import Identification, Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.identification.parts import Split
from ros2_dyn_tools.identification.report import report
from ros2_dyn_tools.identification.urdf_output import identified_urdf
from ros2_dyn_tools.recording.recording import read_recording

SPLITS = {"last": Split(), "middle": Split(1 / 3, 2 / 3), "none": Split(1.0, 1.0)}
"""The part that is kept for the test."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "urdf",
        type=Path,
        metavar="ROBOT.urdf",
        help="the robot as it is described, or its robot card, to begin from that",
    )
    parser.add_argument("recordings", type=Path, nargs="+", metavar="RECORDING", help="rosbag2 folder or file, or CSV")
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        metavar="IDENTIFIED.urdf",
        help="the robot as found; its robot card is written beside it, as .card.yaml",
    )
    parser.add_argument("--report", type=Path, help="text in Markdown; default: beside the output, as .md")
    parser.add_argument("--joints", nargs="+", help="joints of the arm, where it is part of a bigger robot")
    parser.add_argument("--recorded-joints", nargs="+", help="their names in the recordings, in the same order")
    parser.add_argument("--topic", default="/joint_states", help="default: %(default)s")
    parser.add_argument(
        "--cutoff", type=float, default=10.0, help="of positions and velocities, Hz; default: %(default)s"
    )
    parser.add_argument("--band", type=float, help="compare efforts below this frequency only, Hz")
    parser.add_argument(
        "--gravity",
        type=float,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help="in the base, m/s^2; default: 0 0 -9.81, or the card's",
    )
    parser.add_argument("--no-tilt", action="store_true", help="take the base to be mounted as gravity says")
    parser.add_argument("--test", choices=SPLITS, default="last", help="third that is kept for the test; default: last")


def run(arguments: argparse.Namespace) -> None:
    """Read, identify, write.

    Raises:
        InputError: an argument is wrong, or what `read_recording` and `identify` raise.
        ModelError: the URDF is wrong.
    """
    for name in ("cutoff", "band"):
        value = getattr(arguments, name)
        if value is not None and not value > 0:
            raise InputError(name, f"expected a positive frequency, got {value}")
    whole, described = RobotModel.from_file(arguments.urdf), _description(arguments.urdf)
    model = whole.reduced(arguments.joints) if arguments.joints else whole
    names = recorded_names(model, arguments)
    options = Options(
        cutoff=arguments.cutoff,
        band=arguments.band,
        gravity=tuple(arguments.gravity or read_conditions(arguments.urdf).gravity),
        split=SPLITS[arguments.test],
        tilt=not arguments.no_tilt,
    )
    console = Console()
    columns = (TextColumn("{task.description:16}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("reading", total=1.0)
        found = identify(
            model,
            (
                in_newtons(model, read_recording(path, names, arguments.topic), arguments.urdf)
                for path in arguments.recordings
            ),
            options,
            lambda step, share: progress.update(task, description=step, completed=share),
        )
    urdf = identified_urdf(read_text(described), model, found.model)
    _write(arguments.output, urdf)
    text = arguments.report or arguments.output.with_suffix(".md")
    _write(text, "\n".join(report(found)) + "\n")
    card = arguments.output.with_suffix(".card.yaml")
    write_card(_card(found, described, urdf, card, arguments), card)
    _show(found, console)
    console.print(f"written: {arguments.output}, {card}, {text}", soft_wrap=True)


def _card(found: Identification, described: Path, urdf: str, path: Path, arguments: argparse.Namespace) -> RobotCard:
    """Return the card: it has the friction and the rotors that a URDF has no place for."""
    identified = RobotModel.from_urdf(urdf)
    identified = identified.with_joint_dynamics({joint.name: joint.dynamics for joint in found.model.joints})
    tested = zip(found.model.joint_names, found.tested.tolist())
    about = CardAbout(
        method="weighted least squares with consistent bodies, ros2_dyn identify",
        data=tuple(hash_recording(recording) for recording in arguments.recordings),
        held_out_rms={name: error for name, error in tested if isfinite(error)},
    )
    whole = RobotModel.from_urdf_file(described)
    gains = read_card(arguments.urdf).effort_gain if is_card(arguments.urdf) else {}
    return RobotCard.of(
        identified,
        whole,
        about,
        gains,
        gravity=found.gravity.tolist(),
        urdf=path_from(path, described),
        effort_filter=found.settings.effort_filter,
    )


def _description(path: Path) -> Path:
    """Return the URDF, which a robot card names."""
    return described_by(read_card(path), path) if is_card(path) else path


def _write(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        InputError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError("output", f"'{path}' cannot be written: {os.strerror(error.errno or 0)}") from error


def _show(found: Identification, console: Console) -> None:
    """Print the errors."""
    rows = Table("joint", "description", "fit part", "test part", title="root mean square error, N m or N")
    for i, name in enumerate(found.model.joint_names):
        rows.add_row(name, *(f"{errors[i]:.3g}" for errors in (found.before, found.fitted, found.tested)))
    console.print(rows)
    console.print(f"filter of the driver: {found.settings.effort_filter}", highlight=False)
