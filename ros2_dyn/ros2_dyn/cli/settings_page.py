# SPDX-License-Identifier: Apache-2.0
"""The texts that follow from the parameters: the parameter file of the node, and the page of the parameters."""

from __future__ import annotations

import json
from textwrap import wrap
from typing import Any

from ros2_dyn.control.parameter import LISTS, Parameter
from ros2_dyn.runtime.settings import Settings

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
- *per joint*: one number for each joint in `robot.joints`, in that order.
"""


def parameter_file() -> str:
    """Return the text of `config/dynamics.yaml`."""
    blocks = []
    for group in Settings().groups():
        indent = " " * (6 if group.NAME else 4)
        opening = f"    {group.NAME}:\n" if group.NAME else ""
        blocks.append(f"    # ---- {group.TITLE}\n{opening}")
        blocks += [_yaml_entry(indent, key, each) for key, each in group.parameters().items()]
    return HEADER + "\n".join(blocks)


def parameter_page() -> str:
    """Return the text of `docs/parameters.md`."""
    parts = [PAGE_HEADER]
    for group in Settings().groups():
        rows = ["| name | type | default | range | meaning |", "| --- | --- | --- | --- | --- |"]
        rows += [_row(each) for each in group.parameters().values()]
        parts.append(f"## {group.TITLE}\n\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _yaml_entry(indent: str, key: str, each: Parameter) -> str:
    notes = " Set once, at the start." if each.read_only else " Locked while a mode commands." if each.locked else ""
    comment = "".join(f"{indent}# {line}\n" for line in wrap(each.text + notes, 108 - len(indent)))
    if each.is_list and not each.default:
        return f"{comment}{indent}# {key}: {_value(each.example)}\n"
    return f"{comment}{indent}{key}: {_value(each.default)}\n"


def _row(each: Parameter) -> str:
    kind = {LISTS[0]: "list of strings", LISTS[1]: "list of floats", str: "string"}.get(each.kind) or each.kind.__name__
    shown = "not set" if each.is_list and not each.default else f"`{_value(each.default)}`"
    flags = [("fixed", each.read_only), ("locked", each.locked), ("per joint", each.per_joint)]
    meaning = each.text + "".join(f" *{flag}*" for flag, is_set in flags if is_set)
    meaning = meaning.replace("|", chr(92) + "|")
    return f"| `{each.name}` | {kind} | {shown} | {_range(each)} | {meaning} |"


def _range(each: Parameter) -> str:
    if each.choices:
        return ", ".join(f"`{choice}`" for choice in each.choices)
    if each.low is None:
        return ""
    return f"{each.low:g} or more" if each.high is None else f"{each.low:g} to {each.high:g}"


def _value(value: Any) -> str:
    """Return a value as YAML."""
    return json.dumps(list(value) if isinstance(value, (list, tuple)) else value)
