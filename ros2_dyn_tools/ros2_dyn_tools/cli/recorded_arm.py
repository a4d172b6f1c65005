# SPDX-License-Identifier: Apache-2.0
"""The arm of a recording: which joints of a robot it has, and what it calls them."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.parameter_files import Arm, read_arm
from ros2_dyn_tools.cli.recording_arguments import recorded_names
from ros2_dyn_tools.recording import recording_bag

MESSAGES = 500
"""Messages of a bag that are looked through for names: those of a gripper may come first."""


def arm_in(recording: Path, arguments: argparse.Namespace) -> tuple[Arm, list[str]]:
    """Return the arm with the joints that the arguments name, or all that are recorded, and their recorded names.

    Raises:
        InputError: the robot lacks a joint, none is recorded, or the recording or the parameter file cannot be read.
        ModelError: the URDF is wrong.
    """
    arm = read_arm(arguments.urdf, arguments.parameters)
    if arguments.joints or arguments.recorded_joints:
        model = arm.model.reduced(arguments.joints) if arguments.joints else arm.model
        return arm._replace(model=model), recorded_names(model, arguments)
    model, names = recorded_arm(arm.model, joints_in_recording(recording, arguments.topic))
    return arm._replace(model=model), names


def recorded_arm(model: RobotModel, recorded: Sequence[str]) -> tuple[RobotModel, list[str]]:
    """Return the robot with the recorded joints alone, and their recorded names in its order.

    Fingers that mimic each other are no part of an arm, and locked. Joints are matched by name; where none has the same
    name, by what follows the part that all names begin with, such as `panda_joint1` and `fer_joint1`.

    Args:
        model: the robot.
        recorded: names of the recorded joints.

    Raises:
        InputError: no joint is recorded.
    """
    if not recorded:
        raise InputError("recording", "it has no states of joints: is it empty, or is --topic another one?")
    fingers = _fingers(model)
    names = [name for name in model.joint_names if name not in fingers] or list(model.joint_names)
    called = {name: name for name in names if name in recorded}
    if not called:
        short, theirs = _without_prefix(names), _without_prefix(recorded)
        called = {name: theirs[key] for key, name in short.items() if key in theirs}
    if not called:
        both = f"the robot has {', '.join(model.joint_names)}; the recording has {', '.join(recorded)}"
        raise InputError("joints", f"no joint of the robot is recorded: {both}; give --joints and --recorded-joints")
    arm = model if len(called) == model.n else model.reduced(list(called))
    return arm, [called[name] for name in arm.joint_names]


def joints_in_recording(path: Path, topic: str) -> list[str]:
    """Return the names of the joints with positions in a recording, in its order.

    Raises:
        InputError: the recording cannot be read.
    """
    if not path.exists():
        raise InputError("recording", f"there is no '{path}'")
    if path.suffix.lower() == ".csv":
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                header = [name.strip() for name in next(csv.reader(file), [])]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError("recording", f"'{path}' cannot be read: {error}") from error
        joints = [name.removesuffix(".position") for name in header if name.endswith(".position")]
        if not joints:
            found = f"its first line is {', '.join(header) or 'nothing'}"
            raise InputError("recording", f"'{path}': expected columns time and <joint>.position; {found}")
        return joints
    seen: set[str] = set()
    for _ in islice(recording_bag.states(path, [], topic, seen), MESSAGES):
        pass
    return sorted(seen)


def _fingers(model: RobotModel) -> set[str]:
    """Return the joints that mimic, or are mimicked, and move nothing but such joints."""
    coupled = {name for joint in model.joints if joint.mimics for name in (joint.name, joint.mimics)}
    bodies = range(len(model.joints))
    return {
        joint.name
        for i, joint in enumerate(model.joints)
        if all(model.joints[body].name in coupled for body in bodies if i in model.support(body))
    }


def _without_prefix(names: Sequence[str]) -> dict[str, str]:
    """Return the names by what follows the part, up to a separator, that all have in common."""
    shortest, *others = sorted(names, key=len)
    length = max(i for i in range(len(shortest) + 1) if all(name.startswith(shortest[:i]) for name in others))
    length = max(shortest.rfind(separator, 0, length) for separator in "_/.") + 1
    return {name[length:]: name for name in names}
