# SPDX-License-Identifier: Apache-2.0
"""Files of trajectories: what is written is read, what others write is read, what is wrong is named."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn.errors import InputError
from ros2_dyn_tools.timing import JointTrajectory
from ros2_dyn_tools.timing.trajectory_files import read_trajectory, write_trajectory

T = np.array([0.0, 0.5, 1.25])
Q = np.arange(6.0).reshape(3, 2)
WHOLE = JointTrajectory(("b", "a"), T, Q, 2 * Q, 3 * Q, -Q)


@pytest.mark.parametrize("suffix", [".yaml", ".csv"])
@pytest.mark.parametrize("given", [WHOLE, JointTrajectory(("b", "a"), T, Q)], ids=["whole", "positions"])
def test_what_is_written_is_read(tmp_path, suffix, given):
    path = tmp_path / f"motion{suffix}"
    write_trajectory(given, path)
    read = read_trajectory(path)
    assert read.joint_names == ("b", "a")
    assert_allclose(read.times, T, atol=1e-9)
    for name in ("positions", "velocities", "accelerations", "effort"):
        if getattr(given, name) is None:
            assert getattr(read, name) is None
        else:
            assert_allclose(getattr(read, name), getattr(given, name), atol=1e-9)


def test_message_inside_of_a_goal_with_durations_of_ros_1_is_read(tmp_path):
    path = tmp_path / "goal.yaml"
    path.write_text(
        "trajectory:\n  joint_names: [a]\n  points:\n"
        "  - {positions: [1], velocities: [], time_from_start: {secs: 0, nsecs: 0}}\n"
        "  - {positions: [1e-1], velocities: [], time_from_start: {secs: 1, nsecs: 500000000}}\n---\n"
    )
    read = read_trajectory(path)
    assert_allclose(read.times, [0, 1.5])
    assert_allclose(read.positions[:, 0], [1, 0.1])
    assert read.velocities is None


def test_joints_are_ordered_by_name_and_others_refused():
    assert_allclose(WHOLE.ordered(["a", "b"]).velocities, 2 * Q[:, ::-1])
    with pytest.raises(InputError, match="the joint 'c' is missing; it has b, a"):
        WHOLE.ordered(["a", "b", "c"])
    with pytest.raises(InputError, match="the robot has no joint 'b'"):
        WHOLE.ordered(["a"])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.yaml", "joint_names: [a]", "expected joint_names and points"),
        ("x.yaml", "a: [", "cannot be read as YAML"),
        ("x.yaml", "joint_names: [a]\npoints: [{positions: [1, 2], time_from_start: 0}]", "expected 1 numbers in each"),
        ("x.yaml", "joint_names: [a]\npoints: [{positions: [x], time_from_start: 0}]", "expected numbers"),
        ("x.yaml", "joint_names: [a]\npoints: [{positions: [1]}]", "point 0: expected {sec, nanosec}, got None"),
        ("x.yaml", "joint_names: [a, a]\npoints: [{positions: [1, 2], time_from_start: 0}]", "'a' is named twice"),
        ("x.yaml", "joint_names: [a]\npoints: [{positions: [.nan], time_from_start: 0}]", "'a', point 0: not a finite"),
        ("x.csv", "time,a\n0,1\n", "expected time and <joint>.position"),
        ("x.csv", "time,a.position\n0\n", "row 2: expected 2 cells, got 1"),
        ("x.csv", "time,a.position\n0,b\n", "expected numbers"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_trajectory(tmp_path / name)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml' cannot be read"):
        read_trajectory(tmp_path / "none.yaml")
