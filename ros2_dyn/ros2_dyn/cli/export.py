# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn export`: write a robot's dynamics as C99 without dependencies, for a controller in C or C++."""

from __future__ import annotations

import argparse
from pathlib import Path

from ros2_dyn.kernels.export_c import export_c
from ros2_dyn.runtime.parameter_files import PARAMETERS, read_arm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the description of the robot")
    parser.add_argument("--parameters", type=Path, metavar="ARM.yaml", help=PARAMETERS)
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the folder that is written to")
    parser.add_argument("--outputs", nargs="+", default=["tau", "gravity"], help="what is computed (tau gravity)")
    parser.add_argument("--inputs", nargs="+", help="the function's arguments (those of q qd qdd tau that are needed)")
    parser.add_argument("--link", help="link of poses, Jacobians, payload and wrench (the default tip)")


def run(arguments: argparse.Namespace) -> None:
    """Write the files, and print their names.

    Raises:
        ModelError: the description is no robot.
        InputError: an output, an input or the link is unknown, or the parameter file is wrong.
    """
    model = read_arm(arguments.urdf, arguments.parameters).model
    for path in export_c(model, arguments.output, arguments.outputs, arguments.inputs, arguments.link):
        print(path)
