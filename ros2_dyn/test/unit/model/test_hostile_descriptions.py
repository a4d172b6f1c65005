# SPDX-License-Identifier: Apache-2.0
"""Descriptions that are built to take time, memory or log space: refused at every entrance, before the work begins."""

import pytest

import ros2_dyn.model.urdf
from robots import joint, link, robot
from ros2_dyn.audit import audit_model
from ros2_dyn.errors import MAX_TEXT as MAX_ERROR
from ros2_dyn.errors import ModelError, shorten
from ros2_dyn.model import RobotModel
from ros2_dyn.model.description_bounds import MAX_LINKS, MAX_NAME, MAX_TEXT
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.spatial import identity_transform
from ros2_dyn.runtime import ArmRuntime, Settings, run_work
from ros2_dyn.runtime.inputs import Description
from ros2_dyn.runtime.robot_dynamics import MAX_JOINTS

LAUGHS = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))


def chain(joints: int, name: str = "l") -> str:
    """Return a chain of revolute joints, each of whose links weighs 1 kg."""
    links = [link(f"{name}{i}", 1.0, inertia=(1, 0, 0, 1, 0, 1)) for i in range(joints + 1)]
    hinges = [joint(f"j{i}", "revolute", f"{name}{i}", f"{name}{i + 1}", xyz=(0, 0, 0.1)) for i in range(joints)]
    return robot(*links, *hinges)


TOO_MUCH = {
    "a chain of 20 000 joints": lambda: chain(20_000),
    "one link too many": lambda: chain(MAX_LINKS),
    "a star of 20 000 joints": lambda: robot(
        *(link(f"l{i}") for i in range(20_000)),
        *(joint(f"j{i}", "fixed", "l0", f"l{i + 1}") for i in range(19_999)),
    ),
    "a link's name of 50 MB": lambda: robot(link("a" * 50_000_000), link("b")),
    "a link's name that is a little too long": lambda: robot(link("a" * (MAX_NAME + 1)), link("b")),
    "a robot's name of two lines": lambda: chain(1).replace('name="test"', 'name="a&#10;/**: {ros__parameters: {}}"'),
    "a link's name that moves the cursor": lambda: chain(1).replace("l0", "&#x9b;2J"),
    "a mass of 1e308": lambda: chain(1).replace('mass value="1.0"', 'mass value="1e308"'),
    "an inertia of 1e308": lambda: chain(1).replace('ixx="1.0"', 'ixx="1e308"'),
    "an origin of 1e308": lambda: chain(1).replace("0.0 0.0 0.1", "1e308 1e308 1e308"),
    "a robot's name of 1 MB": lambda: chain(1).replace('name="test"', f'name="{"x" * 1_000_000}"'),
    "elements 250 000 deep": lambda: f"<robot>{'<a>' * 250_000}{'</a>' * 250_000}</robot>",
    "400 000 elements": lambda: f"<robot>{'<a/>' * 400_000}</robot>",
    "entities that expand to 10^9 texts": lambda: f'<!DOCTYPE r [<!ENTITY a0 "ha">{LAUGHS}]><robot name="&a9;"/>',
    "one entity of 100 kB a thousand times": lambda: (
        f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]><robot name="{"&a;" * 1000}"/>'
    ),
    "an external entity": lambda: '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot>&a;</robot>',
    "900 000 numbers in an origin": lambda: chain(1).replace("0.0 0.0 0.1", "0 " * 900_000),
    "a joint type of 1.2 MB": lambda: chain(1).replace('type="revolute"', f'type="{"y" * 1_250_000}"'),
    "a number of 1.2 MB": lambda: chain(1).replace('mass value="1.0"', f'mass value="{"9" * 1_250_000}"'),
    "a parent of 1.2 MB": lambda: chain(1).replace('parent link="l0"', f'parent link="{"z" * 1_250_000}"'),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_hostile_description_is_refused_with_a_short_error_at_every_entrance(what, tmp_path):
    xml, file = TOO_MUCH[what](), tmp_path / "robot.urdf"
    file.write_text(xml, encoding="utf-8")
    with pytest.raises(ModelError) as refused:
        RobotModel.from_urdf_file(file)
    assert len(str(refused.value)) < 3 * MAX_ERROR
    runtime = ArmRuntime()
    update = run_work(runtime, runtime.step(Description(xml), 0.0), 0.0)
    assert [event.kind for event in update.events] == ["robot rejected"]
    assert len(update.events[0].text) < 3 * MAX_ERROR
    assert runtime.robot is None


@pytest.mark.parametrize("xml", [" " * (MAX_TEXT + 1), '<!ENTITY a "">', chain(MAX_LINKS), robot(link("a" * 300))])
def test_what_is_too_large_is_refused_before_any_element_is_made(xml, monkeypatch):
    """The work of a refusal is bounded by the text's length, whatever the machine."""
    monkeypatch.setattr(ros2_dyn.model.urdf, "_parse_element", pytest.fail)
    monkeypatch.setattr(ros2_dyn.model.urdf, "_walk", pytest.fail)
    with pytest.raises(ModelError):
        RobotModel.from_urdf(xml)


@pytest.mark.parametrize("xml", [" " * (MAX_TEXT + 1), '<!DOCTYPE r [<!ENTITY a "">]>'])
def test_long_texts_and_entities_are_refused_before_the_text_is_parsed(xml, monkeypatch):
    monkeypatch.setattr(ros2_dyn.model.urdf, "robot_element", pytest.fail)
    with pytest.raises(ModelError):
        RobotModel.from_urdf(xml)


def test_links_that_go_on_for_ever_are_refused():
    def links():
        yield LinkSpec("base", None, identity_transform(), None, SpatialInertia.zero())
        while True:
            yield LinkSpec("more", "base", identity_transform(), None, SpatialInertia.zero())

    with pytest.raises(ModelError, match="more than 1000 links"):
        RobotModel.from_links("endless", links())


def test_largest_robot_is_loaded_and_the_runtime_asks_for_the_joints_of_its_arm():
    """Its tip and its warnings are found in linear time: the square of 1000 took 27 s."""
    xml = chain(MAX_LINKS - 1)
    model = RobotModel.from_urdf(xml)
    assert (model.n, model.default_tip) == (999, "l999")
    assert [each.code for each in audit_model(model)] == ["inertia_placeholder"]
    runtime = ArmRuntime()
    update = run_work(runtime, runtime.step(Description(xml), 0.0), 0.0)
    assert f"999 joints move, expected at most {MAX_JOINTS}; name those of the arm" in update.events[0].text
    runtime = ArmRuntime(settings=Settings.from_values({"robot.joints": ("j3", "j700")}))
    run_work(runtime, runtime.step(Description(xml), 0.0), 0.0)
    assert runtime.robot is not None
    assert runtime.robot.model.n == 2


def test_joints_that_move_no_mass_are_named():
    massless = [link(name) for name in "cde"]
    hinges = (joint(f"to_{child}", "revolute", parent, child) for parent, child in ("ab", "bc", "cd", "be"))
    model = RobotModel.from_urdf(robot(link("a"), link("b", 1.0, inertia=(1, 0, 0, 1, 0, 1)), *massless, *hinges))
    found = [each.element for each in audit_model(model) if each.code == "moves_no_mass"]
    assert found == [f"joint 'to_{name}'" for name in ("c", "d", "e")]


def test_shortened_text_keeps_its_beginning_and_its_end():
    assert shorten("short") == "short"
    long = shorten("begin" + "x" * 10**6 + "end")
    assert long.startswith("begin")
    assert long.endswith("end")
    assert len(long) <= MAX_ERROR
