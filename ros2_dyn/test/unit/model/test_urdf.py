# SPDX-License-Identifier: Apache-2.0
"""Loading of URDFs: elements that are used, elements that are dropped, and errors."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, joint, link, mock_arm, robot
from ros2_dyn.errors import ModelError, Ros2DynError
from ros2_dyn.model import RobotModel

LINKS = link("base"), link("arm", mass=1.0, com=(0.1, 0, 0))
HINGE = joint("hinge", "revolute", "base", "arm")
ONE_JOINT = robot(*LINKS, HINGE)


def test_mock_arm_has_the_names_limits_and_masses_of_its_file():
    model = mock_arm()
    assert (model.name, model.n, model.base_link, model.default_tip) == ("mock_arm", 6, "base_link", "tool0")
    assert model.joint_names[0] == "shoulder_pan_joint"
    assert model.link_names[-1] == "tool0"
    assert_allclose(model.effort_limit, [150, 150, 150, 28, 28, 28])
    assert sum(body.mass for body in model.inertia) == pytest.approx(3.7 + 8.393 + 2.275 + 2 * 1.219 + 0.1879)
    assert model.base_inertia.mass == 4.0


def test_joints_are_ordered_depth_first_in_document_order():
    names = "abcde"
    xml = robot(
        *(joint(f"to_{child}", "revolute", parent, child) for parent, child in ("ae", "ab", "bd", "bc")),
        *(link(name, mass=1.0) for name in reversed(names)),
    )
    assert RobotModel.from_urdf(xml).joint_names == ("to_e", "to_b", "to_d", "to_c")


def test_broken_elements_without_dynamics_are_ignored():
    nonsense = """
        <material name="red"><color rgba="1 0"/></material>
        <transmission name="t"><joint name="nowhere"/></transmission>
        <gazebo reference="arm"><plugin filename="none"><a/></plugin></gazebo>
        <ros2_control name="x" type="system"><joint name="hinge"><param name="p">{</param></joint></ros2_control>
        <my:extension xmlns:my="urn:x"/>"""
    shape = "<visual><geometry><mesh/></geometry></visual><collision><geometry/></collision><inertial>"
    xml = ONE_JOINT.replace("</robot>", f"{nonsense}</robot>").replace("<inertial>", shape)
    plain, dressed = RobotModel.from_urdf(ONE_JOINT), RobotModel.from_urdf(xml)
    assert dressed.joint_names == plain.joint_names
    assert_allclose(dressed.inertia[0].matrix(), plain.inertia[0].matrix())


def test_unknown_elements_print_nothing_while_loading(capfd):
    xml = ONE_JOINT.replace("<robot ", '<robot version="7" xmlns:x="y" ').replace("<axis", "<odd/><axis")
    RobotModel.from_urdf(xml)
    assert capfd.readouterr() == ("", "")


def test_urdf_inertia_is_about_the_centre_of_mass_in_its_own_axes():
    """The model has it about the frame's origin, by the parallel axis theorem."""
    body = link("arm", 2.0, (0.3, 0, 0), (1, 0, 0, 2, 0, 3), rpy=(0, 0, np.pi / 2))
    I = RobotModel.from_urdf(robot(link("base"), body, HINGE)).inertia[0]
    assert_allclose(I.I_com, np.diag([2, 1, 3]), atol=1e-12)
    assert_allclose(I.I_origin, np.diag([2, 1 + 2 * 0.09, 3 + 2 * 0.09]), atol=1e-12)
    assert_allclose(I.com, [0.3, 0, 0], atol=1e-12)


def test_joint_axis_is_normalised_and_defaults_to_x():
    long = RobotModel.from_urdf(robot(*LINKS, joint("hinge", "revolute", "base", "arm", axis=(0, 3, 4))))
    assert_allclose(long.joints[0].axis, [0, 0.6, 0.8])
    default = RobotModel.from_urdf(ONE_JOINT.replace('<axis xyz="0.0 0.0 1.0"/>', ""))
    assert_allclose(default.joints[0].axis, [1, 0, 0])


def test_change_of_a_model_or_its_arrays_raises_error():
    model = mock_arm()
    with pytest.raises(AttributeError):
        model.name = "other"  # type: ignore[misc]
    for array in (model.inertia[0].h, model.inertia[0].I_origin, model.X_tree[1].E, model.joints[0].axis):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(TypeError):
        model.links["new"] = model.links["tool0"]  # type: ignore[index]


edit = ONE_JOINT.replace
"""Make a URDF with one fault from the correct one."""
WRONG = {
    "no XML": ("<robot", "robot description: not well-formed XML"),
    "another root": ("<sdf/>", "expected the root element <robot>, found <sdf>"),
    "xacro": (
        '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="y"/></robot>',
        "this is a xacro file; expand it first",
    ),
    "empty": (robot(), "robot: it has no root link"),
    "no moving joint": (robot(link("base", 1.0)), "robot 'test': it has no moving joint"),
    "two roots": (robot(*LINKS, link("loose"), HINGE), "link 'loose': no joint connects it to 'base'"),
    "no such parent": (edit('parent link="base"', 'parent link="bse"'), "joint 'hinge': its parent link 'bse'"),
    "no such child": (
        robot(*LINKS, HINGE.replace('child link="arm"', 'child link="am"')),
        "joint 'hinge': its child link 'am'",
    ),
    "two parents": (
        robot(*LINKS, HINGE, joint("again", "fixed", "base", "arm")),
        "link 'arm': it is the child of two joints, 'hinge' and 'again'",
    ),
    "loop": (
        robot(*LINKS, link("x"), link("y"), HINGE, joint("xy", "fixed", "x", "y"), joint("yx", "fixed", "y", "x")),
        "robot: some of its links form a loop",
    ),
    "link named twice": (robot(*LINKS, link("arm"), HINGE), "link 'arm': the name is used twice"),
    "joint named twice": (
        robot(*LINKS, link("x"), HINGE, joint("hinge", "fixed", "arm", "x")),
        "joint 'hinge': the name is used twice",
    ),
    "joint type": (edit('"revolute"', '"revolut"'), "joint 'hinge': Invalid joint type: revolut"),
    "infinite mimic": (
        edit("</joint>", '<mimic joint="hinge" multiplier="inf"/></joint>'),
        "joint 'hinge': its <mimic> has multiplier inf and offset 0, expected finite numbers",
    ),
    "negative damping": (
        edit("</joint>", '<dynamics damping="-1"/></joint>'),
        "joint 'hinge': its <dynamics> has a wrong damping: expected a finite number, not negative, got -1.0",
    ),
    "no child": (edit('<child link="arm"/>', ""), "joint 'hinge': Required element not set in XML: child"),
    "no name": (edit('<link name="base"/>', "<link/>"), "link '?': its <link> has no attribute 'name'"),
    "zero axis": (edit("0.0 0.0 1.0", "0 0 0"), "joint 'hinge': its <axis> is [0. 0. 0.], expected a direction"),
    "short vector": (
        robot(*LINKS, HINGE.replace('xyz="0.0 0.0 0.0"', 'xyz="0 0"')),
        "joint 'hinge': Invalid vector length",
    ),
    "not a number": (
        edit('mass value="1.0"', 'mass value="one"'),
        "link 'arm': could not convert string to float: 'one'",
    ),
    "nan origin": (robot(*LINKS, HINGE.replace('rpy="0.0', 'rpy="nan')), "joint 'hinge': its <origin> is not finite"),
    "infinite inertia": (edit('ixx="0.0"', 'ixx="inf"'), "link 'arm': its <inertia> is not finite"),
    "inertia incomplete": (edit('ixx="0.0"', ""), "link 'arm': its <inertia> has no attribute 'ixx'"),
    "negative effort": (edit('effort="100"', 'effort="-1"'), "joint 'hinge': its <limit> has effort -1.0"),
    "limit incomplete": (edit('effort="100"', ""), "joint 'hinge': its <limit> has no attribute 'effort'"),
}


READ_ANYWAY = {
    "space before the declaration": ('\n <?xml version="1.0"?>' + ONE_JOINT, "xml_declaration", "robot description"),
    "two inertials": (
        edit("</inertial>", '</inertial><inertial><mass value="9"/></inertial>'),
        "given_twice",
        "link 'arm'",
    ),
    "limits upside down": (edit('lower="-3" upper="3"', 'lower="3" upper="-3"'), "limits_upside_down", "joint 'hinge'"),
    "mimics itself": (edit("</joint>", '<mimic joint="hinge"/></joint>'), "mimic_impossible", "joint 'hinge'"),
    "mimics nothing": (edit("</joint>", '<mimic joint="other"/></joint>'), "mimic_impossible", "joint 'hinge'"),
}
"""What other parsers accept: the robot is that of the right URDF, and a finding says what is odd."""


@pytest.mark.parametrize("case", READ_ANYWAY)
def test_what_other_parsers_accept_is_read_and_found_odd(case):
    xml, code, element = READ_ANYWAY[case]
    model = RobotModel.from_urdf(xml)
    assert model == RobotModel.from_urdf(ONE_JOINT)
    assert [(each.code, each.element) for each in model.findings] == [(code, element)]
    assert pickle.loads(pickle.dumps(model)).findings == model.findings


@pytest.mark.parametrize("type", ["fixed", "floating"])
def test_joint_that_mimics_one_without_a_position_of_its_own_is_a_joint_of_its_own(type):
    end = joint("weld", type, "arm", "end") + link("end", 1.0)
    model = RobotModel.from_urdf(robot(*LINKS, HINGE.replace("</joint>", '<mimic joint="weld"/></joint>'), end))
    assert model.joints[0].mimics is None
    assert [each.problem for each in model.findings] == [
        f"it mimics 'weld', which is {type}: it is taken as a joint of its own"
    ]


@pytest.mark.parametrize("case", WRONG)
def test_wrong_urdf_raises_error_that_names_the_element(case):
    xml, message = WRONG[case]
    with pytest.raises(ModelError) as refusal:
        RobotModel.from_urdf(xml)
    assert message in str(refusal.value)
    assert isinstance(refusal.value, Ros2DynError)
    assert str(refusal.value) == f"{refusal.value.element}: {refusal.value.problem}"


def test_missing_urdf_file_raises_error_with_its_path(tmp_path):
    with pytest.raises(ModelError, match=r"nowhere\.urdf': cannot be read: .*No such file"):
        RobotModel.from_urdf_file(tmp_path / "nowhere.urdf")
    assert RobotModel.from_urdf_file(str(MOCK_ARM)).n == 6
