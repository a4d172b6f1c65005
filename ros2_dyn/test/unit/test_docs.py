"""What the documents show is what happens."""

import doctest
import os
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.skipif(not DOCS.is_dir(), reason="the package is tested outside of a checkout of the repository")
def test_the_examples_of_the_library_page(monkeypatch):
    """Each of them, with what it prints."""
    monkeypatch.chdir(DOCS.parent)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testfile(os.fspath(DOCS / "library.md"), module_relative=False, optionflags=options)
    assert result.attempted > 40
    assert result.failed == 0
