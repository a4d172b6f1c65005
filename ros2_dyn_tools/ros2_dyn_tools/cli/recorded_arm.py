# SPDX-License-Identifier: Apache-2.0
"""The arm of a recording: which joints of a robot it has, and what it calls them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.recording import recording_bag


def recorded_arm(model: RobotModel, recorded: Sequence[str]) -> tuple[RobotModel, list[str]]:
    """Return the robot with the recorded joints alone, and their recorded names in its order.

    Joints are matched by name; where none has the same name, by what follows the part that all names begin with, such
    as `panda_joint1` and `fer_joint1`.

    Args:
        model: the robot.
        recorded: names of the recorded joints.

    Raises:
        InputError: no joint is recorded.
    """
    if not recorded:
        raise InputError("recording", "it has no states of joints: is it empty, or is --topic another one?")
    called = {name: name for name in model.joint_names if name in recorded}
    if not called:
        short, theirs = _without_prefix(model.joint_names), _without_prefix(recorded)
        called = {name: theirs[key] for key, name in short.items() if key in theirs}
    if not called:
        names = f"the robot has {', '.join(model.joint_names)}; the recording has {', '.join(recorded) or 'none'}"
        raise InputError("joints", f"no joint of the robot is recorded: {names}; give --joints and --recorded-joints")
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
        return [name.removesuffix(".position") for name in header if name.endswith(".position")]
    seen: set[str] = set()
    for _ in recording_bag.states(path, [], topic, seen):
        pass  # a gripper's messages may come first
    return sorted(seen)


def _without_prefix(names: Sequence[str]) -> dict[str, str]:
    """Return the names by what follows the part, up to a separator, that all have in common."""
    shortest, *others = sorted(names, key=len)
    length = max(i for i in range(len(shortest) + 1) if all(name.startswith(shortest[:i]) for name in others))
    length = max(shortest.rfind(separator, 0, length) for separator in "_/.") + 1
    return {name[length:]: name for name in names}
