# SPDX-License-Identifier: Apache-2.0
"""What RViz, Foxglove and PlotJuggler show is what the node publishes."""

import importlib
import json
from collections.abc import Iterator

import pytest
import yaml

from layout_contents import foxglove_contents, plotjuggler_contents, rviz_topics
from robots import MOCK_ARM

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from driven_arms import MODEL, StandingArm
from driver import LOCKSTEP, Driver, driving


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """A node in simulated time, and its diagnostics."""
    with driving(Driver.with_robot, StandingArm(speed=0.5), **LOCKSTEP) as driver:
        driver.listener.listen("/diagnostics", type=DiagnosticArray)
        driver.begin()
        yield driver


def message_type(name: str) -> type:
    """Return the class of a type of messages."""
    package, _, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), kind)


def test_layouts_show_topics_and_fields_that_exist(driver):
    """Those of RViz, Foxglove and PlotJuggler: each topic and service is the node's, with the field or the type.

    The robot's description is its driver's.
    """
    folder, node = MOCK_ARM.parent, driver.listener.node
    shown = [
        foxglove_contents((folder / "foxglove.json").read_text(encoding="utf-8")),
        plotjuggler_contents((folder / "plotjuggler.xml").read_text(encoding="utf-8")),
    ]
    topics = rviz_topics((folder / "dynamics.rviz").read_text(encoding="utf-8"))
    wanted = {topic for contents in shown for topic in contents.topics} | set(topics)
    wanted.discard("/robot_description")
    driver.listener.until(lambda: all(map(node.count_publishers, wanted)), "topics that are shown are missing")
    kinds = {name: kinds[0] for name, kinds in node.get_topic_names_and_types()}
    kinds["/robot_description"] = "std_msgs/msg/String"
    assert {topic: kinds[topic] for topic in topics} == topics
    for topic, field in {each for contents in shown for each in contents.fields}:
        value = message_type(kinds[topic])()
        for name in field.split(".") if field else ():
            value = value[0] if isinstance(value, list) else value
            assert hasattr(value, name), f"{kinds[topic]} on {topic} has no field '{field}'"
            value = getattr(value, name)
            value = [DiagnosticStatus()] if name == "status" else value
    services = {name for name, _ in node.get_service_names_and_types()}
    assert {name for contents in shown for name in contents.services} <= services


def test_layouts_name_the_status_of_the_mode_and_the_base_link(driver):
    """A frame that RViz can fix, and a status that Foxglove picks out by name and robot, as the node publishes it."""
    config = yaml.safe_load((MOCK_ARM.parent / "dynamics.rviz").read_text(encoding="utf-8"))
    assert config["Visualization Manager"]["Global Options"]["Fixed Frame"] == MODEL.base_link
    driver.step()
    driver.listener.until(lambda: driver.listener.received["/diagnostics"], "no diagnostics")
    statuses = {(each.hardware_id, each.name) for each in driver.listener.received["/diagnostics"][-1].status}
    panels = json.loads((MOCK_ARM.parent / "foxglove.json").read_text(encoding="utf-8"))["configById"]
    picked = panels["DiagnosticStatusPanel!mode"]
    assert (picked["selectedHardwareId"], picked["selectedName"]) in statuses
    assert f'{{name=="{picked["selectedName"]}"}}' in str(panels["StateTransitions!mode"])
    assert f"/diagnostics/{'/'.join((picked['selectedHardwareId'], picked['selectedName']))}/level" in (
        MOCK_ARM.parent / "plotjuggler.xml"
    ).read_text(encoding="utf-8")
