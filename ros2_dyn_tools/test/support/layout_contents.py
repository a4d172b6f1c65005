# SPDX-License-Identifier: Apache-2.0
"""What the layouts of the tools name, read from their texts: topics with fields, and services.

It knows the formats of the tools and nothing of the generator.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import yaml

RVIZ_TYPES = {
    "rviz_default_plugins/Effort": "sensor_msgs/msg/JointState",
    "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
    "rviz_default_plugins/RobotModel": "std_msgs/msg/String",
}
"""Type of the messages that a display shows."""
SCRIPTS = "/studio_script/"
"""Beginning of the topics that Foxglove's user scripts publish."""


class Contents(NamedTuple):
    """What a layout names."""

    fields: set[tuple[str, str]]
    """Topics with a field of their messages, as `wrench.force.x`; empty: the whole message."""
    services: frozenset[str] = frozenset()

    @property
    def topics(self) -> set[str]:
        """Names of the topics."""
        return {topic for topic, _ in self.fields}


def rviz_topics(text: str) -> dict[str, str]:
    """Return the types of the topics of a configuration of RViz."""

    def of(displays: list[dict[str, Any]]) -> dict[str, str]:
        found: dict[str, str] = {}
        for display in displays:
            for key in ("Topic", "Description Topic"):
                if key in display:
                    found[display[key]["Value"]] = RVIZ_TYPES[display["Class"]]
            found |= of(display.get("Displays", []))
        return found

    return of(yaml.safe_load(text)["Visualization Manager"]["Displays"])


def foxglove_contents(text: str) -> Contents:
    """Return what a layout of Foxglove names; of its scripts: what they read."""
    layout = json.loads(text)
    fields: set[tuple[str, str]] = set()
    services: set[str] = set()
    written: set[tuple[str, str]] = set()
    for panel in layout["configById"].values():
        paths = [each["value"] for each in panel.get("paths", [])] + [panel[key] for key in ("path",) if key in panel]
        fields |= {_message_path(path) for path in paths}
        fields |= {(panel[key], "") for key in ("topicToRender",) if key in panel}
        fields |= {(topic, "") for topic in panel.get("topics", {})}
        layers = panel.get("layers", {}).values()
        fields |= {(layer["topic"], "") for layer in layers if layer.get("sourceType") == "topic"}
        services |= {panel[key] for key in ("serviceName",) if key in panel}
    for script in layout["userNodes"].values():
        read, made = _script(script["sourceCode"])
        fields |= read
        written |= made
    scripted = {each for each in fields if each[0].startswith(SCRIPTS)}
    assert scripted <= written, f"no script publishes {scripted - written}"
    return Contents(fields - scripted, frozenset(services))


def _message_path(path: str) -> tuple[str, str]:
    """Return topic and field of a message path, without indices, slices and filters."""
    match = re.fullmatch(r"([\w/]+)\.([\w.]+)", re.sub(r"\[[^]]*\]|\{[^}]*\}", "", path))
    assert match, f"'{path}' is no message path"
    return match[1], match[2]


def _script(code: str) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return topics with fields that a user script reads, and those that it publishes."""
    inputs = re.findall(r'"([^"]+)"', re.search(r"inputs = \[(.*)\]", code)[1])  # type: ignore[index]
    output = re.search(r'output = "(.*)"', code)[1]  # type: ignore[index]
    assert set(re.findall(r'Input<"([^"]+)">', code)) == set(inputs)
    whole = re.findall(r"const \{ (.*) \} = event\.message", code)
    read = [*(name for names in whole for name in names.split(", ")), *re.findall(r"event\.message\.(\w+)", code)]
    made = re.findall(r"(\w+): number\[\]", re.search(r"type Output = \{(.*)\}", code)[1])  # type: ignore[index]
    return {(topic, name) for topic in inputs for name in read}, {(output, name) for name in made}


def plotjuggler_contents(text: str) -> Contents:
    """Return what a layout of PlotJuggler plots; `JOINT/effort` and the like of JointStates are one field `effort`."""
    root = ET.fromstring(text)
    topics = root.find(".//selected_topics").get("value").split(";")  # type: ignore[union-attr]
    snippets = {each.get("name"): each.findtext("linked_source") for each in root.iter("snippet")}
    series = {curve.get("name") for curve in root.iter("curve")}
    assert set(snippets) <= series, "a series is computed and not shown"
    series = {snippets.get(name, name) for name in series}
    return Contents({_series(name, topics) for name in series if name} | {(topic, "") for topic in topics})


def _series(name: str, topics: list[str]) -> tuple[str, str]:
    """Return topic and field of a series; of diagnostics: the key of a status."""
    topic = next((each for each in sorted(topics, key=len, reverse=True) if name.startswith(each + "/")), None)
    assert topic is not None, f"'{name}' is of no topic that is subscribed to"
    rest = re.sub(r"\[\d+\]$", "", name[len(topic) + 1 :]).split("/")
    if topic == "/diagnostics":
        return topic, f"status.{rest[-1]}"
    return topic, rest[-1] if len(rest) == 2 and rest[-1] == "effort" else ".".join(rest)
