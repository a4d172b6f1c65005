# SPDX-License-Identifier: Apache-2.0
"""What the documents show is what happens."""

import doctest
import os
import re
from pathlib import Path

import pytest

from ros2_dyn.cli.main import commands
from ros2_dyn_tools.campaign.families import FAMILIES

TOP = Path(__file__).parents[3]
DOCS = TOP / "docs"
READMES = [path for path in (DOCS.parent / "README.md", DOCS.parent / "README.zh-CN.md") if path.is_file()]
PAGES = [*sorted(DOCS.rglob("*.md")), *READMES, *DOCS.parent.glob("C*.md")]
"""Pages of the documentation, and those at the root."""
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the package is tested outside of a checkout")


def doctested(page: Path) -> doctest.TestResults:
    """Run the examples of a page in the root of the checkout."""
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    return doctest.testfile(os.fspath(page), module_relative=False, optionflags=options)


def test_the_examples_of_the_library_page(monkeypatch):
    """Each of them, with what it prints."""
    monkeypatch.chdir(DOCS.parent)
    result = doctested(DOCS / "library.md")
    assert result.attempted > 40
    assert result.failed == 0


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), *READMES], ids=lambda page: page.name)
def test_the_examples_of_a_page_print_what_it_shows(page, monkeypatch):
    """Those of every page that has any; the library page has a test of its own."""
    monkeypatch.chdir(DOCS.parent)
    if page.name != "library.md" and ">>> " in page.read_text(encoding="utf-8"):
        assert doctested(page).failed == 0


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    found: dict[str, int] = {}
    for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).split("\n"):
        if heading := re.match(r"#{1,6} (.*)", line):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1])
            anchor = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
            found[anchor] = found.get(anchor, -1) + 1
    return {f"{anchor}-{k}" if k else anchor for anchor, count in found.items() for k in range(count + 1)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_local_link_of_a_page_leads_to_a_file_and_a_heading(page):
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]+)\)|^\[[^]]+\]: (\S+)$", prose, flags=re.MULTILINE)
    for link in (first or second for first, second in links):
        if re.match(r"https?://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_every_page_is_in_the_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    entries = set(
        re.findall(r"^([\w/]+)$", "\n".join(re.findall(r"```{toctree}(.*?)```", index, re.DOTALL)), re.MULTILINE)
    )
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} == entries - {"api/index"}
    rooms = {page.stem for page in (DOCS / "api").glob("*.md")} - {"index"}
    listed = (DOCS / "api" / "index.md").read_text(encoding="utf-8").split("```{toctree}")[1]
    assert rooms == set(re.findall(r"^(\w+)$", listed, re.MULTILINE))


def test_commands_page_has_every_command():
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == sorted(commands())


def test_every_file_of_examples_that_the_pages_name_exists():
    page = (DOCS / "examples.md").read_text(encoding="utf-8")
    examples = DOCS.parent / "examples"
    named = set(re.findall(r"^\| `([\w/]+\.(?:py|ipynb))` \|", page, re.MULTILINE))
    there = {
        path.relative_to(examples).as_posix() for path in examples.rglob("*.*") if path.suffix in (".py", ".ipynb")
    }
    assert named == there - {"arm.py", "recorded.py"}


def test_safety_page_has_every_family_and_every_promise_with_its_number():
    page = (DOCS / "safety.md").read_text()
    assert re.findall(r"^\| \*\*([a-z ]+)\*\* \|", page, re.MULTILINE) == ["all", *FAMILIES]
    promises = {promise.text for family in FAMILIES.values() for promise in family.kept_promises()}
    assert [text for text in sorted(promises) if text not in page] == []


def test_files_and_tests_that_the_safety_page_names_exist():
    page = (DOCS / "safety.md").read_text()
    files = [file for package in ("ros2_dyn", "ros2_dyn_tools") for file in (TOP / package / "test").rglob("test_*.py")]
    names = {file.name for file in files}
    for file in files:
        names.update(re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE))
    mentioned = re.findall(r"`(test_\w+(?:\.py)?)`", page)
    assert mentioned
    assert [name for name in mentioned if name not in names] == []
    modules = re.findall(r"`((?:control|runtime|simulation|ros)/\w+\.py)`", page)
    assert [path for path in modules if not (TOP / "ros2_dyn" / "ros2_dyn" / path).is_file()] == []
