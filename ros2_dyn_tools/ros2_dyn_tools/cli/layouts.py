# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn layouts`: configurations of RViz, Foxglove and PlotJuggler that show the node and any arm."""

from __future__ import annotations

import argparse
from pathlib import Path

from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.layouts import Shown, write_layouts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the description of the robot")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the folder that is written to")
    parser.add_argument(
        "--parameters", type=Path, metavar="FILE", help="parameter file of the node, if it names joints"
    )
    parser.add_argument("--namespace", default="", help="namespace of the node; default: none")


def run(arguments: argparse.Namespace) -> None:
    """Write the files, and print their names.

    Raises:
        ModelError: the description is no robot.
        InputError: the parameter file is wrong.
    """
    model = read_arm(arguments.urdf, arguments.parameters).model
    for path in write_layouts(Shown.of(model, arguments.namespace), arguments.output):
        print(path)
