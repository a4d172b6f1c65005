# SPDX-License-Identifier: Apache-2.0
"""Recordings of real arms, for tests that are skipped where these are not at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robots import example_robots
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.recording.recording import Recording, read_recording

RECORDINGS = Path(os.environ.get("ROS2_DYN_RECORDINGS", Path(__file__).parents[4] / "shared" / "data"))
REAL_ARMS = {
    "ur10": ("ur_description/urdf/ur10_robot.urdf", None, None),
    "panda": (
        "panda_description/urdf/panda.urdf",
        [f"panda_joint{i}" for i in range(1, 8)],
        [f"fer_joint{i}" for i in range(1, 8)],
    ),
}


def real_arm(name: str) -> tuple[RobotModel, Recording]:
    """The published model of a real arm, and a recording of it."""
    path = RECORDINGS / f"{name}_exciting_trajectory.db3"
    if not path.is_file():
        pytest.skip(f"no recordings of real arms in {RECORDINGS}")
    pytest.importorskip("rosbags", reason="rosbags, which reads recordings, is not installed")
    urdf, joints, bag_joints = REAL_ARMS[name]
    if not (example_robots() / urdf).is_file():
        pytest.skip("example-robot-data is not installed")
    model = RobotModel.from_urdf_file(example_robots() / urdf)
    if joints:
        model = model.reduced(joints)
    return model, read_recording(path, bag_joints or model.joint_names)
