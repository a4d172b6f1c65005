# SPDX-License-Identifier: Apache-2.0
"""What commands that read a recording of a robot have in common: their arguments, and the robot in the recording."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.parameter_files import PARAMETERS, Arm
from ros2_dyn.runtime.settings import Settings
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, Conditions, EffortFilter
from ros2_dyn_tools.recording.recording import Recording


def add_recording_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the recording, the robot, and how the joints of the one are called in the other."""
    parser.add_argument(
        "recording", type=Path, help="rosbag2 folder, or .db3 or .mcap file, with sensor_msgs/JointState"
    )
    parser.add_argument("--urdf", type=Path, required=True, help="the robot as URDF")
    add_parameters_argument(parser)
    add_filter_argument(parser)
    add_joint_arguments(parser)


def add_joint_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which joints are those of the arm, and how they are called where they are recorded."""
    parser.add_argument("--joints", nargs="+", help="joints of the arm, where it is part of a bigger robot")
    parser.add_argument("--recorded-joints", nargs="+", help="what the recording calls them, in this order")
    parser.add_argument("--topic", default="/joint_states", help="default: %(default)s")


def add_parameters_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the parameter file of the node, which has what a URDF cannot hold."""
    parser.add_argument("--parameters", type=Path, metavar="ARM.yaml", help=PARAMETERS)


def add_filter_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the filter that only a recording can have; that of the driver is a parameter of the node."""
    parser.add_argument(
        "--zero-phase", type=float, metavar="HZ", help="cut-off with which the efforts were filtered afterwards"
    )


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


def conditions_of(settings: Settings, zero_phase: float | None = None) -> Conditions:
    """Return how the arm of a recording stands, and what was done to its efforts.

    Args:
        settings: parameters of the node.
        zero_phase: cut-off of a filter that the efforts passed after they were recorded, Hz; None for none.

    Raises:
        InputError: the cut-off is not positive.
    """
    if zero_phase is not None and not zero_phase > 0:
        raise InputError("zero-phase", f"expected a positive frequency, got {zero_phase}")
    cutoff, effort_filter = settings.states.effort_filter_cutoff, NO_FILTER
    if zero_phase is not None:
        effort_filter = EffortFilter("zero_phase", zero_phase)
    elif cutoff > 0:
        effort_filter = EffortFilter("first_order", cutoff)
    return Conditions(settings.robot.gravity, effort_filter)


def recording_began(path: Path) -> datetime | None:
    """Return when a bag began; None for other files, and for a bag with simulated time."""
    if not (path.is_dir() or path.suffix in (".db3", ".mcap")):
        return None
    from rosbags.highlevel import AnyReader  # `read_recording` says what is to be done where it is missing
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        began = datetime.fromtimestamp(1e-9 * reader.start_time, timezone.utc)
    return began if began.year >= 2000 else None  # simulated time begins at 0
