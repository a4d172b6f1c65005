# SPDX-License-Identifier: Apache-2.0
"""What commands that read a recording of a robot have in common: their arguments, and the robot in the recording."""

from __future__ import annotations

import argparse
from pathlib import Path

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.parameter_files import PARAMETERS, Arm
from ros2_dyn.runtime.settings import Settings
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, Conditions, EffortFilter
from ros2_dyn_tools.recording.recording import Recording


def add_joint_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which joints are those of the arm, and how they are called where they are recorded."""
    parser.add_argument("--joints", nargs="+", help="joints of the arm, where it is part of a bigger robot")
    parser.add_argument("--recorded-joints", nargs="+", help="what the recording calls them, in this order")
    parser.add_argument("--topic", default="/joint_states", help="default: %(default)s")


def add_parameters_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the parameter file of the node, which has what a URDF cannot hold."""
    parser.add_argument("--parameters", type=Path, metavar="ARM.yaml", help=PARAMETERS)


def in_newtons(arm: Arm, recording: Recording) -> Recording:
    """Return a recording with its efforts times `effort_gain`."""
    gain = arm.settings.in_order(arm.settings.states.effort_gain, arm.model, 1.0)
    return recording._replace(effort=recording.effort * gain)


def recorded_names(model: RobotModel, arguments: argparse.Namespace) -> list[str]:
    """Return what the recording calls the model's joints.

    Raises:
        InputError: the lists of joints differ in length.
    """
    joints, recorded = arguments.joints or model.joint_names, arguments.recorded_joints
    if not recorded:
        return list(model.joint_names)
    if len(joints) != len(recorded):
        raise InputError("recorded-joints", f"expected {len(joints)} names, got {len(recorded)}")
    in_recording = dict(zip(joints, recorded))
    return [in_recording[name] for name in model.joint_names]


def conditions_of(settings: Settings) -> Conditions:
    """Return how the arm of a recording stands, and what its driver does to efforts."""
    cutoff = settings.states.effort_filter_cutoff
    return Conditions(settings.robot.gravity, EffortFilter("first_order", cutoff) if cutoff > 0 else NO_FILTER)
