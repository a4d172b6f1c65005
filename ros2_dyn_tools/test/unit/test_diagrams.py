# SPDX-License-Identifier: Apache-2.0
"""The state diagrams of the documents have the phases, transitions, functions and constants of the code."""

import ast
import hashlib
import html
import os
import re
import runpy
from pathlib import Path
from typing import NamedTuple

import pytest

from ros2_dyn.control.stop.phases import PHASES
from ros2_dyn.control.stop.phases import TRANSITIONS as PHASE_TRANSITIONS

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


def edges(name: str) -> list[Edge]:
    text = (DOCS / f"{name}.dot").read_text()
    found = re.findall(r"^  (\w+) -> (\w+)(?: \[(.*)\])?;$", text, re.MULTILINE)
    return [Edge(tail, head, attributes(rest)) for tail, head, rest in found]


TRANSITIONS = [edge for edge in (edges("supervision") if DOCS.is_dir() else []) if edge.tail != "start"]


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


def test_page_and_drawing_have_the_phases_of_the_code():
    """If this fails: `python scripts/stop_table.py && make diagrams`."""
    made = runpy.run_path(os.fspath(DOCS.parent / "scripts" / "stop_table.py"))
    assert made["tables"]() in (DOCS / "safety.md").read_text()
    assert made["drawing"]() == (DOCS / "modes.dot").read_text()


def test_every_phase_is_reached_and_every_phase_that_commands_can_be_left():
    found = {(each.before, each.signal): each.after for each in PHASE_TRANSITIONS}
    assert len(found) == len(PHASE_TRANSITIONS)
    assert {each.after for each in PHASE_TRANSITIONS} == set(PHASES)
    for phase in set(PHASES) - {"silent"}:
        assert phase == "braking" or found[phase, "entered"] == "active"
        assert phase in ("leaving", "ending") or found[phase, "left"] == "leaving"


@pytest.mark.parametrize("edge", TRANSITIONS, ids=lambda edge: f"{edge.tail} to {edge.head}")
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
