# SPDX-License-Identifier: Apache-2.0
"""Layouts of RViz, Foxglove and PlotJuggler: made for any arm, and of topics that the node has."""

import ast
import json
from xml.etree import ElementTree as ET

import pytest
import yaml

from layout_contents import foxglove_contents, plotjuggler_contents, rviz_topics
from robots import MOCK_ARM, joint, link, mock_arm, robot
from ros2_dyn.cli.main import main
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.cli.layouts import LAYOUTS, layout, template

MOCK = mock_arm()
CONFIG = MOCK_ARM.parent


def arm(n: int) -> RobotModel:
    """Return an arm of n joints and a finger that mimics the last one."""
    links = [link("root"), *(link(f"l{i}", 1.0, (0, 0, 0.1), (1, 0, 0, 1, 0, 1)) for i in range(n + 1))]
    joints = [joint(f"j{i}", "revolute", "root" if i == 0 else f"l{i - 1}", f"l{i}") for i in range(n + 1)]
    joints[n] = joints[n].replace("</joint>", f'<mimic joint="j{n - 1}"/></joint>')
    return RobotModel.from_urdf(robot(*links, *joints))


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout_of_the_mock_arm_is_the_file_that_it_is_made_from(name):
    assert layout(name, MOCK) == template(name) == (CONFIG / name).read_text(encoding="utf-8")


def test_command_writes_the_files_of_a_namespace_and_of_the_joints_of_the_parameters(tmp_path, capsys):
    parameters = tmp_path / "parameters.yaml"
    joints = list(MOCK.joint_names[:4])
    parameters.write_text(yaml.safe_dump({"dynamics": {"ros__parameters": {"robot.joints": joints}}}))
    words = ["layouts", str(MOCK_ARM), "--output", str(tmp_path / "new"), "--namespace", "/left/"]
    assert main([*words, "--parameters", str(parameters)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"written: {tmp_path / 'new' / name}" for name in LAYOUTS]
    texts = {name: (tmp_path / "new" / name).read_text() for name in LAYOUTS}
    of_joints = [texts[name] for name in ("foxglove.json", "plotjuggler.xml")]
    assert all(MOCK.joint_names[3] in text and MOCK.joint_names[4] not in text for text in of_joints)
    foxglove, plotjuggler = foxglove_contents(texts["foxglove.json"]), plotjuggler_contents(texts["plotjuggler.xml"])
    topics = foxglove.topics | plotjuggler.topics | set(rviz_topics(texts["dynamics.rviz"])) | foxglove.services
    assert "/left/joint_states" in topics
    assert {topic for topic in topics if not topic.startswith("/left/")} == {"/diagnostics"}


@pytest.mark.parametrize("n", [1, 2, 7])
def test_foxglove_places_each_panel_once_and_plots_each_joint(n):
    tree = json.loads(layout("foxglove.json", arm(n)))
    panels, placed = tree["configById"], []

    def place(part):
        if isinstance(part, str):
            placed.append(part)
            for tab in panels[part].get("tabs", []):
                place(tab["layout"])
        else:
            assert set(part) == {"first", "second", "direction", "splitPercentage"}
            place(part["first"])
            place(part["second"])

    place(tree["layout"])
    assert sorted(placed) == sorted(panels)
    plots = {panels[name]["foxglovePanelTitle"]: panels[name] for name in placed if name.startswith("Plot!effort")}
    assert [title.split(",")[0] for title in plots] == [f"j{i}" for i in range(n)]
    for i, plot in enumerate(plots.values()):
        assert {path["value"].partition("[")[2] for path in plot["paths"]} == {f"{i}]"}
        assert len(plot["paths"]) == 5


@pytest.mark.parametrize("n", [1, 2, 7])
def test_plotjuggler_has_as_many_parts_as_its_splitters_count_and_plots_each_joint(n):
    root = ET.fromstring(layout("plotjuggler.xml", arm(n)))
    for splitter in root.iter("DockSplitter"):
        assert len(splitter) == int(splitter.get("count")) == len(splitter.get("sizes").split(";"))
    efforts, external, _ = root.iter("Tab")
    assert [area.get("name") for area in efforts.iter("DockArea")] == [f"j{i}" for i in range(n)]
    for i, area in enumerate(external.iter("DockArea")):
        curves = [curve.get("name") for curve in area.iter("curve")]
        lower = root.find(f".//snippet[@name='{curves[2]}']")
        assert curves[:2] == [f"/dynamics/external_effort/j{i}/effort", f"/dynamics/collision/threshold[{i}]"]
        assert (lower.findtext("function"), lower.findtext("linked_source")) == ("return -value", curves[1])


def test_rviz_has_the_base_link_as_its_fixed_frame_and_topics_that_any_arm_has():
    text = layout("dynamics.rviz", arm(2))
    assert rviz_topics(text) == rviz_topics(template("dynamics.rviz"))
    config = yaml.safe_load(text)
    assert config["Visualization Manager"]["Global Options"]["Fixed Frame"] == "root"


def test_launch_file_puts_each_topic_of_rviz_into_the_namespace():
    tree = ast.parse((CONFIG.parent / "launch" / "dynamics.launch.py").read_text(encoding="utf-8"))
    found = [each for each in tree.body if isinstance(each, ast.Assign) and each.targets[0].id == "RVIZ_TOPICS"]
    remapped = eval(compile(ast.Expression(found[0].value), "launch file", "eval"))
    assert {f"/{topic}" for topic in remapped} == set(rviz_topics(template("dynamics.rviz")))
