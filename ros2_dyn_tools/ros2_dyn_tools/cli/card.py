# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn card`: a small YAML with what was identified of one arm, made from two descriptions, merged or shown."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from ros2_dyn.errors import InputError
from ros2_dyn.model import CardAbout, RobotCard, RobotModel, merge_cards, read_card, write_card
from ros2_dyn.model.card_file import SUFFIXES, hash_recording, is_card
from ros2_dyn.runtime.settings import Settings
from ros2_dyn_tools.cli.card_table import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--merge", action="store_true", help="make one card from several of one arm, with the spread")
    what.add_argument("--show", action="store_true", help="print cards as tables")
    text = "ROBOT.urdf and IDENTIFIED.urdf; cards with --merge and --show"
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=text)
    parser.add_argument("--output", type=Path, metavar="ARM.card.yaml", help="the card that is written")
    parser.add_argument("--parameters", type=Path, metavar="FILE", help="parameter file with friction, armature, gain")
    parser.add_argument("--serial", default="", help="serial number of the arm")
    parser.add_argument("--date", default="", help="of the identification; default: today")
    parser.add_argument("--method", default="", metavar="TEXT", help="how it was identified")
    parser.add_argument(
        "--recording", nargs="+", type=Path, default=[], metavar="FILE", help="what it was identified from"
    )
    parser.add_argument("--temperature", type=float, help="of the joints or the room, degrees Celsius")
    parser.add_argument("--licence", default="", metavar="TEXT", help="under which others may use the card")


def run(arguments: argparse.Namespace) -> None:
    """Make, merge or show.

    Raises:
        InputError: a card or an argument is wrong.
        ModelError: a description is wrong, or the two are not of one arm.
    """
    console = Console(highlight=False)
    if arguments.show:
        for path in arguments.files:
            show(read_card(path), console)
        return
    output = _checked_output(arguments.output)
    card = _merged(arguments.files, output) if arguments.merge else _made(arguments, output)
    write_card(card, output)
    show(card, console)
    console.print(f"written: {output}", soft_wrap=True)


def _checked_output(output: Path | None) -> Path:
    if output is None or not is_card(output):
        raise InputError("output", f"expected the name of a card, which ends in {' or '.join(SUFFIXES)}")
    return output


def _merged(paths: Sequence[Path], output: Path) -> RobotCard:
    """Return the mean of some cards, which names the URDF of the first."""
    cards = [read_card(path) for path in paths]
    card = merge_cards(cards)
    if not card.urdf or "://" in card.urdf:
        return card
    return replace(card, urdf=path_from(output, paths[0].parent / card.urdf))


def _made(arguments: argparse.Namespace, output: Path) -> RobotCard:
    """Return the card of two descriptions."""
    if len(arguments.files) != 2:
        raise InputError("files", f"expected ROBOT.urdf and IDENTIFIED.urdf, got {len(arguments.files)} files")
    original, identified = (RobotModel.from_file(path) for path in arguments.files)
    gains: dict[str, float] = {}
    gravity = None
    if arguments.parameters is not None:
        values = _parameters(arguments.parameters)
        settings = Settings.from_values(values)
        identified = settings.apply(identified)
        gains = dict(zip(settings.robot.joints, settings.states.effort_gain))
        gravity = settings.robot.gravity if "gravity" in values.get("robot", {}) or "robot.gravity" in values else None
    about = CardAbout(
        serial=arguments.serial,
        date=arguments.date,
        method=arguments.method,
        data=tuple(hash_recording(path) for path in arguments.recording),
        temperature=arguments.temperature,
        licence=arguments.licence,
    )
    return RobotCard.of(identified, original, about, gains, gravity, path_from(output, arguments.files[0]))


def path_from(output: Path, path: Path) -> str:
    """Return a path as it is called from the folder of the output; an absolute one where there is no way."""
    try:
        return Path(os.path.relpath(path, output.parent)).as_posix()
    except ValueError:  # on another drive
        return path.resolve().as_posix()


def _parameters(path: Path) -> dict[str, Any]:
    """Return the parameters of a file as ROS 2 reads it; those of its first node."""
    try:
        nodes = yaml.safe_load(path.read_text(encoding="utf-8"))
        found = next(iter(nodes.values()))["ros__parameters"]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError("parameters", f"'{path}' cannot be read: {error}") from error
    except (AttributeError, KeyError, StopIteration, TypeError):
        found = None
    if not isinstance(found, dict):
        raise InputError("parameters", f"'{path}' is no parameter file: expected a node with ros__parameters")
    return found
