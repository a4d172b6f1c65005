# SPDX-License-Identifier: Apache-2.0
"""The configuration of RViz: the robot, wrenches as arrows, efforts as circles about the joints' axes."""

from __future__ import annotations

from typing import Any

import yaml

from ros2_dyn_tools.layouts.shown import EXTERNAL, FORCE_COLOUR, MEASURED, MOMENT_COLOUR, TERMS, Effort, Shown

HEADER = """\
# What RViz shows of the node `dynamics`: the robot, forces (orange) and moments (blue) through its joints, and efforts
# as circles about its axes. Arrows of forces: 2 mm/N; of moments: 1 cm/(N m). The wrench from outside (red): 1 cm/N.
# Generated: python -m ros2_dyn layouts ROBOT.urdf --output DIR
"""
JOINT_SCALE, EXTERNAL_SCALE = 0.002, 0.01
"""Lengths of the arrows of forces, m/N; those of moments are five times as long per N m, as in ~/wrench_markers."""


def rviz_config(shown: Shown) -> str:
    """Return the text of the configuration."""
    tree = {
        "Panels": [
            _panel("Displays", **{"Property Tree Widget": {"Expanded": ["/Global Options1"], "Splitter Ratio": 0.5}}),
            _panel("Views"),
            _panel("Time", SyncMode=0, SyncSource=""),
        ],
        "Visualization Manager": {
            "Class": "",
            "Displays": _displays(shown),
            "Enabled": True,
            "Global Options": {
                "Background Color": "48; 48; 48",
                "Fixed Frame": shown.base_link,
                "Frame Rate": 30,
            },
            "Name": "root",
            "Tools": [{"Class": f"rviz_default_plugins/{tool}"} for tool in TOOLS],
            "Value": True,
            "Views": {"Current": VIEW},
        },
        "Window Geometry": {"Height": 900, "Width": 1400},
    }
    return HEADER + yaml.safe_dump(tree, sort_keys=False, width=120)


TOOLS = ("Interact", "MoveCamera", "FocusCamera", "Measure")
VIEW = {
    "Class": "rviz_default_plugins/Orbit",
    "Name": "Current View",
    "Distance": 2.5,
    "Focal Point": {"X": 0, "Y": 0, "Z": 0.4},
    "Pitch": 0.4,
    "Yaw": 0.8,
    "Target Frame": "<Fixed Frame>",
}


def _panel(name: str, **settings: Any) -> dict[str, Any]:
    return {"Class": f"rviz_common/{name}", "Name": name, **settings}


def _display(kind: str, name: str, enabled: bool, **settings: Any) -> dict[str, Any]:
    return {"Class": f"rviz_default_plugins/{kind}", "Name": name, "Enabled": enabled, "Value": enabled, **settings}


def _topic(name: str, reliable: bool = True, latched: bool = False) -> dict[str, Any]:
    return {
        "Depth": 1 if latched else 5,
        "Durability Policy": "Transient Local" if latched else "Volatile",
        "History Policy": "Keep Last",
        "Reliability Policy": "Reliable" if reliable else "Best Effort",
        "Value": name,
    }


def _displays(shown: Shown) -> list[dict[str, Any]]:
    grid = {"Cell Size": 0.25, "Plane Cell Count": 8, "Color": "160; 160; 164"}
    description = {
        "Description Source": "Topic",
        "Description Topic": _topic(shown.topic("robot_description"), True, True),
    }
    markers = _topic(shown.topic("wrench_markers"))
    wrenches = [
        _wrench(name, True, shown.topic(f"joint_wrench/{name}"), FORCE_COLOUR, JOINT_SCALE, 0.02)
        for name in shown.wrench_joints
    ]
    external = shown.topic("external_wrench")
    return [
        _display("Grid", "Grid", True, **grid),
        _display("RobotModel", "Robot", True, Alpha=0.5, **description, **{"Visual Enabled": True}),
        _display("MarkerArray", "Wrenches as markers", True, Topic=markers),
        {"Class": "rviz_common/Group", "Name": "Joint wrenches", "Enabled": False, "Displays": wrenches},
        _wrench("External wrench", True, external, EXTERNAL.colour, EXTERNAL_SCALE, 0.04),
        *(_effort(each, each.topic == "inverse_dynamics", shown) for each in (*TERMS, EXTERNAL, MEASURED)),
    ]


def _wrench(name: str, enabled: bool, topic: str, colour: str, scale: float, width: float) -> dict[str, Any]:
    settings = {
        "Accept NaN Values": False,
        "Alpha": 1,
        "Force Color": _rgb(colour),
        "Torque Color": _rgb(MOMENT_COLOUR),
        "Force Arrow Scale": scale,
        "Torque Arrow Scale": 5 * scale,
        "Arrow Width": width,
        "History Length": 1,
        "Topic": _topic(topic),
    }
    return _display("Wrench", name, enabled, **settings)


def _effort(effort: Effort, enabled: bool, shown: Shown) -> dict[str, Any]:
    """Return circles about the axes; the driver of an arm may publish its states with best effort."""
    settings = {
        "Alpha": 0.7,
        "Width": 0.01,
        "Scale": 0.5,
        "History Length": 1,
        "Robot Description": shown.topic("robot_description"),
        "Topic": _topic(shown.topic(effort.topic), reliable=effort != MEASURED),
    }
    return _display("Effort", f"Effort, {effort.label}", enabled, **settings)


def _rgb(colour: str) -> str:
    return "; ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
