# SPDX-License-Identifier: Apache-2.0
"""Print docs/messages.md, which is made from the messages and services of ros2_dyn_interfaces.

    python scripts/interfaces_page.py > docs/messages.md

A comment above a field describes it, and the comment before the first blank line describes the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

INTERFACES = Path(__file__).parents[1] / "ros2_dyn_interfaces"
HEAD = """# Messages and services

All fields of the package `ros2_dyn_interfaces`. Topics and services that use them are in
[node.md](node.md#topics-and-services) and [mock_arm.md](mock_arm.md); units, frames and signs in
[conventions.md](conventions.md). Generated: `python scripts/interfaces_page.py`.
"""
FIELD = re.compile(r"(?P<type>[\w/]+(?:\[\d*\])?) +(?P<name>\w+)(?: *= *(?P<value>\S+))?(?: +(?P<default>\S+))?$")


class Field(NamedTuple):
    """A field or a constant."""

    type: str
    name: str
    value: str
    about: str


def about_and_fields(text: str) -> tuple[str, list[Field]]:
    """Return the description of a part of an interface, and its fields. Fields without a blank line share a comment.

    Raises:
        ValueError: a line is neither a comment nor a field.
    """
    about, comment, fields, first = "", [], [], True
    for line in [*text.strip("\n").split("\n"), ""]:
        if line.startswith("#"):
            comment.append(line.removeprefix("#").strip())
        elif not line.strip():
            if first and comment and not fields:
                about = " ".join(comment)
            first, comment = False, []
        elif match := FIELD.match(line):
            default = match["value"] or match["default"] or ""
            fields.append(Field(match["type"], match["name"], default, " ".join(comment)))
            if match["value"]:  # each constant has a comment of its own
                comment = []
        else:
            raise ValueError(f"neither a comment nor a field: {line}")
    return about, fields


def table(fields: list[Field]) -> Iterator[str]:
    """Yield the lines of a table."""
    if not fields:
        yield "No fields."
        return
    yield from ("| field | type | meaning |", "| --- | --- | --- |")
    for before, field in zip([None, *fields], fields):
        name = f"`{field.name}`" + (f" = `{field.value}`" if field.value else "")
        same = before is not None and field.about == before.about
        yield f"| {name} | {field.type} | {'As above.' if same else field.about} |"


def section(path: Path) -> Iterator[str]:
    """Yield the lines about a message or a service."""
    request, separator, response = path.read_text(encoding="utf-8").partition("---\n")
    about, fields = about_and_fields(request)
    yield from ("", f"### {path.stem}", "", about, "")
    if separator:
        yield from ("*Request*", "")
    yield from table(fields)
    if separator:
        yield from ("", "*Response*", "", *table(about_and_fields(response)[1]))


def page() -> str:
    """Return the page."""
    lines = [HEAD.rstrip("\n")]
    for folder, title in (("msg", "Messages"), ("srv", "Services")):
        lines += ["", f"## {title}"]
        for path in sorted((INTERFACES / folder).glob(f"*.{folder}")):
            lines += section(path)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
