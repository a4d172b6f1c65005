# SPDX-License-Identifier: Apache-2.0
"""Friction and rotors that go through a parameter file of the node."""

from dataclasses import replace

import yaml
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm
from ros2_dyn.dynamics import Presliding, carried_load, friction
from ros2_dyn.model import JointDynamics
from ros2_dyn.runtime import ArmRuntime, JointSample, Settings
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.identification.parameter_output import joint_parameters, write_parameter_file

MODEL = mock_arm()
Q, QD = [0.3, -1.2, 1.4, 0.5, -0.4, 0.2], [0.2, -0.1, 0.02, 0.05, -0.3, 0.1]
PLAIN = JointDynamics(viscous=4.0, coulomb=3.0, armature=0.5)
RICH = replace(PLAIN, static=5.0, stribeck_velocity=0.3, load=0.08, offset=-0.7, presliding=((0.01, 2.0), (0.03, 0.5)))
OTHER = replace(PLAIN, coulomb=1.0, presliding=((0.02, 1.5),))
REAL = MODEL.with_joint_dynamics(dict(zip(MODEL.joint_names, (RICH, OTHER, PLAIN, RICH, OTHER, PLAIN))))


def test_friction_and_rotors_go_through_a_file(tmp_path):
    path = tmp_path / "arm.yaml"
    write_parameter_file(path, joint_parameters(REAL), "of the mock arm")
    arm = read_arm(MOCK_ARM, path)
    assert [joint.dynamics for joint in arm.model.joints] == [joint.dynamics for joint in REAL.joints]
    assert path.read_text().startswith("# of the mock arm\n/**:\n  ros__parameters:\n")


def test_comment_sets_no_parameter(tmp_path):
    """It bears names that others have chosen, of files and robots."""
    path = tmp_path / "arm.yaml"
    comment = "of arm\n/dynamics:\r  ros__parameters:\x85    commands.max_tip_speed: 5.0\u2028#"
    write_parameter_file(path, joint_parameters(MODEL), comment)
    assert list(yaml.safe_load(path.read_text(encoding="utf-8"))) == ["/**"]
    assert len(path.read_text(encoding="utf-8").splitlines()) == path.read_text(encoding="utf-8").count("\n")


def test_plain_friction_needs_few_parameters():
    plain = MODEL.with_joint_dynamics(dict.fromkeys(MODEL.joint_names, PLAIN))
    assert list(joint_parameters(plain)) == [
        "robot.joints",
        "robot.armature",
        "friction.viscous",
        "friction.coulomb",
    ]


def test_node_computes_with_all_friction_of_its_parameters():
    runtime = ArmRuntime(MODEL, Settings.from_values(joint_parameters(REAL)))
    elements = Presliding(REAL)
    for k in range(5):
        q = [x + 0.004 * k for x in Q]
        (step,) = runtime.step(JointSample(k + 1, MODEL.joint_names, q, QD), 100.0 + 0.01 * k).steps
        expected = friction(REAL, QD, carried_load(REAL, q)) + elements.update(q)
        assert_allclose(step.terms.friction, expected, rtol=1e-9)
