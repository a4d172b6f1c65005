"""The README's example does what it says."""

import re
import textwrap
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.skipif(not README.is_file(), reason="the package is tested outside of a checkout of the repository")
def test_the_library_example_runs(monkeypatch, capsys):
    """Word for word."""
    monkeypatch.chdir(README.parent)
    text = README.read_text(encoding="utf-8")
    (example,) = re.findall(r"\n((?: {4}.*\n|\n)*? {4}print\(kernel\.source\)\n)", text[text.index("## The library") :])
    exec(compile(textwrap.dedent(example), "README.md", "exec"), {})
    assert "def kernel(q, qd, qdd, effort, gravity):" in capsys.readouterr().out
