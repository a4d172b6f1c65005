# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn layouts`: configurations of RViz, Foxglove and PlotJuggler that show the node and any arm.

The files in `config` of ros2_dyn show the mock arm. What they have for its first joint is repeated for each one.

Sources: the panels in Lichtblick's `suite-base/src/panels`, and `xmlLoadState` of PlotJuggler.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import yaml

import ros2_dyn
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.parameter_files import read_arm

TOPIC = re.compile(r"(?<![\w/])/(?=dynamics/|joint_states\b|robot_description\b)")
"""Beginning of the topics and services that a namespace applies to."""
FIRST, ROBOT = "shoulder_pan_joint", "mock_arm"
"""The joint and the robot of the templates."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the description of the robot")
    parser.add_argument(
        "--output", type=Path, default=Path("layouts"), metavar="DIR", help="folder of the files; default: %(default)s"
    )
    parser.add_argument(
        "--parameters", type=Path, metavar="FILE", help="parameter file of the node, if it names joints"
    )
    parser.add_argument("--namespace", default="", help="namespace of the node; default: none")


def run(arguments: argparse.Namespace) -> None:
    """Write the files, and print their names.

    Raises:
        ModelError: the description is no robot.
        InputError: the parameter file is wrong.
        OSError: the folder cannot be written.
    """
    model = read_arm(arguments.urdf, arguments.parameters).model
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in LAYOUTS:
        path = arguments.output / name
        path.write_text(layout(name, model, arguments.namespace), encoding="utf-8")
        print(f"written: {path}")


def layout(name: str, model: RobotModel, namespace: str = "") -> str:
    """Return the text of one of the files of an arm whose node is in a namespace."""
    text, inside = template(name), namespace.strip("/")
    if inside:
        text = TOPIC.sub(lambda _: f"/{inside}/", text)
    return LAYOUTS[name](text, model)


def template(name: str) -> str:
    """Return the text of the file of the mock arm.

    Raises:
        InputError: it is not there.
    """
    prefixes = [*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix]
    folders = [Path(ros2_dyn.__file__).parents[1], *(Path(prefix, "share", "ros2_dyn") for prefix in prefixes)]
    for folder in folders:
        if (path := folder / "config" / name).is_file():
            return path.read_text(encoding="utf-8")
    raise InputError("layouts", f"config/{name} of ros2_dyn is not found: install ros2_dyn again")


def rviz_config(text: str, model: RobotModel) -> str:
    """Return the configuration of RViz, with the base link as the fixed frame."""
    header = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    tree = yaml.safe_load(text)
    tree["Visualization Manager"]["Global Options"]["Fixed Frame"] = model.base_link
    return header + yaml.safe_dump(tree, sort_keys=False, width=120)


def foxglove_layout(text: str, model: RobotModel) -> str:
    """Return the layout of Foxglove and Lichtblick, with the plots of each joint."""
    tree = json.loads(text)
    panels = tree["configById"]
    panels["3D!robot"]["followTf"] = model.base_link
    panels["DiagnosticSummary!all"]["hardwareIdFilter"] = model.name
    panels["DiagnosticStatusPanel!mode"]["selectedHardwareId"] = model.name
    for kind, tab in zip(("Plot!effort", "Plot!external"), panels["Tab!efforts"]["tabs"]):
        blocks = _repeated(panels[f"{kind}0"], model.joint_names)
        for name in [each for each in panels if each.startswith(kind)]:
            del panels[name]
        plots = {f"{kind}{i}": block for i, block in enumerate(blocks)}
        panels |= plots
        rows = [_split("row", row) for row in _rows([*plots])]
        tab["layout"] = _split("column", rows)
    tree["configById"] = panels
    script = tree["userNodes"]["measured-effort"]
    names = json.dumps(model.joint_names)
    script["sourceCode"] = re.sub(r"(?<= = )\[.*\](?=;)", lambda _: names, script["sourceCode"], count=1)
    return json.dumps(tree, indent=1) + "\n"


def plotjuggler_layout(text: str, model: RobotModel) -> str:
    """Return the layout of PlotJuggler, with the plots and the lower threshold of each joint."""
    root = ET.fromstring(text)
    for curve in root.iter("curve"):
        curve.set("name", curve.attrib["name"].replace(f"/diagnostics/{ROBOT}/", f"/diagnostics/{model.name}/"))
    efforts, external, _ = root.iter("Tab")
    for tab in (efforts, external):
        areas = [*_repeated(next(tab.iter("DockArea")), model.joint_names)]
        (container,) = tab
        container[:] = [_splitter("-", [_splitter("|", row) for row in _rows(areas)])]
    (equations,) = root.iter("customMathEquations")
    equations[:] = _repeated(equations[0], model.joint_names)
    ET.indent(root, " ")
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ET.tostring(root, encoding="unicode") + "\n"


LAYOUTS = {"dynamics.rviz": rviz_config, "foxglove.json": foxglove_layout, "plotjuggler.xml": plotjuggler_layout}
"""What makes the text of each file from that of the mock arm."""


def _repeated(block: Any, joints: Sequence[str]) -> Iterator[Any]:
    """Yield the block of the first joint for each joint."""
    for i, name in enumerate(joints):
        yield _renamed(block, name, i)


def _renamed(part: Any, name: str, i: int) -> Any:
    """Return a part of a tree of JSON or XML with another joint's name and index."""
    if isinstance(part, str):
        return part.replace("[0]", f"[{i}]").replace(FIRST, name)
    if isinstance(part, dict):
        return {key: _renamed(value, name, i) for key, value in part.items()}
    if isinstance(part, list):
        return [_renamed(value, name, i) for value in part]
    if isinstance(part, ET.Element):
        found = copy.deepcopy(part)
        for element in found.iter():
            element.text = _renamed(element.text, name, i)
            for key, value in element.items():
                element.set(key, _renamed(value, name, i))
        return found
    return part


def _rows(parts: list[Any]) -> list[list[Any]]:
    """Return plots in pairs, which are beside each other."""
    return [parts[i : i + 2] for i in range(0, len(parts), 2)]


def _split(direction: str, parts: Sequence[Any]) -> Any:
    """Return panels of Foxglove beside each other, equally large: a tree of pairs."""
    if len(parts) == 1:
        return parts[0]
    rest, share = _split(direction, parts[1:]), round(100 / len(parts), 3)
    return {"direction": direction, "first": parts[0], "second": rest, "splitPercentage": share}


def _splitter(orientation: str, parts: Sequence[ET.Element]) -> ET.Element:
    """Return plots of PlotJuggler beside each other, equally large."""
    sizes = ";".join([f"{int(1e6 / len(parts)) / 1e6:g}"] * len(parts))
    splitter = ET.Element("DockSplitter", orientation=orientation, count=str(len(parts)), sizes=sizes)
    splitter.extend(parts)
    return splitter
