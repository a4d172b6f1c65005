# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn view`: show a robot in the browser, live, or from a recording or a black box."""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from ros2_dyn.errors import InputError
from ros2_dyn.runtime.black_box_file import is_black_box
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.cli.recorded_arm import joints_in_recording, recorded_arm
from ros2_dyn_tools.cli.recording_arguments import add_parameters_argument, conditions_of, in_newtons
from ros2_dyn_tools.recording.recording import read_recording
from ros2_dyn_tools.viewer.page import Page
from ros2_dyn_tools.viewer.picture import read_robot
from ros2_dyn_tools.viewer.playback import PlaybackPanel, PlaybackSource
from ros2_dyn_tools.viewer.recorded_motion import observe_aside, recorded_motion
from ros2_dyn_tools.viewer.recorded_stop import recorded_stop
from ros2_dyn_tools.viewer.server import DEFAULT_PORT, LOCAL, announce, start_server
from ros2_dyn_tools.viewer.timeline import Timeline


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help="a recording or a black box; left out: the live robot"
    )
    parser.add_argument("--urdf", default="", help="the robot; live: that of the node where it is left out")
    add_parameters_argument(parser)
    parser.add_argument("--topic", default="joint_states", help="topic of the joint states; default: %(default)s")
    parser.add_argument(
        "--threshold", type=float, nargs="+", help="thresholds of collisions in a recording, N m or N, one a joint"
    )
    parser.add_argument("--node", default="dynamics", help="the node that is watched; default: %(default)s")
    parser.add_argument("--host", default=LOCAL, help="address to listen on; default: %(default)s, this machine alone")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="first port to try; default: %(default)s")


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C; the exit status.

    Raises:
        InputError: viser or ROS 2 is not installed, the address is not free, or the file cannot be read.
        ModelError: the robot's description is wrong.
    """
    if arguments.file is not None:
        play(open_file(arguments), arguments.host, arguments.port)
        return 0
    try:
        from ros2_dyn_tools.ros.viewer_node import show_live
    except ImportError as error:
        raise InputError("view", f"ROS 2 is not here ({error}): source it, or name a file") from error
    return show_live(arguments)


def open_file(arguments: argparse.Namespace) -> Timeline:
    """Return the motion of a file; external efforts of a recording follow from a thread.

    Raises:
        InputError: it cannot be read, or a recording comes without `--urdf`.
        ModelError: the robot's description is wrong.
    """
    path: Path = arguments.file
    if is_black_box(path):
        return recorded_stop(path, read_robot(arguments.urdf) if arguments.urdf else None)
    if not arguments.urdf:
        raise InputError("urdf", f"'{path}' is no black box, and a recording does not hold the robot: give --urdf")
    robot, names = read_robot(arguments.urdf), None
    arm = read_arm(arguments.urdf, arguments.parameters)
    robot = robot._replace(model=arm.model)
    try:
        recording = read_recording(path, robot.model.joint_names, arguments.topic)
    except InputError:  # the joints may be called otherwise, or be some of the robot's
        model, names = recorded_arm(robot.model, joints_in_recording(path, arguments.topic))
        robot = robot._replace(model=model)
        recording = read_recording(path, names, arguments.topic)
    recording = in_newtons(arm._replace(model=robot.model), recording)
    conditions = conditions_of(arm.settings)
    timeline = recorded_motion(robot, recording, path.name, arguments.threshold or (), conditions)
    observe_aside(timeline, recording, conditions)
    return timeline


def play(timeline: Timeline, host: str, port: int) -> None:
    """Serve the page of a file until it is interrupted; errors as of `start_server`."""
    server = start_server(host, port)
    source = PlaybackSource(timeline)
    page = Page(server, source, timeline.robot.model.name)
    panel = PlaybackPanel(server, page.controls, source.player)
    page.extra = panel.show
    announce(server)
    try:
        page.run(until=threading.Event().is_set)
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
