# SPDX-License-Identifier: Apache-2.0
"""An identified description: its new numbers, and all else as it was."""

import numpy as np
from numpy.testing import assert_allclose

from robots import joint, link, random_state, robot
from ros2_dyn.dynamics import friction, rnea
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.identification.urdf_output import identified_urdf, write_arm

SOLID = {"mass": 2.0, "com": (0.1, 0.0, 0.2), "inertia": (0.03, 0.001, 0.002, 0.04, 0.003, 0.05)}
SMALL = {"mass": 0.5, "com": (0.0, 0.05, 0.0), "inertia": (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)}
XML = robot(
    "<!-- do not touch -->",
    link("base", 5.0, inertia=(1, 0, 0, 1, 0, 1)),
    link("arm", **SOLID).replace("</link>", '<visual><geometry><box size="1 1 1"/></geometry></visual></link>'),
    link("tool", **SMALL),
    link("finger", **SMALL),
    joint("turn", "revolute", "base", "arm").replace("</joint>", '<dynamics damping="9" friction="8"/></joint>'),
    joint("screwed", "fixed", "arm", "tool", xyz=(0, 0, 0.3), rpy=(0.1, 0.2, 0.3)),
    joint("grip", "prismatic", "tool", "finger"),
    '<transmission name="t"/>',
)


def identified(body: SpatialInertia) -> tuple[RobotModel, RobotModel, str]:
    """Return the arm as told and as found, and the new description."""
    told = RobotModel.from_urdf(XML).reduced(["turn"])
    found = told.with_inertia([body]).with_joint_dynamics({"turn": JointDynamics(viscous=1.5, coulomb=2.5, load=0.1)})
    return told, found, identified_urdf(XML, told, found)


def heavier(told: RobotModel, mass: float) -> SpatialInertia:
    """Return the body of the arm with more mass."""
    return told.inertia[0] + SpatialInertia.from_com(mass, np.array([0.1, 0.1, 0.1]), 0.01 * np.eye(3))


def test_description_has_the_bodies_and_the_friction_that_were_found():
    told = RobotModel.from_urdf(XML).reduced(["turn"])
    _, found, text = identified(heavier(told, 1.0))
    again = RobotModel.from_urdf(text).reduced(["turn"])
    assert_allclose(again.inertia[0].parameters, found.inertia[0].parameters, atol=1e-12)
    assert again.joints[0].dynamics.viscous == 1.5
    assert again.joints[0].dynamics.coulomb == 2.5


def test_links_that_the_arm_carries_keep_their_inertia_where_the_rest_can_exist():
    told = RobotModel.from_urdf(XML).reduced(["turn"])
    text = identified(heavier(told, 1.0))[2]
    before, after = RobotModel.from_urdf(XML).link_specs, RobotModel.from_urdf(text).link_specs
    masses = {spec.link: float(spec.inertia.mass) for spec in after}
    assert_allclose([masses[name] for name in ("base", "arm", "tool", "finger")], [5.0, 3.0, 0.5, 0.5])
    assert [spec.link for spec in before] == [spec.link for spec in after]


def test_links_that_the_arm_carries_have_none_where_the_rest_cannot_exist():
    light = SpatialInertia.from_com(0.6, np.zeros(3), 0.01 * np.eye(3))
    _, found, text = identified(light)
    again = RobotModel.from_urdf(text)
    assert {spec.link: float(spec.inertia.mass) for spec in again.link_specs}["finger"] == 0.0
    assert_allclose(again.reduced(["turn"]).inertia[0].parameters, found.inertia[0].parameters, atol=1e-12)


def test_all_else_is_as_it_was():
    told = RobotModel.from_urdf(XML).reduced(["turn"])
    text = identified(heavier(told, 1.0))[2]
    for kept in ("<!-- do not touch -->", '<box size="1 1 1"/>', '<transmission name="t"/>', 'effort="100"'):
        assert kept in text
    assert text.count("<inertial>") == 4
    assert text.count("<dynamics") == 1


def test_joint_without_dynamics_gets_them():
    xml = '\n<?xml version="1.0"?>' + robot(
        link("base"), link("arm", **SOLID), joint("turn", "revolute", "base", "arm")
    )
    model = RobotModel.from_urdf(xml)
    found = model.with_joint_dynamics({"turn": JointDynamics(viscous=0.25)})
    assert RobotModel.from_urdf(identified_urdf(xml, model, found)).joints[0].dynamics.viscous == 0.25


def test_drive_that_turns_with_two_joints_is_the_same_in_the_files_of_an_arm(tmp_path):
    """The node makes of both files the arm that identification found."""
    control = """<ros2_control name="x" type="system"><transmission name="wrist">
        <plugin>transmission_interface/FourBarLinkageTransmission</plugin>
        <joint name="pan" role="joint1"/>
        <joint name="turn" role="joint2"><mechanical_reduction>2</mechanical_reduction></joint>
        </transmission></ros2_control>"""
    xml = XML.replace("</robot>", f"{control}</robot>").replace(
        'name="screwed" type="fixed"', 'name="pan" type="revolute"'
    )
    told = RobotModel.from_urdf(xml).reduced(["turn", "pan"])
    drive = JointDynamics(viscous=1.5, coulomb=2.5, armature=0.2, transition_velocity=0.05)
    found = told.with_joint_dynamics(dict.fromkeys(told.joint_names, drive))
    write_arm(tmp_path / "arm.urdf", xml, told, found)
    node = read_arm(tmp_path / "arm.urdf", tmp_path / "arm.yaml").model
    q, qd, qdd = random_state(told, 1)
    assert node.drives.coupled
    assert_allclose(friction(node, qd), friction(found, qd), rtol=1e-9)
    assert_allclose(rnea(node, q, qd, qdd), rnea(found, q, qd, qdd), rtol=1e-9)
