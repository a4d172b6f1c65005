# SPDX-License-Identifier: Apache-2.0
"""What the README and the pages show is there, and does what they say."""

import re
import textwrap
from pathlib import Path

import pytest

README = Path(__file__).parents[3] / "README.md"


@pytest.mark.skipif(not README.is_file(), reason="the package is tested outside of a checkout of the repository")
def test_the_library_example_runs(monkeypatch, capsys):
    """Word for word."""
    monkeypatch.chdir(README.parent)
    text = (README.parent / "docs" / "library.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"\n((?: {4}.*\n|\n)*? {4}print\(kernel\.source\)\n)", text[text.index("## In short") :])
    exec(compile(textwrap.dedent(example), "library.md", "exec"), {})
    assert "def kernel(q, qd, qdd, tau, gravity):" in capsys.readouterr().out


@pytest.mark.skipif(not README.is_file(), reason="the package is tested outside of a checkout of the repository")
@pytest.mark.parametrize("page", ["sources.md", "node.md"])
def test_every_file_and_test_that_a_page_names_exists(page):
    """So that the page cannot go stale."""
    package, tools = README.parent / "ros2_dyn" / "ros2_dyn", README.parent / "ros2_dyn_tools" / "ros2_dyn_tools"
    names = re.findall(r"`([^`]+)`", (README.parent / "docs" / page).read_text(encoding="utf-8"))
    tests = list(README.parent.glob("ros2_dyn*/test/**/test_*.py"))
    defined = "\n".join(file.read_text(encoding="utf-8") for file in tests)
    for name in names:
        if name.startswith("test_"):
            assert name in {file.name for file in tests} or f"def {name}(" in defined, name
        elif name.endswith(".py"):
            assert (package / name).is_file() or (tools / name.removeprefix("tools/")).is_file(), name
    assert sum(name.startswith("test_") for name in names) > 15
