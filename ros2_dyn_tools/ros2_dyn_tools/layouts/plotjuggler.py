# SPDX-License-Identifier: Apache-2.0
"""The layout of PlotJuggler: efforts of each joint, external efforts with their thresholds, the external wrench.

Source: `xmlLoadState` of PlotJuggler's MainWindow, PlotDocker, PlotWidget and DataStreamROS2. Series of a JointState
are called `TOPIC/JOINT/effort`, those of an array `TOPIC/FIELD[i]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from ros2_dyn_tools.layouts.shown import EXTERNAL, MEASURED, TERMS, THRESHOLD_COLOUR, Shown

STREAMER = "ROS2 Topic Subscriber"
"""Name of the plugin that reads topics."""
COLUMNS = 2
BUFFER = 20
"""Duration that the plots show, s."""
AXES = {"x": "#d62728", "y": "#2ca02c", "z": "#1f77b4"}


class Plot(NamedTuple):
    """One plot."""

    title: str
    curves: tuple[tuple[str, str], ...]
    """Name and colour of each series."""


def plotjuggler_layout(shown: Shown) -> str:
    """Return the text of the layout."""
    root = ET.Element("root")
    tabs = ET.SubElement(root, "tabbed_widget", {"parent": "main_window", "name": "Main Window"})
    pages = {"Efforts": _efforts(shown), "External efforts": _external(shown), "Mode and contact": _contact(shown)}
    for name, plots in pages.items():
        tabs.append(_tab(name, plots))
    ET.SubElement(tabs, "currentTabIndex", index="0")
    ET.SubElement(root, "use_relative_time_offset", enabled="1")
    ET.SubElement(root, "streaming_buffer_size", value=str(BUFFER))
    root.append(_plugins(shown))
    ET.SubElement(root, "previouslyLoaded_Streamer", name=STREAMER)
    root.append(_lower_thresholds(shown))
    ET.indent(root, " ")
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ET.tostring(root, encoding="unicode") + "\n"


def _efforts(shown: Shown) -> list[Plot]:
    terms = (*TERMS, MEASURED)
    return [
        Plot(joint, tuple((f"{shown.topic(each.topic)}/{joint}/effort", each.colour) for each in terms))
        for joint in shown.joints
    ]


def _external(shown: Shown) -> list[Plot]:
    plots = []
    for i, joint in enumerate(shown.joints):
        effort = f"{shown.topic(EXTERNAL.topic)}/{joint}/effort"
        band = (_threshold(shown, i), _lower_threshold(joint))
        plots.append(Plot(joint, ((effort, EXTERNAL.colour), *((name, THRESHOLD_COLOUR) for name in band))))
    return plots


def _contact(shown: Shown) -> list[Plot]:
    """Return whether a collision was found, the level of the mode's diagnostics, and the external wrench."""
    wrench, collision = shown.topic("external_wrench"), shown.topic("collision")
    mode = f"/diagnostics/{shown.robot}/dynamics: mode/level"
    return [
        Plot("collision", ((f"{collision}/collision", EXTERNAL.colour),)),
        Plot("mode: 1 after a stop", ((mode, MEASURED.colour),)),
        *(
            Plot(f"external {what}", tuple((f"{wrench}/wrench/{field}/{axis}", AXES[axis]) for axis in AXES))
            for what, field in (("force, N", "force"), ("moment, N m", "torque"))
        ),
    ]


def _threshold(shown: Shown, i: int) -> str:
    return f"{shown.topic('collision')}/threshold[{i}]"


def _lower_threshold(joint: str) -> str:
    return f"lower threshold/{joint}"


def _lower_thresholds(shown: Shown) -> ET.Element:
    """Return the series that are computed: the thresholds of efforts in the negative direction."""
    equations = ET.Element("customMathEquations")
    for i, joint in enumerate(shown.joints):
        snippet = ET.SubElement(equations, "snippet", name=_lower_threshold(joint), language="lua")
        ET.SubElement(snippet, "global")
        ET.SubElement(snippet, "function").text = "return -value"
        ET.SubElement(snippet, "linked_source").text = _threshold(shown, i)
    return equations


def _plugins(shown: Shown) -> ET.Element:
    """Return what the streamer subscribes to, and how it reads messages: under their stamps."""
    names = [each.topic for each in (MEASURED, *TERMS, EXTERNAL)]
    topics = [*map(shown.topic, (*names, "collision", "external_wrench")), "/diagnostics"]
    settings = {
        "use_header_stamp": "true",
        "discard_large_arrays": "true",
        "max_array_size": "100",
        "boolean_strings_to_number": "true",
        "remove_suffix_from_strings": "true",
        "selected_topics": ";".join(topics),
    }
    plugins = ET.Element("Plugins")
    plugin = ET.SubElement(plugins, "plugin", ID=STREAMER)
    for name, value in settings.items():
        ET.SubElement(plugin, name, value=value)
    return plugins


def _tab(name: str, plots: Sequence[Plot]) -> ET.Element:
    tab = ET.Element("Tab", tab_name=name, containers="1")
    rows = [plots[i : i + COLUMNS] for i in range(0, len(plots), COLUMNS)]
    split = [_splitter("|", [_area(plot) for plot in row]) for row in rows]
    ET.SubElement(tab, "Container").append(_splitter("-", split))
    return tab


def _splitter(orientation: str, parts: Sequence[ET.Element]) -> ET.Element:
    sizes = ";".join([f"{math.floor(1e6 / len(parts)) / 1e6:g}"] * len(parts))
    splitter = ET.Element("DockSplitter", orientation=orientation, count=str(len(parts)), sizes=sizes)
    splitter.extend(parts)
    return splitter


def _area(plot: Plot) -> ET.Element:
    area = ET.Element("DockArea", name=plot.title)
    element = ET.SubElement(area, "plot", mode="TimeSeries", style="Lines", flip_x="false", flip_y="false")
    ET.SubElement(element, "range", left="0", right=str(BUFFER), bottom="-1", top="1")
    ET.SubElement(element, "limitY")
    for name, colour in plot.curves:
        ET.SubElement(element, "curve", name=name, color=colour)
    return area
