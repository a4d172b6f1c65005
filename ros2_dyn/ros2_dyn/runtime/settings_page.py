# SPDX-License-Identifier: Apache-2.0
"""The texts that follow from the parameters: the parameter file of the node, and the page of the parameters."""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import groupby
from textwrap import wrap
from typing import Any

from ros2_dyn.runtime.parameter import LISTS, About
from ros2_dyn.runtime.settings import ABOUT, TYPES, Settings

WIDTH = 110
"""Maximum width of a comment, characters."""
HEADER = """\
# The parameters of the node `dynamics`, with their defaults. Generated: python -m ros2_dyn parameters --yaml
# Parameters that are commented out are not set; their values are examples.
/**/dynamics:
  ros__parameters:
"""
PAGE_HEADER = """\
# Parameters

Parameters of the node `dynamics`. `config/dynamics.yaml` has all of them with their defaults. A change of several
parameters is taken as a whole or rejected as a whole. Generated: `python -m ros2_dyn parameters --page`.

- *fixed*: set once, at the start of the node.
- *locked*: cannot be changed while a mode commands.
- *per joint*: one number for each joint in `joints`, in that order.
"""
TYPE_NAMES = {
    str: "string",
    bool: "bool",
    int: "int",
    float: "float",
    LISTS[0]: "list of strings",
    LISTS[1]: "list of floats",
}


def parameter_file() -> str:
    """Return the text of `config/dynamics.yaml`."""
    blocks = []
    for group, names in _groups():
        blocks.append(f"    # ---- {group}\n")
        blocks += [_yaml_entry(name) for name in names]
    return HEADER + "\n".join(blocks)


def parameter_page() -> str:
    """Return the text of `docs/parameters.md`."""
    parts = [PAGE_HEADER]
    for group, names in _groups():
        rows = ["| name | type | default | range | meaning |", "| --- | --- | --- | --- | --- |"]
        rows += [_row(name) for name in names]
        parts.append(f"## {group}\n\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _groups() -> list[tuple[str, list[str]]]:
    """Return the headings, each with the names of its parameters, in the order of the settings."""
    names = [each.name for each in fields(Settings)]
    return [(group, list(members)) for group, members in groupby(names, lambda name: ABOUT[name].group)]


def _yaml_entry(name: str) -> str:
    about, default = ABOUT[name], getattr(Settings(), name)
    comment = "".join(f"    # {line}\n" for line in wrap(about.text + _notes(about), WIDTH - 6))
    if TYPES[name] in LISTS and not default:
        return f"{comment}    # {name}: {_value(about.example)}\n"
    return f"{comment}    {name}: {_value(default)}\n"


def _notes(about: About) -> str:
    return " Set once, at the start." if about.read_only else " Locked while a mode commands." if about.locked else ""


def _row(name: str) -> str:
    about, default = ABOUT[name], getattr(Settings(), name)
    shown = "not set" if TYPES[name] in LISTS and not default else f"`{_value(default)}`"
    flags = [("fixed", about.read_only), ("locked", about.locked), ("per joint", about.per_joint)]
    meaning = about.text + "".join(f" *{flag}*" for flag, is_set in flags if is_set)
    return (
        f"| `{name}` | {TYPE_NAMES[TYPES[name]]} | {shown} | {_range(about)} | {meaning.replace('|', chr(92) + '|')} |"
    )


def _range(about: About) -> str:
    if about.choices:
        return ", ".join(f"`{choice}`" for choice in about.choices)
    return "" if about.low is None else f"{about.low:g} to {about.high:g}"


def _value(value: Any) -> str:
    """Return a value as YAML."""
    return json.dumps(list(value) if isinstance(value, (list, tuple)) else value)
