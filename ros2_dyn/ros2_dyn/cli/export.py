# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn export`: write a robot's dynamics for a controller: as C99 without dependencies, or as data."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ros2_dyn.kernels.export_c import export_c
from ros2_dyn.kernels.make_tape import INPUTS, make_tape
from ros2_dyn.kernels.make_tape import OUTPUTS as TAPE_OUTPUTS
from ros2_dyn.kernels.tape import description_hash
from ros2_dyn.runtime.parameter_files import PARAMETERS, read_arm

NO_ROTORS = (
    "no rotor is known, so that a wrist is held as weakly as its bare link: set robot.armature in the parameters"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("urdf", type=Path, metavar="ROBOT.urdf", help="the description of the robot")
    parser.add_argument("--parameters", type=Path, metavar="ARM.yaml", help=PARAMETERS)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="PATH", help="folder, or file of the tape")
    parser.add_argument("--tape", action="store_true", help="write the program as data, for a controller that runs it")
    what = f"what is computed (tau gravity; of a tape: {' '.join(TAPE_OUTPUTS)})"
    parser.add_argument("--outputs", nargs="+", help=what)
    inputs = f"what it depends on (those of q qd qdd tau that are needed; of a tape: {' '.join(INPUTS)})"
    parser.add_argument("--inputs", nargs="+", help=inputs)
    parser.add_argument(
        "--link", help="link of poses, Jacobians, payload and wrench (that of the parameters, or the farthest)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the files, and print their names.

    Raises:
        ModelError: the description is no robot.
        InputError: an output, an input or the link is unknown, or the parameter file is wrong.
    """
    model, settings = read_arm(arguments.urdf, arguments.parameters)
    outputs, inputs, gravity = arguments.outputs, arguments.inputs, settings.robot.gravity
    link = arguments.link or settings.robot.tip_link or None
    if arguments.tape:
        made_from = description_hash(arguments.urdf.read_text(encoding="utf-8"))
        wanted = outputs or TAPE_OUTPUTS, inputs or INPUTS, link
        tape = make_tape(model, *wanted, gravity=gravity, description=made_from)
        arguments.output.write_bytes(tape.to_bytes())
        if not any(joint.dynamics.armature for joint in model.joints):
            print(f"warning: {NO_ROTORS}", file=sys.stderr)
        print(arguments.output)
        return
    for path in export_c(model, arguments.output, outputs or ("tau", "gravity"), inputs, link, gravity=gravity):
        print(path)
