# SPDX-License-Identifier: Apache-2.0
"""Parameter files of the node: which sections count, what is refused, and friction that goes through one."""

from dataclasses import replace

import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm
from ros2_dyn.dynamics import Presliding, carried_load, friction
from ros2_dyn.errors import InputError
from ros2_dyn.model import JointDynamics
from ros2_dyn.runtime import ArmRuntime, JointSample, Settings
from ros2_dyn.runtime.parameter_files import joint_parameters, read_arm, read_parameter_file, write_parameter_file

MODEL = mock_arm()
Q, QD = [0.3, -1.2, 1.4, 0.5, -0.4, 0.2], [0.2, -0.1, 0.02, 0.05, -0.3, 0.1]
PLAIN = JointDynamics(viscous=4.0, coulomb=3.0, armature=0.5)
RICH = replace(PLAIN, static=5.0, stribeck_velocity=0.3, load=0.08, offset=-0.7, presliding=((0.01, 2.0), (0.03, 0.5)))
OTHER = replace(PLAIN, coulomb=1.0, presliding=((0.02, 1.5),))
REAL = MODEL.with_joint_dynamics(dict(zip(MODEL.joint_names, (RICH, OTHER, PLAIN, RICH, OTHER, PLAIN))))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arm.yaml"


def test_friction_and_rotors_go_through_a_file(path):
    write_parameter_file(path, joint_parameters(REAL), "of the mock arm")
    arm = read_arm(MOCK_ARM, path)
    assert [joint.dynamics for joint in arm.model.joints] == [joint.dynamics for joint in REAL.joints]
    assert path.read_text().startswith("# of the mock arm\n/**:\n  ros__parameters:\n")


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


def test_sections_of_the_node_and_of_every_node_count_and_later_ones_replace_earlier_ones(path):
    path.write_text(
        "/**: {ros__parameters: {states: {timeout: 0.2}, commands: {slew_rate: 3}, use_sim_time: true}}\n"
        "mock_arm: {ros__parameters: {publish_rate: 100.0}}\n"
        "left: {dynamics: {ros__parameters: {states.timeout: 3e-1}}}\n"
    )
    settings = read_parameter_file(path)
    assert (settings.states.timeout, settings.commands.slew_rate) == (0.3, 3.0)


def test_one_section_counts_whatever_its_node_is_called(path):
    path.write_text("/left/left_dynamics: {ros__parameters: {states: {timeout: 0.2}}}\n")
    assert read_parameter_file(path).states.timeout == 0.2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- 1", "has no mapping 'ros__parameters'"),
        ("{", "cannot be read"),
        ("[" * 5000, "cannot be read"),
        ("a: &a {ros__parameters: {}}\nb: *a", "it uses an alias"),
        ("a: {ros__parameters: {joints: [], joints: []}}", "the key 'joints' is given twice"),
        ("a: {ros__parameters: {nose: 1}}", "nose: there is no such parameter"),
        ("a: {ros__parameters: {states: {timeout: soon}}}", "states.timeout: expected float"),
        ("a: {ros__parameters: {}}\nb: {ros__parameters: {}}", "expected those of one node `dynamics`, got /a, /b"),
        ("/a/dynamics: {ros__parameters: {}}\n/b/dynamics: {ros__parameters: {}}", "got /a/dynamics, /b/dynamics"),
        (
            "a: {ros__parameters: {robot: {joints: [x, y]}, friction: {presliding: [0.1, 1.0]}}}",
            "expected pairs of numbers, as many for each of 2 joints, got 2 numbers",
        ),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(path, text, problem):
    path.write_text(text)
    with pytest.raises(InputError, match=problem.replace("(", r"\(")):
        read_parameter_file(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_parameter_file(path.with_name("none.yaml"))
