"""What the documents show is what happens."""

import doctest
import os
import re
from pathlib import Path

import pytest

from ros2_dyn.simulation.motion_rules import MOTION_RULES

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parents[1] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the package is tested outside of a checkout")


def test_the_examples_of_the_library_page(monkeypatch):
    """Each of them, with what it prints."""
    monkeypatch.chdir(DOCS.parent)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testfile(os.fspath(DOCS / "library.md"), module_relative=False, optionflags=options)
    assert result.attempted > 40
    assert result.failed == 0


def test_safety_page_has_every_rule_for_the_motion():
    rows = re.findall(r"^\| ([a-z ]+) \|", (DOCS / "safety.md").read_text(), re.MULTILINE)
    assert [kind for kind in rows if kind in MOTION_RULES] == list(MOTION_RULES)


def test_files_and_tests_that_the_safety_page_names_exist():
    page = (DOCS / "safety.md").read_text()
    names = {path.name for path in TESTS.rglob("test_*.py")}
    for file in TESTS.rglob("test_*.py"):
        names.update(re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE))
    mentioned = re.findall(r"`(test_\w+(?:\.py)?)`", page)
    assert mentioned
    assert [name for name in mentioned if name not in names] == []
    modules = re.findall(r"`((?:control|runtime|simulation|ros)/\w+\.py)`", page)
    assert [path for path in modules if not (TESTS.parent / "ros2_dyn" / path).is_file()] == []
