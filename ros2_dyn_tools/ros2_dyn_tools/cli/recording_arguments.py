# SPDX-License-Identifier: Apache-2.0
"""What commands that read a recording of a robot have in common: their arguments, and the robot in the recording."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel, read_card
from ros2_dyn.model.card_file import is_card
from ros2_dyn_tools.recording.conditions import Conditions
from ros2_dyn_tools.recording.recording import Recording, read_recording

FIRST_YEAR = 2000
"""Earlier stamps are not dates: simulated time begins at 0."""


def add_recording_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the recording, the robot, and how the joints of the one are called in the other."""
    parser.add_argument(
        "recording", type=Path, help="rosbag2 folder, or .db3 or .mcap file, with sensor_msgs/JointState"
    )
    parser.add_argument("--urdf", type=Path, required=True, help="the robot, as URDF or robot card")
    parser.add_argument("--joints", nargs="+", help="joints of the arm, where it is part of a bigger robot")
    parser.add_argument("--recorded-joints", nargs="+", help="what the recording calls them, in this order")
    parser.add_argument("--bag-joints", dest="recorded_joints", nargs="+", help=argparse.SUPPRESS)  # until 0.2.0
    parser.add_argument("--topic", default="/joint_states", help="default: %(default)s")


def read_robot(path: Path, arguments: argparse.Namespace) -> RobotModel:
    """Return the robot of a URDF or a robot card, reduced to the joints that the arguments name.

    Raises:
        InputError: the robot lacks a joint.
        ModelError: the URDF or the card is wrong.
    """
    model = RobotModel.from_file(path)
    return model.reduced(arguments.joints) if arguments.joints else model


def read_motion(model: RobotModel, arguments: argparse.Namespace) -> Recording:
    """Return the recording in the order of the model's joints, its efforts times the gains of a robot card.

    Raises:
        InputError: the lists of joints differ in length, or as `read_recording`.
    """
    recording = read_recording(arguments.recording, recorded_names(model, arguments), arguments.topic)
    return in_newtons(model, recording, arguments.urdf)


def in_newtons(model: RobotModel, recording: Recording, path: Path) -> Recording:
    """Return a recording with its efforts times the gains of a robot card; as it is for the path of a URDF."""
    if not is_card(path):
        return recording
    return recording._replace(effort=recording.effort * read_card(path).gains(model.joint_names))


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


def read_conditions(path: Path) -> Conditions:
    """Return how the robot of a robot card stands, and what its driver does to efforts; the usual ones for a URDF."""
    return Conditions.of(read_card(path) if is_card(path) else None)


def recording_began(path: Path) -> datetime | None:
    """Return when a bag began; None for other files, and for a bag with simulated time."""
    if not (path.is_dir() or path.suffix in (".db3", ".mcap")):
        return None
    from rosbags.highlevel import AnyReader  # `read_recording` says what is to be done where it is missing
    from rosbags.typesys import Stores, get_typestore

    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        began = datetime.fromtimestamp(1e-9 * reader.start_time, timezone.utc)
    return began if began.year >= FIRST_YEAR else None
