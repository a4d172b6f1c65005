# SPDX-License-Identifier: Apache-2.0
"""The command `excite`: files that others read, a table, and errors of one line."""

import csv

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm
from ros2_dyn.cli.main import main
from ros2_dyn.dynamics import rnea

QUICK = ["--duration", "5", "--starts", "1", "--iterations", "3", "--rate", "50"]
ON_THE_WALL = [9.81, 0.0, 0.0]
POSTURE = ["--posture", "0", "-1.2", "1.4", "-1.8", "-1.57", "0.3"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of the command's files."""
    folder = tmp_path_factory.mktemp("excite")
    assert main(["excite", str(MOCK_ARM), *QUICK, *POSTURE, "--output", str(folder / "arm")]) == 0
    return folder


def test_yaml_is_a_joint_trajectory_that_rests_at_both_ends(written):
    message = yaml.safe_load((written / "arm.yaml").read_text())
    assert set(message) == {"header", "joint_names", "points"}
    assert tuple(message["joint_names"]) == mock_arm().joint_names
    points = message["points"]
    assert len(points) == 5 * 50 + 1
    stamps = [1e9 * p["time_from_start"]["sec"] + p["time_from_start"]["nanosec"] for p in points]
    assert stamps == [2e7 * k for k in range(251)]
    for end in (points[0], points[-1]):
        assert_allclose(end["positions"], [0, -1.2, 1.4, -1.8, -1.57, 0.3], atol=1e-8)
        assert_allclose([end["velocities"], end["accelerations"]], 0, atol=1e-8)
    assert all(type(x) is float for p in points for x in (*p["positions"], *p["velocities"], *p["accelerations"]))


def test_yaml_has_the_fields_of_the_message(written):
    """A tool that makes a message of it refuses others."""
    messages = pytest.importorskip("trajectory_msgs.msg", reason="ROS 2 is not installed")
    message = yaml.safe_load((written / "arm.yaml").read_text())
    assert set(message) == set(messages.JointTrajectory.get_fields_and_field_types())
    point = messages.JointTrajectoryPoint
    assert set(message["points"][0]) == set(point.get_fields_and_field_types()) - {"effort"}
    assert set(message["points"][0]["time_from_start"]) == set(point().time_from_start.get_fields_and_field_types())


def test_csv_has_the_same_points(written):
    with (written / "arm.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ["time", *(f"shoulder_pan_joint.{x}" for x in ("position", "velocity", "acceleration"))]
    points = yaml.safe_load((written / "arm.yaml").read_text())["points"]
    for row, point in list(zip(rows, points))[::50]:
        for kind, values in (("position", "positions"), ("velocity", "velocities"), ("acceleration", "accelerations")):
            numbers = [float(row[f"{name}.{kind}"]) for name in mock_arm().joint_names]
            assert_allclose(numbers, point[values], atol=1e-9)
    assert_allclose([float(row["time"]) for row in rows], np.arange(251) / 50, atol=1e-9)


def test_some_joints_and_what_is_printed(tmp_path, capsys):
    joints = ["elbow_joint", "wrist_1_joint"]
    options = ["--joints", *joints, "--noise", "0.5", "--output", str(tmp_path / "two")]
    assert main(["excite", str(MOCK_ARM), *QUICK, *options]) == 0
    message = yaml.safe_load((tmp_path / "two.yaml").read_text())
    assert message["joint_names"] == joints
    printed = capsys.readouterr().out
    assert "Self-collision is NOT checked: " in printed  # the mock arm has no collision geometry
    assert "condition number" in printed
    assert "white noise of 0.5, 0.5 N m or N at 50 Hz" in printed
    assert "elbow_joint.viscous" in printed or "elbow_joint.coulomb" in printed


def test_efforts_are_those_of_the_mount(tmp_path, capsys):
    """On the wall the first joint carries weight."""
    parameters = tmp_path / "arm.yaml"
    parameters.write_text(f"dynamics: {{ros__parameters: {{robot.gravity: {ON_THE_WALL}}}}}")
    options = [*QUICK, *POSTURE, "--parameters", str(parameters), "--output", str(tmp_path / "wall")]
    assert main(["excite", str(MOCK_ARM), *options]) == 0
    printed = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("shoulder_pan_joint"))
    points = yaml.safe_load((tmp_path / "wall.yaml").read_text())["points"]
    motion = (np.array([point[kind] for point in points]) for kind in ("positions", "velocities", "accelerations"))
    effort = np.max(np.abs(rnea(mock_arm(), *motion, ON_THE_WALL)[:, 0]))
    assert_allclose(float(printed.split()[-3]), effort, rtol=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--joints", "knee"], "ros2_dyn: joints: the robot 'mock_arm' has no joint 'knee'"),
        (["--output", "/nowhere/at/all"], "ros2_dyn: [Errno 2] No such file or directory: '/nowhere/at/all.yaml'"),
    ],
)
def test_wrong_option_is_one_line(options, message, capsys):
    assert main(["excite", str(MOCK_ARM), *QUICK, *options]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(message)
