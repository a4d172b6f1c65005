# SPDX-License-Identifier: Apache-2.0
"""Files of an exciting trajectory: trajectory_msgs/JointTrajectory as YAML, and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ros2_dyn_tools.identification.excitation import FourierTrajectory
from ros2_dyn_tools.timing import trajectory_files
from ros2_dyn_tools.timing.joint_trajectory import JointTrajectory


def write_trajectory(trajectory: FourierTrajectory, joint_names: Sequence[str], rate: float, path: Path) -> None:
    """Write the points of a trajectory at a rate, Hz, as a message in YAML: `ros2 topic pub --yaml-file` takes it.

    The last point is at the end; all velocities and accelerations are zero there.
    """
    trajectory_files.write_yaml(_points(trajectory, joint_names, rate), path)


def write_csv(trajectory: FourierTrajectory, joint_names: Sequence[str], rate: float, path: Path) -> None:
    """Write the points at a rate, Hz, in the columns time and, for each joint, position, velocity and acceleration."""
    trajectory_files.write_csv(_points(trajectory, joint_names, rate), path)


def _points(trajectory: FourierTrajectory, joint_names: Sequence[str], rate: float) -> JointTrajectory:
    times = trajectory.times(rate)
    return JointTrajectory(tuple(joint_names), times, *trajectory.at(times))
