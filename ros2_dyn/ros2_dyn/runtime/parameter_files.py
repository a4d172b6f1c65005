# SPDX-License-Identifier: Apache-2.0
"""ROS parameter files of the node `dynamics`: what it reads at its start, and what the commands read beside a URDF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.plain_yaml import read_yaml
from ros2_dyn.runtime.settings import Settings, flat

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


def _sections(tree: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the mappings `ros__parameters` with the names of their nodes; namespaces may be keys of their own."""
    if isinstance(tree, dict):
        for key, branch in tree.items():
            if key == "ros__parameters" and isinstance(branch, dict):
                yield name, branch
            else:
                yield from _sections(branch, f"{name}/{key}".replace("//", "/"))
