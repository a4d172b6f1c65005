# SPDX-License-Identifier: Apache-2.0
"""The parameter file that goes with an identified arm: its friction and rotors as parameters of the node `dynamics`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.settings import OF_EACH_JOINT


def write_parameter_file(path: str | Path, values: Mapping[str, Any], comment: str) -> None:
    """Write parameters by name for every node, nested, with a comment of one line above them.

    Numbers have six significant digits.

    Raises:
        InputError: the file cannot be written.
    """
    import yaml  # here, because it takes 20 ms

    nested: dict[str, Any] = {}
    for name, value in values.items():
        group, _, key = name.rpartition(".")
        (nested.setdefault(group, {}) if group else nested)[key] = _rounded(value)
    text = yaml.safe_dump({"/**": {"ros__parameters": nested}}, default_flow_style=None, sort_keys=False, width=110)
    try:
        Path(path).write_text(f"# {' '.join(comment.split())}\n{text}", encoding="utf-8")
    except OSError as error:
        raise InputError("parameters", f"'{path}' cannot be written: {error}") from error


def joint_parameters(model: RobotModel) -> dict[str, list[Any]]:
    """Return the parameters that give a robot of the same joints the friction and the rotors of this one.

    `friction.transition_velocity`, which is one for all joints, is not among them.
    """
    joints = [joint for joint in model.joints if joint.mimics is None and joint.dof == 1]
    drives = [joint.dynamics for joint in joints]
    values: dict[str, list[Any]] = {
        "robot.joints": [joint.name for joint in joints],
        "robot.armature": [drive.armature for drive in drives],
    }
    for key in OF_EACH_JOINT:
        values[f"friction.{key}"] = [getattr(drive, key) for drive in drives]
    if any(drive.static is not None for drive in drives):
        values["friction.stribeck"] = [x for drive in drives for x in (drive.breakaway, drive.stribeck_velocity)]
    for name in ("friction.load", "friction.offset"):
        if not any(values[name]):
            del values[name]
    elements = [dict(drive.presliding) for drive in drives]
    if distances := sorted({distance for each in elements for distance in each}):
        values["friction.presliding"] = [
            number for each in elements for distance in distances for number in (distance, each.get(distance, 0.0))
        ]
    return values


def _rounded(value: Any) -> Any:
    """Return a number, or those of a list, with six significant digits; without a sign where it is zero."""
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return float(f"{value:.6g}") + 0.0 if isinstance(value, float) else value
