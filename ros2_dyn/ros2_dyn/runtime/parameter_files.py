# SPDX-License-Identifier: Apache-2.0
"""ROS parameter files of the node `dynamics`: what it reads at its start, and what the commands read beside a URDF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.plain_yaml import read_yaml
from ros2_dyn.runtime.settings import OF_EACH_JOINT, Settings, flat

NODE = "dynamics"
"""Name of the node whose parameters count."""
PARAMETERS = "parameter file of the node, as `ros2_dyn identify` writes it: friction, rotors, gains, filter, gravity"
"""What the argument `--parameters` of commands is."""


class Arm(NamedTuple):
    """An arm of a URDF and a parameter file."""

    model: RobotModel
    """The robot with the joints, the friction and the rotors of the parameters."""
    settings: Settings


def read_arm(urdf: str | Path, parameters: str | Path | None) -> Arm:
    """Return the arm of a URDF file and of a parameter file, where there is one.

    Raises:
        ModelError: the URDF is wrong.
        InputError: the parameter file is wrong, or does not fit the URDF.
    """
    settings = Settings() if parameters is None else read_parameter_file(parameters)
    return Arm(settings.apply(RobotModel.from_urdf_file(urdf)), settings)


def read_parameter_file(path: str | Path) -> Settings:
    """Return the parameters of a file: those of the node `dynamics` in any namespace, and those of every node (`/**`).

    Later sections replace earlier ones, as for the node. Where the file has only one section, that counts, whatever the
    name of its node is.

    Raises:
        InputError: the file cannot be read, has no parameters or those of several such nodes, or one is wrong.
    """
    sections = dict(_sections(read_yaml(path, "parameters"), ""))
    if not sections:
        raise InputError("parameters", f"'{path}' has no mapping 'ros__parameters', as parameter files of nodes do")
    if len(sections) > 1:
        ends = {name: name.rpartition("/")[2] for name in sections}
        sections = {name: sections[name] for name, end in ends.items() if end == NODE or end in ("*", "**")}
        nodes = [name for name in sections if ends[name] == NODE]
        if len(nodes) != 1 and not (sections and not nodes):
            found = ", ".join(nodes) or ", ".join(ends)
            raise InputError("parameters", f"'{path}': expected those of one node `{NODE}`, got {found}")
    values: dict[str, Any] = {}
    for section in sections.values():
        values |= flat(section)
    values.pop("use_sim_time", None)  # every node has it
    return Settings.from_values(values)


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
        Path(path).write_text(f"# {comment}\n{text}", encoding="utf-8")
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


def _sections(tree: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the mappings `ros__parameters` with the names of their nodes; namespaces may be keys of their own."""
    if isinstance(tree, dict):
        for key, branch in tree.items():
            if key == "ros__parameters" and isinstance(branch, dict):
                yield name, branch
            else:
                yield from _sections(branch, f"{name}/{key}".replace("//", "/"))
