# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn identify` from a CSV file to a description and a report."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recordings import efforts, exciting_motion
from robots import MOCK_ARM, mock_arm
from ros2_dyn.cli.main import main
from ros2_dyn.dynamics import rnea
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.identification.parameter_output import write_parameter_file

JOINTS = list(mock_arm().joint_names[:2])


@pytest.fixture
def csv(tmp_path):
    """Return a recording of the first two joints, under other names."""
    model = mock_arm().reduced(JOINTS)
    model = model.with_joint_dynamics({name: JointDynamics(viscous=3.0, coulomb=2.0) for name in JOINTS})
    motion = exciting_motion(model, 30.0, 30.0)
    tau = efforts(model, motion) + np.random.default_rng(1).normal(scale=0.05, size=motion.q.shape)
    names = [f"joint_{i}.{field}" for field in ("position", "velocity", "effort") for i in (1, 2)]
    table = np.column_stack([motion.t, motion.q, motion.qd, tau])
    path = tmp_path / "motion.csv"
    np.savetxt(path, table, delimiter=",", header=",".join(["time", *names]), comments="")
    return path


def arguments(csv, *more):
    return ["identify", str(MOCK_ARM), str(csv), "--output", str(csv.parent / "found.urdf"), "--joints", *JOINTS, *more]


def test_description_and_report_are_written(csv, capsys):
    assert main(arguments(csv, "--recorded-joints", "joint_1", "joint_2", "--band", "5")) == 0
    found = RobotModel.from_urdf_file(csv.parent / "found.urdf")
    assert found.joint_names == mock_arm().joint_names
    assert found.joints[0].dynamics.viscous == pytest.approx(3.0, abs=0.5)
    made = read_arm(csv.parent / "found.urdf", csv.parent / "found.yaml").model
    assert list(made.joint_names) == JOINTS
    found = found.reduced(JOINTS)
    q, qd = np.full(2, 0.3), np.full(2, 0.5)
    rotors = made.drives.inertia - found.drives.inertia
    assert_allclose(rnea(made, q, qd, qd), rnea(found, q, qd, qd) + rotors @ qd, atol=1e-3)
    assert made.joints[0].dynamics.armature > 0
    assert "Error of the effort" in (csv.parent / "found.md").read_text()
    assert JOINTS[1] in capsys.readouterr().out


def test_identification_begins_from_a_parameter_file_and_keeps_its_gains_and_gravity(csv):
    given = {
        "robot.joints": JOINTS,
        "states.effort_gain": [2.0, 2.0],
        "robot.gravity": [0.0, 0.0, -9.7],
        "friction.viscous": [9.0, 9.0],
    }
    write_parameter_file(csv.parent / "arm.yaml", given, "known before")
    names = ["--recorded-joints", "joint_1", "joint_2"]
    assert main(arguments(csv, *names, "--parameters", str(csv.parent / "arm.yaml"), "--band", "5", "--no-tilt")) == 0
    found = read_arm(csv.parent / "found.urdf", csv.parent / "found.yaml")
    assert found.model.joints[0].dynamics.viscous == pytest.approx(2 * 3.0, abs=1.0)
    assert found.settings.states.effort_gain == (2.0, 2.0)
    assert_allclose(found.settings.robot.gravity, [0, 0, -9.7])


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--recorded-joints", "joint_1"], "recorded-joints: expected 2 names, got 1"),
        (["--recorded-joints", "joint_1", "joint_3"], "no column 'joint_3.position'"),
        (["--cutoff", "0"], "cutoff: expected a positive frequency"),
    ],
)
def test_wrong_arguments_are_one_line(csv, capsys, more, problem):
    assert main(arguments(csv, *more)) == 1
    assert problem in capsys.readouterr().err
