# SPDX-License-Identifier: Apache-2.0
"""The state diagrams of the documents have the modes, transitions, functions and constants of the code."""

import ast
import hashlib
import html
import re
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from ros2_dyn.control.mode_state_machine import ModeStateMachine

from ros2_dyn.control.modes import ACTIVE_MODES, Mode

PACKAGE = Path(__file__).parents[3] / "ros2_dyn" / "ros2_dyn"
DOCS = Path(__file__).parents[3] / "docs"
DIAGRAMS = ("modes", "supervision")
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the package is tested outside of a checkout")


class Edge(NamedTuple):
    """A transition."""

    tail: str
    head: str
    attributes: dict[str, str]

    @property
    def label(self) -> str:
        """What is drawn beside it, on one line."""
        return " ".join(self.attributes.get("label", "").replace("\\n", " ").split())


def attributes(text: str) -> dict[str, str]:
    return dict(re.findall(r'(\w+)="([^"]*)"', text))


def nodes(name: str) -> dict[str, dict[str, str]]:
    """Return the attributes of each state of a diagram; the point where it begins is none."""
    text = (DOCS / f"{name}.dot").read_text()
    found = re.findall(r"^  (\w+) \[(.*)\];$", text, re.MULTILINE)
    return {state: attributes(rest) for state, rest in found if state not in ("graph", "node", "edge", "start")}


def edges(name: str) -> list[Edge]:
    text = (DOCS / f"{name}.dot").read_text()
    found = re.findall(r"^  (\w+) -> (\w+)(?: \[(.*)\])?;$", text, re.MULTILINE)
    return [Edge(tail, head, attributes(rest)) for tail, head, rest in found]


MODES = nodes("modes") if DOCS.is_dir() else {}
TRANSITIONS = [(name, edge) for name in DIAGRAMS if DOCS.is_dir() for edge in edges(name) if edge.tail != "start"]


def definition(place: str) -> ast.AST | None:
    """Return what `file.py:Class.method` or `file.py:CONSTANT` names; None where there is no such thing."""
    file, names = place.split(":")
    path = PACKAGE / file
    found: ast.AST | None = ast.parse(path.read_text()) if path.is_file() else None
    for name in names.split("."):
        inside = getattr(found, "body", [])
        found = next((each for each in inside if name in (getattr(each, "name", ""), _assigned(each))), None)
    return found


def _assigned(statement: ast.AST) -> str:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


def test_diagram_of_modes_has_every_mode_and_no_other():
    assert tuple(MODES["active"]["label"].split("\\n")) == ACTIVE_MODES
    others = {each["mode"] for each in MODES.values()} - {"active"}
    assert others | set(ACTIVE_MODES) == set(get_args(Mode))
    assert all(each["label"].split("\\n")[0] == each["mode"] for each in MODES.values() if each["mode"] != "active")


def machine(state: str, mode: str) -> ModeStateMachine:
    """Return a state machine in a state of the diagram."""
    found = ModeStateMachine()
    if mode != "monitor" or state == "leaving":
        found.enter(ACTIVE_MODES[0])
    if state == "leaving":
        found.leave()
    if mode == "stopped":
        found.stop("for a test")
    return found


def seen(found: ModeStateMachine) -> tuple[str, bool]:
    return "active" if found.is_active else found.mode, found.leaving


@pytest.mark.parametrize(
    "edge", [each for name, each in TRANSITIONS if name == "modes"], ids=lambda edge: f"{edge.tail} to {edge.head}"
)
def test_transition_of_the_diagram_is_that_of_the_state_machine(edge):
    """One without an event changes what is commanded, and no mode."""
    moved = machine(edge.tail, MODES[edge.tail]["mode"])
    event = edge.attributes.get("event")
    arguments = {"enter": [ACTIVE_MODES[-1]], "stop": ["for a test"], "abort": ["for a test"]}
    if event is not None:
        getattr(moved, event)(*arguments.get(event, []))
    assert seen(moved) == (MODES[edge.head]["mode"], edge.head == "leaving")


def test_every_event_of_the_state_machine_is_in_the_diagram():
    events = {name for name, each in vars(ModeStateMachine).items() if callable(each) and not name.startswith("_")}
    assert {edge.attributes["event"] for edge in edges("modes") if "event" in edge.attributes} == events


@pytest.mark.parametrize("mode", [mode for mode, each in MODES.items() if each["mode"] != "monitor"])
def test_each_state_that_commands_can_be_left_and_all_but_the_active_are_reached(mode):
    found = edges("modes")
    assert any(edge.tail == mode and edge.attributes.get("event") == "leave" for edge in found)
    assert any(edge.head == mode and edge.tail != mode for edge in found)


@pytest.mark.parametrize("edge", [each for _, each in TRANSITIONS], ids=lambda edge: f"{edge.tail} to {edge.head}")
def test_transition_names_code_that_exists_and_its_constants(edge):
    assert definition(edge.attributes["by"]) is not None, edge.attributes["by"]
    seconds = re.findall(r"([\d.]+) s\b", edge.label)
    assert len(seconds) == ("value" in edge.attributes), "a number that no constant is given for"
    if seconds:
        constant = definition(edge.attributes["value"])
        assert isinstance(constant, ast.Assign)
        assert float(seconds[0]) == ast.literal_eval(constant.value)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_picture_is_drawn_from_its_source_and_shown(name):
    """If this fails: `make diagrams`."""
    picture, source = (DOCS / f"{name}.svg").read_text(), (DOCS / f"{name}.dot").read_bytes()
    assert f"<!-- sha256 of {name}.dot: {hashlib.sha256(source).hexdigest()} -->" in picture
    titles = [html.unescape(title) for title in re.findall(r"<title>(.*)</title>", picture)]
    drawn = sorted(re.sub(r":\w+", "", title) for title in titles if "->" in title)
    assert drawn == sorted(f"{edge.tail}->{edge.head}" for edge in edges(name))
    assert f"({name}.svg)" in (DOCS / "safety.md").read_text()
