# SPDX-License-Identifier: Apache-2.0
"""The layout of Foxglove, and of Lichtblick: the robot with its wrenches, efforts joint by joint, modes, diagnostics.

Messages hold numbers by index, and a message path cannot look an index up by name. The node's messages have the order
of the model; what comes in another order is put into that order by a user script (`foxglove_scripts`).

Source: the configurations of the panels in Lichtblick's `suite-base/src/panels`, and its grammar of message paths.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ros2_dyn_tools.layouts.foxglove_scripts import BAND, MEASURED_EFFORT, band_script, measured_effort_script
from ros2_dyn_tools.layouts.shown import EXTERNAL, MEASURED, TERMS, THRESHOLD_COLOUR, Effort, Shown

COLUMNS = 2
WINDOW = 20
"""Duration that the plots show, s."""
MODE_STATUS = "dynamics: mode"
"""Name of the status that tells why the last mode ended."""
GRID = "grid"


def foxglove_layout(shown: Shown) -> str:
    """Return the text of the layout, JSON."""
    efforts = {f"Plot!effort{i}": _efforts(shown, i) for i in range(len(shown.joints))}
    external = {f"Plot!external{i}": _external(shown, i) for i in range(len(shown.joints))}
    panels = _panels(shown) | efforts | external
    panels["Tab!efforts"] = {
        "activeTabIdx": 0,
        "tabs": [
            {"title": "Efforts", "layout": _table([*efforts])},
            {"title": "External efforts", "layout": _table([*external])},
            {
                "title": "Diagnostics",
                "layout": _split("column", ["DiagnosticSummary!all", "DiagnosticStatusPanel!mode"]),
            },
        ],
    }
    buttons = _split("row", ["Indicator!collision", "CallService!reset", "CallService!monitor"])
    left = _split("column", ["3D!robot", _split("column", ["StateTransitions!mode", buttons])], first=60)
    layout = {
        "configById": panels,
        "globalVariables": {},
        "userNodes": {
            "measured-effort": {"name": "measured_effort", "sourceCode": measured_effort_script(shown)},
            "collision-band": {"name": "collision_band", "sourceCode": band_script(shown)},
        },
        "playbackConfig": {"speed": 1},
        "layout": _split("row", [left, "Tab!efforts"], first=42),
    }
    return json.dumps(layout, indent=1) + "\n"


def _panels(shown: Shown) -> dict[str, dict[str, Any]]:
    """Return the panels beside the plots, by their identifiers."""
    return {
        "3D!robot": _scene(shown),
        "StateTransitions!mode": {"isSynced": True, "paths": _transitions(shown)},
        "Indicator!collision": {
            "foxglovePanelTitle": "Collision",
            "path": f"{shown.topic('collision')}.collision",
            "style": "background",
            "fallbackColor": "#a0a0a0",
            "fallbackLabel": "not observed",
            "rules": [
                {"operator": "=", "rawValue": "true", "color": EXTERNAL.colour, "label": "collision"},
                {"operator": "=", "rawValue": "false", "color": "#2ca02c", "label": "none"},
            ],
        },
        "CallService!reset": _button("Reset collision", shown.topic("reset_collision"), "{}"),
        "CallService!monitor": _button("End the mode", shown.topic("set_mode"), '{"mode": "monitor"}'),
        "DiagnosticSummary!all": {
            "topicToRender": "/diagnostics",
            "hardwareIdFilter": shown.robot,
            "minLevel": 0,
            "pinnedIds": [],
            "sortByLevel": True,
        },
        "DiagnosticStatusPanel!mode": {
            "topicToRender": "/diagnostics",
            "selectedHardwareId": shown.robot,
            "selectedName": MODE_STATUS,
        },
    }


def _scene(shown: Shown) -> dict[str, Any]:
    """Return the robot, which moves by /joint_states or /tf, and the arrows of joint wrenches and external wrench."""
    grid = {
        "visible": True,
        "frameLocked": True,
        "label": "Grid",
        "instanceId": GRID,
        "layerId": "foxglove.Grid",
        "size": 2,
        "divisions": 8,
        "lineWidth": 1,
        "color": "#a0a0a4",
        "position": [0, 0, 0],
        "rotation": [0, 0, 0],
    }
    camera = {"perspective": True, "distance": 2.5, "phi": 65, "thetaOffset": 45, "targetOffset": [0, 0, 0.4]}
    camera |= {"target": [0, 0, 0], "targetOrientation": [0, 0, 0, 1], "fovy": 45, "near": 0.01, "far": 100}
    description = shown.topic("robot_description")
    topics = {name: {"visible": True} for name in (shown.topic("wrench_markers"), shown.topic("joint_states"))}
    layers = {GRID: grid}
    if description == "/robot_description":
        topics[description] = {"visible": True}
    else:  # only the topic of this name is a robot by itself
        layers["robot"] = {
            "visible": True,
            "frameLocked": True,
            "label": "Robot",
            "instanceId": "robot",
            "layerId": "foxglove.Urdf",
            "sourceType": "topic",
            "topic": description,
        }
    return {
        "cameraState": camera,
        "followMode": "follow-none",
        "followTf": shown.base_link,
        "scene": {"transforms": {"labelSize": 0.05, "axisScale": 0.1}},
        "transforms": {},
        "topics": topics,
        "layers": layers,
    }


def _transitions(shown: Shown) -> list[dict[str, Any]]:
    collision = shown.topic("collision")
    paths = {
        "mode": f"{shown.topic('mode')}.data",
        "mode and reason": f'/diagnostics.status[:]{{name=="{MODE_STATUS}"}}.message',
        "collision": f"{collision}.collision",
        "contact link": f"{collision}.contact_link",
    }
    return [
        {"value": value, "label": label, "enabled": True, "timestampMethod": "receiveTime"}
        for label, value in paths.items()
    ]


def _button(text: str, service: str, request: str) -> dict[str, Any]:
    return {
        "serviceName": service,
        "requestPayload": request,
        "layout": "vertical",
        "buttonText": text,
        "buttonTooltip": f"Call {service}",
        "editingMode": False,
    }


def _efforts(shown: Shown, i: int) -> dict[str, Any]:
    terms = [_series(each, f"{shown.topic(each.topic)}.effort[{i}]") for each in TERMS]
    return _plot(shown.joints[i], [*terms, _series(MEASURED, f"{MEASURED_EFFORT}.effort[{i}]")])


def _external(shown: Shown, i: int) -> dict[str, Any]:
    threshold = Effort("threshold", "", THRESHOLD_COLOUR)
    band = [_series(threshold, f"{BAND}.{side}[{i}]") for side in ("upper", "lower")]
    return _plot(shown.joints[i], [_series(EXTERNAL, f"{shown.topic(EXTERNAL.topic)}.effort[{i}]"), *band])


def _series(effort: Effort, path: str) -> dict[str, Any]:
    return {
        "value": path,
        "label": effort.label,
        "color": effort.colour,
        "enabled": True,
        "timestampMethod": "receiveTime",
        "showLine": True,
    }


def _plot(title: str, paths: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "foxglovePanelTitle": f"{title}, N m or N",
        "paths": list(paths),
        "showXAxisLabels": True,
        "showYAxisLabels": True,
        "showLegend": True,
        "legendDisplay": "floating",
        "showPlotValuesInLegend": False,
        "isSynced": True,
        "xAxisVal": "timestamp",
        "followingViewWidth": WINDOW,
        "sidebarDimension": 240,
    }


def _table(panels: Sequence[str]) -> Any:
    """Return panels in rows of `COLUMNS`."""
    return _split("column", [_split("row", panels[i : i + COLUMNS]) for i in range(0, len(panels), COLUMNS)])


def _split(direction: str, parts: Sequence[Any], first: float | None = None) -> Any:
    """Return parts beside each other, equally large unless the first one's percentage is given: a tree of pairs."""
    if len(parts) == 1:
        return parts[0]
    percentage = round(100 / len(parts), 3) if first is None else first
    rest = _split(direction, parts[1:])
    return {"direction": direction, "first": parts[0], "second": rest, "splitPercentage": percentage}
