# SPDX-License-Identifier: Apache-2.0
"""What the links look like: shapes and meshes of the URDF, and sticks where there are none."""

import struct

import numpy as np
from numpy.testing import assert_allclose

from robots import MOCK_ARM, mock_arm
from ros2_dyn.dynamics import forward_kinematics
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.viewer.geometry import link_shapes

URDF = """<robot name="r">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base">{base}</link>
  <link name="arm">{arm}</link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0.3 0 0.4"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def shapes(base: str = "", arm: str = "", folder=None):
    text = URDF.format(base=base, arm=arm)
    return link_shapes(RobotModel.from_urdf(text), text, folder)


def test_visual_shapes_keep_size_place_and_colour():
    box = '<visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="0.1 0.2 0.3"/></geometry>'
    found = shapes(arm=f'{box}<material name="blue"/></visual>')
    (shape,) = found["arm"]
    assert (shape.kind, shape.size, shape.colour) == ("box", (0.1, 0.2, 0.3), (0, 0, 255))
    assert_allclose(shape.position, [1, 2, 3])
    assert_allclose(shape.rotation @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    assert "base" not in found  # it has no shape, as the URDF says, and others do


def test_shapes_for_collisions_stand_in_where_a_mesh_is_missing():
    missing = '<visual><geometry><mesh filename="package://nowhere/arm.stl"/></geometry></visual>'
    collision = '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
    assert [each.kind for each in shapes(arm=missing + collision)["arm"]] == ["sphere"]


def test_sticks_stand_in_where_no_shape_can_be_read():
    missing = '<visual><geometry><mesh filename="package://nowhere/arm.stl"/></geometry></visual>'
    found = shapes(base=missing, arm='<visual><geometry><sphere radius="0.2"/></geometry></visual>')
    (stick,) = found["base"]
    assert_allclose(stick.size[1], 0.5)  # from the base to the joint
    assert_allclose(stick.position, [0.15, 0, 0.2])
    assert_allclose(stick.rotation @ [0, 0, 1], [0.6, 0, 0.8])
    assert_allclose(np.linalg.det(stick.rotation), 1.0)


def test_robot_without_description_is_sticks_from_joint_to_joint():
    model = mock_arm()
    found = link_shapes(model, "", None)
    lengths = [shape.size[1] for shapes in found.values() for shape in shapes if shape.kind == "cylinder"]
    tip = forward_kinematics(model, np.zeros(model.n))[:3, 3]
    assert sum(lengths) >= np.linalg.norm(tip)
    assert len(lengths) >= 5


def test_mesh_is_found_beside_the_description_and_scaled(tmp_path):
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    (tmp_path / "arm.stl").write_bytes(bytes(80) + struct.pack("<I", 1) + triangle)
    mesh = '<visual><geometry><mesh filename="arm.stl" scale="0.001 0.002 0.001"/></geometry></visual>'
    (shape,) = shapes(arm=mesh, folder=tmp_path)["arm"]
    assert shape.kind == "mesh"
    assert_allclose(np.max(shape.vertices, axis=0), [0.001, 0.002, 0])


def test_shape_that_is_not_finite_is_not_drawn():
    wrong = '<visual><origin xyz="nan 0 0"/><geometry><box size="1 1 1"/></geometry></visual>'
    assert [each.kind for each in shapes(base=wrong)["base"]] == ["cylinder"]


def test_mock_arm_has_all_its_shapes():
    text = MOCK_ARM.read_text()
    assert sum(map(len, link_shapes(mock_arm(), text, MOCK_ARM.parent).values())) == text.count("<visual>")
