# SPDX-License-Identifier: Apache-2.0
"""The command `retime`: a file that others read, durations and a table, and errors of one line."""

import numpy as np
import pytest

from robots import MOCK_ARM, mock_arm
from ros2_dyn.cli.main import main
from ros2_dyn.dynamics import rnea
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn_tools.identification.parameter_output import write_parameter_file
from ros2_dyn_tools.timing import JointTrajectory
from ros2_dyn_tools.timing.trajectory_files import read_trajectory, write_trajectory

pytest.importorskip("toppra", reason="toppra, which finds the timing, is not installed")

JOINTS = mock_arm().joint_names
POSTURES = np.array(
    [[0, -1.2, 1.4, -1.8, -1.57, 0.3], [0.8, -0.8, 0.9, -1.5, -1.2, 0.0], [1, -1.2, 1.4, -1.8, -1.57, 1]]
)


@pytest.fixture
def given(tmp_path):
    path = tmp_path / "given.csv"
    write_trajectory(JointTrajectory(JOINTS[::-1], np.array([0.0, 4.0, 8.0]), POSTURES[:, ::-1]), path)
    return path


def test_timed_trajectory_is_written_with_its_efforts(given, tmp_path, capsys):
    output = tmp_path / "timed.yaml"
    assert main(["retime", str(given), "--urdf", str(MOCK_ARM), "--output", str(output)]) == 0
    timed = read_trajectory(output)
    assert timed.joint_names == JOINTS
    effort = rnea(mock_arm(), timed.positions, timed.velocities, timed.accelerations)
    assert np.max(np.abs(timed.effort - effort) / mock_arm().effort_limit) < 0.3  # friction is the difference
    assert np.all(np.abs(timed.effort) <= 1.01 * mock_arm().effort_limit)
    printed = capsys.readouterr().out
    assert f"duration: 8.000 s given, {timed.duration:.3f} s now" in printed
    assert f"written: {output}, {len(timed.times)} points" in printed
    table = [line for line in printed.splitlines() if line.startswith(JOINTS[0])]
    assert len(table) == 1
    assert f"of {mock_arm().velocity_limit[0]:.3g}" in table[0]
    assert f"of {mock_arm().effort_limit[0]:.3g}" in table[0]


def duration(capsys) -> float:
    return float(capsys.readouterr().out.split(" s given, ")[1].split()[0])


def test_payload_limits_shares_and_friction_are_used(given, tmp_path, capsys):
    first = ["retime", str(given), "--urdf", str(MOCK_ARM)]
    assert main(first) == 0
    free = duration(capsys)
    limits = tmp_path / "joint_limits.yaml"
    limits.write_text(
        f"joint_limits:\n  {JOINTS[0]}: {{has_velocity_limits: true, max_velocity: 0.1, has_jerk_limits: false}}\n"
    )
    assert main([*first, "--limits", str(limits)]) == 0
    assert duration(capsys) > 1.0 / 0.1
    assert main([*first, "--payload", "2", "0", "0", "0.1", "--acceleration", "2", "--share", "0.5"]) == 0
    assert duration(capsys) > 1.9 * free
    grease = [0.8 * x for x in mock_arm().effort_limit.tolist()]
    write_parameter_file(
        tmp_path / "arm.yaml", {"robot.joints": list(JOINTS), "friction.viscous": grease}, "stiff grease"
    )
    assert main([*first, "--parameters", str(tmp_path / "arm.yaml")]) == 0
    assert duration(capsys) > 1.1 * free


def test_payload_that_cannot_be_held_is_refused_with_joint_and_place(given, capsys):
    assert main(["retime", str(given), "--urdf", str(MOCK_ARM), "--payload", "300"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("ros2_dyn: trajectory: joint '")
    assert "of the given trajectory" in error
    assert "to stand still it needs" in error
    held = RobotModel.from_urdf_file(MOCK_ARM).carrying(Payload(300.0))
    needed = np.max([np.abs(rnea(held, q, 0 * q, 0 * q)) / held.effort_limit for q in POSTURES])
    assert needed > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--joints", *JOINTS[:3]], f"the robot has no joint '{JOINTS[5]}'"),
        (["--payload", "1", "2"], "expected MASS or MASS X Y Z"),
        (["--payload-link", "tool0"], "expected --payload with the mass, too"),
        (["--rate", "0"], "rate: expected a positive number of Hz"),
    ],
)
def test_wrong_option_is_an_error_of_one_line(given, options, message, capsys):
    assert main(["retime", str(given), "--urdf", str(MOCK_ARM), *options]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
