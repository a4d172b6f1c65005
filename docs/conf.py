"""Configuration of the documentation: `make docs` builds it, and so does rosdoc2."""

import os
import re
from typing import Any

project = "ros2_dyn"
author = "ros2_dyn maintainers"
copyright = f"{author}. Licence: Apache-2.0"
version = release = "0.2.0"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_heading_anchors = 3

html_theme = "furo"
html_theme_options: dict[str, object] = {}
html_title = "ros2_dyn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
rosdoc2_settings = {"override_theme": False, "allow_other_extensions": True}

# Docstrings are plain sentences with `code` in backticks.
default_role = "code"
autodoc_typehints = "none"  # docstrings give shapes and units, and arrays would be spelled out in full
autodoc_member_order = "bysource"
autodoc_mock_imports = ["rclpy"]
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, and of rooms that no page shows
# Inventories of other projects are fetched by `make docs-links` only, so that a build needs no network.
intersphinx_mapping = (
    {"python": ("https://docs.python.org/3", None), "numpy": ("https://numpy.org/doc/stable", None)}
    if os.environ.get("ROS2_DYN_DOCS_ONLINE")
    else {}
)
linkcheck_timeout = 20
linkcheck_retries = 2

REPOSITORY = os.environ.get("ROS2_DYN_REPOSITORY", "").rstrip("/")
"""Address of the repository, for links to files outside of this folder. Empty: these are shown without a link."""

SHELL = re.compile(r"\s*(#|ros2|python3? |pip|make|cd|git|apt|rosdep|colcon|export|source|scripts/|sleep|[A-Z]+=)")


def links_of_the_site(app: Any, docname: str, source: list[str]) -> None:
    """Let links show the titles of pages. Those to other files lead to the repository, or are text without it."""
    source[0] = re.sub(r"\[(\w+\.md)\]\((\1(?:#[\w-]+)?)\)", r"[](\2)", source[0])
    replacement = rf"[\1]({REPOSITORY}/blob/main/\2)" if REPOSITORY else r"\1"
    if "/" not in docname:
        source[0] = re.sub(r"\[([^\]]+)\]\(\.\./([^)]*)\)", replacement, source[0])


def name_languages(app: Any, doctree: Any) -> None:
    """Tell the highlighter what indented blocks are."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        if block.get("language") in (None, "none", "default", ""):
            block["language"] = guessed_language(block.astext())


def guessed_language(text: str) -> str:
    """Return the language of a block of code that does not name it."""
    first = text.lstrip("\n").split("\n", 1)[0]
    if ">>> " in text:
        return "pycon"
    if SHELL.match(first):
        return "bash"
    if re.match(r"\s*(from|import) \w", first):
        return "python"
    if re.match(r"\s*[\w/*<>]+:\s*(#.*)?$", first):
        return "yaml"
    return "text"


def setup(app: Any) -> None:
    """Register the two steps above."""
    app.connect("source-read", links_of_the_site)
    app.connect("doctree-read", name_languages)
