# SPDX-License-Identifier: Apache-2.0
"""Each way to be wrong is found, at the link or joint that is wrong, and a right robot has no findings."""

import json
import logging

import numpy as np
import pytest

from robots import MOCK_ARM, joint, link, robot
from ros2_dyn.audit import audit, audit_file
from ros2_dyn.audit.link_size import find_mesh
from ros2_dyn.audit.strength import motor_effort
from ros2_dyn.cli.main import main
from ros2_dyn.model import RobotModel

BOX = '<collision><geometry><box size="0.4 0.1 0.1"/></geometry><origin xyz="0.2 0 0"/></collision>'
SOLID = (0.0066, 0, 0, 0.055, 0, 0.055)
"""Moments of inertia of 4 kg that fill the box, kg m^2."""
ARM = link("arm", 4.0, (0.2, 0, 0), SOLID).replace("</link>", f"{BOX}</link>")
HINGE = joint("hinge", "revolute", "base", "arm").replace('effort="100"', 'effort="30"')
RIGHT = robot(link("base"), ARM, HINGE)
ABOUT_ORIGIN = (0.0066, 0, 0, 0.215, 0, 0.215)
"""The same about the link's origin."""


def arm(*args, **kwargs) -> str:
    """Return the robot with another inertia."""
    return robot(link("base"), _drawn(link("arm", *args, **kwargs)), HINGE)


def _drawn(text: str) -> str:
    """Return a link with a box."""
    return text.replace("/>", f">{BOX}</link>") if text.endswith('"/>') else text.replace("</link>", f"{BOX}</link>")


edit = RIGHT.replace
WRONG = {
    "mass_negative": (arm(-4.0, (0.2, 0, 0), SOLID), "error", "link 'arm'"),
    "inertia_negative": (arm(4.0, (0.2, 0, 0), (0.0066, 0.1, 0, 0.055, 0, 0.055)), "error", "link 'arm'"),
    "inertia_triangle": (arm(4.0, (0.2, 0, 0), (0.0066, 0, 0, 0.02, 0, 0.055)), "warning", "link 'arm'"),
    "inertia_zero": (arm(4.0, (0.2, 0, 0)), "warning", "link 'arm'"),
    "inertia_placeholder": (arm(400.0, (0.2, 0, 0), (1, 0, 0, 1, 0, 1)), "warning", "link 'arm'"),
    "inertia_too_large": (arm(4.0, (0.2, 0, 0), (0.66, 0, 0, 5.5, 0, 5.5)), "warning", "link 'arm'"),
    "inertia_too_small": (arm(4.0, (0.2, 0, 0), (6.6e-6, 0, 0, 5.5e-5, 0, 5.5e-5)), "warning", "link 'arm'"),
    "reference_point": (arm(4.0, (0.2, 0, 0), ABOUT_ORIGIN), "warning", "link 'arm'"),
    "com_outside": (arm(4.0, (0.2, 0, 0.2), SOLID), "warning", "link 'arm'"),
    "mass_zero": (edit('<mass value="4.0"/>', '<mass value="0"/>'), "warning", "link 'arm'"),
    "inertial_missing": (arm(), "warning", "link 'arm'"),
    "moves_no_mass": (robot(link("base"), link("arm"), HINGE), "warning", "joint 'hinge'"),
    "effort_limit_missing": (edit('effort="30"', 'effort="0"'), "warning", "joint 'hinge'"),
    "effort_limits_large": (edit('effort="30"', 'effort="1000"'), "warning", "robot"),
    "velocity_limit_missing": (edit('velocity="2"', 'velocity="0"'), "warning", "joint 'hinge'"),
    "position_limits_missing": (edit('lower="-3" upper="3" ', ""), "warning", "joint 'hinge'"),
    "position_limits_equal": (edit('lower="-3" upper="3" ', 'lower="1" upper="1" '), "warning", "joint 'hinge'"),
    "limits_upside_down": (edit('lower="-3" upper="3"', 'lower="3" upper="-3"'), "error", "joint 'hinge'"),
    "mimic_impossible": (edit("</joint>", '<mimic joint="hinge"/></joint>'), "error", "joint 'hinge'"),
    "given_twice": (edit("</joint>", '<axis xyz="1 0 0"/></joint>'), "warning", "joint 'hinge'"),
    "xml_declaration": ('\n<?xml version="1.0"?>' + RIGHT, "warning", "robot description"),
    "unit_degrees": (edit('lower="-3" upper="3"', 'lower="-170" upper="170"'), "warning", "joint 'hinge'"),
    "unit_mm": (
        robot(link("base"), ARM, HINGE.replace('xyz="0.0 0.0 0.0"', 'xyz="0 0 333"', 1)),
        "warning",
        "link 'arm'",
    ),
    "unit_g": (arm(4000.0, (0.2, 0, 0), tuple(1000 * x for x in SOLID)), "warning", "link 'arm'"),
    "fixed_mass": (
        robot(link("base"), ARM, HINGE, link("tool", 1.0, inertia=SOLID), joint("weld", "fixed", "arm", "tool")),
        "note",
        "link 'arm'",
    ),
    "geometry_unread": (edit('<box size="0.4 0.1 0.1"/>', '<mesh filename="nowhere.stl"/>'), "note", "robot"),
    "unreadable": ("<robot", "error", "robot description"),
}


@pytest.mark.parametrize("code", WRONG)
def test_what_is_wrong_is_found_where_it_is_and_alone(code):
    """But for a link without inertia, which is found as such and as too small, and so on."""
    xml, severity, element = WRONG[code]
    found = {each.code: each for each in audit(xml)}
    assert (found[code].severity, found[code].element) == (severity, element)
    assert found[code].problem
    if code not in ("inertia_zero", "mass_zero", "mass_negative"):
        assert found.keys() - {"moves_no_mass"} <= {code}


def test_right_robot_has_no_findings():
    assert audit(RIGHT) == []
    assert [each for each in audit_file(MOCK_ARM) if each.severity != "note"] == []


@pytest.mark.parametrize("rpy", ["90 0 0", "0 -180 0"])
def test_orientations_in_degrees_are_found_in_geometry_too(rpy):
    found = audit(edit('<origin xyz="0.2 0 0"/>', f'<origin xyz="0.2 0 0" rpy="{rpy}"/>'))
    assert [each.code for each in found if each.element == "a <collision>"] == ["unit_degrees"]


def test_meshes_of_a_robot_and_its_successor_are_found():
    mesh = '<visual><geometry><mesh filename="package://ur/meshes/{}/visual/x.dae"/></geometry></visual></link>'
    base, arm = link("base").replace("/>", f">{mesh.format('ur10')}"), ARM.replace("</link>", mesh.format("ur10e"))
    found = {each.code: each for each in audit(robot(base, arm, HINGE))}
    assert found["generations_mixed"].problem == "'base' has a mesh of 'ur10', and 'arm' one of 'ur10e'"
    same = audit(robot(base, arm.replace("ur10e", "ur10"), HINGE))
    assert "generations_mixed" not in [each.code for each in same]


@pytest.mark.parametrize(
    "address",
    [
        "package://arm/meshes/a.stl",
        "file://{top}/arm/meshes/a.stl",
        "{top}/arm/meshes/a.stl",
    ],
)
def test_mesh_of_a_package_is_found_from_a_file_and_from_the_network(address, tmp_path, monkeypatch):
    folder = tmp_path / "share" / "arm" / "meshes"
    folder.mkdir(parents=True)
    (folder / "a.stl").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    for place in (None, folder.parent / "urdf"):
        assert find_mesh(address.format(top=tmp_path / "share"), place) == folder / "a.stl"


@pytest.mark.parametrize(
    "address",
    [
        "package://../secret.stl",
        "package://arm/../../secret.stl",
        "package://arm/../other/secret.stl",
        "package:///{top}/secret.stl",
        "package://./secret.stl",
        "file://{top}/secret.stl",
        "file://{top}/share/arm/../../secret.stl",
        "{top}/secret.stl",
        "{top}/share/../secret.stl",
        "../../../secret.stl",
        "secret.stl",
        "",
    ],
)
def test_mesh_outside_of_its_package_is_not_opened(address, tmp_path, monkeypatch):
    """Whether its description is from the network or a file of a package."""
    places = [tmp_path, tmp_path / "share", tmp_path / "share" / "other", tmp_path / "share" / "arm" / "urdf"]
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        (place / "secret.stl").touch()
    (places[-1] / "secret.stl").unlink()
    (places[-1].parent / "package.xml").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    for folder in (None, places[-1]):
        with pytest.raises(FileNotFoundError):
            find_mesh(address.format(top=tmp_path), folder)


def test_mesh_beside_the_folder_urdf_is_found_by_a_relative_path(tmp_path):
    for name in ("urdf", "meshes"):
        (tmp_path / name).mkdir()
    (tmp_path / "meshes" / "a.stl").touch()
    assert find_mesh("../meshes/a.stl", tmp_path / "urdf") == tmp_path / "meshes" / "a.stl"


def test_motors_exert_what_the_description_says_unless_the_weight_shows_that_none_does():
    def motor(xml: str) -> float:
        return float(motor_effort(RobotModel.from_urdf(xml))[0])

    assert motor(RIGHT) == 30.0
    assert motor(edit('effort="30"', 'effort="1000"')) == pytest.approx(4 * 4.0 * 0.2 * 9.81)
    assert motor(robot(link("base"), link("arm"), HINGE)) == 30.0  # without weight nothing shows it


def test_size_is_that_of_a_mesh_beside_the_urdf(tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    logging.getLogger("trimesh").setLevel(logging.ERROR)
    (tmp_path / "meshes").mkdir()
    trimesh.creation.box((400.0, 100.0, 100.0)).export(tmp_path / "meshes" / "arm.stl")
    mesh = '<mesh filename="package://arm_description/meshes/arm.stl" scale="0.001 0.001 0.001"/>'
    (tmp_path.parent / "arm_description").symlink_to(tmp_path)
    path = tmp_path / "arm.urdf"
    path.write_text(edit('<box size="0.4 0.1 0.1"/>', mesh))
    assert audit_file(path) == []
    path.write_text(WRONG["com_outside"][0].replace('<box size="0.4 0.1 0.1"/>', mesh))
    assert [each.code for each in audit_file(path)] == ["com_outside"]


def test_any_damage_to_the_text_gives_findings_and_no_exception():
    """Characters are dropped and doubled at random; meshes and geometry, which the model does not read, included."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        text = list(RIGHT)
        for k in rng.integers(0, len(text), size=3):
            text[k] = rng.choice(["", "9", "-", " ", '"', ">", text[k] * 2])
        assert isinstance(audit("".join(text)), list)


def run(tmp_path, xml, *options) -> int:
    """Run the command on a text."""
    path = tmp_path / "robot.urdf"
    path.write_text(xml)
    return main(["audit", str(path), *options])


def test_command_prints_findings_and_fails_for_errors(tmp_path, capsys):
    assert run(tmp_path, RIGHT) == 0
    assert capsys.readouterr().out == "nothing is odd\n"
    assert run(tmp_path, WRONG["com_outside"][0]) == 0
    out = capsys.readouterr().out
    assert "com_outside" not in out
    assert "link 'arm'" in out
    assert "0 errors, 1 warnings, 0 notes" in out
    assert run(tmp_path, WRONG["com_outside"][0], "--strict") == 1
    assert run(tmp_path, WRONG["limits_upside_down"][0]) == 1


def test_command_prints_json(tmp_path, capsys):
    assert run(tmp_path, WRONG["limits_upside_down"][0], "--json") == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["code"] == "limits_upside_down"
    assert set(found) == {"severity", "code", "element", "problem", "advice"}


def test_missing_file_is_a_finding(tmp_path):
    (found,) = audit_file(tmp_path / "nowhere.urdf")
    assert (found.severity, found.code) == ("error", "unreadable")
