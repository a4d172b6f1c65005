# SPDX-License-Identifier: Apache-2.0
"""Contacts read from a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import yaml

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.wall import Wall

KINDS: dict[str, type[AppliedForce] | type[Wall] | type[Hand]] = {c.kind: c for c in (AppliedForce, Wall, Hand)}
"""Classes of contacts by the `kind` of an entry."""


def read_contacts(path: str | Path, model: RobotModel) -> list[Contact]:
    """Read a list of mappings, each with a `kind` of `KINDS` and the fields of its class.

    The default kind is `force`.

    Args:
        path: the YAML file.
        model: the robot, whose links the entries name.

    Raises:
        InputError: the file cannot be read, an entry is invalid, or the robot has no such link.
    """
    try:
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"contact script '{path}'", f"cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise InputError(f"contact script '{path}'", f"expected a list of contacts, got {type(entries).__name__}")
    return [_contact(f"contact script '{path}', entry {i}", entry, model) for i, entry in enumerate(entries, start=1)]


def _contact(where: str, entry: Any, model: RobotModel) -> Contact:
    if not isinstance(entry, Mapping):
        raise InputError(where, f"expected a mapping with link and further fields, got {entry}")
    kind = entry.get("kind", AppliedForce.kind)
    if kind not in tuple(KINDS):
        raise InputError(where, f"kind: expected one of {', '.join(KINDS)}, got {kind}")
    defaults = {field.name: field.default for field in fields(KINDS[kind]) if field.init}
    needed = [name for name, default in defaults.items() if default is MISSING]
    values = {name: value for name, value in entry.items() if name != "kind"}
    if not set(needed) <= set(values) <= set(defaults):
        others = ", ".join(name for name in defaults if name not in needed)
        raise InputError(where, f"expected {', '.join(needed)} and some of {others}; got {entry}")
    for name, value in values.items():
        if isinstance(defaults[name], float) and not isinstance(value, (int, float)):
            raise InputError(where, f"{name}: expected a number, got {value!r}")
    try:
        contact = KINDS[kind](**values)
        model.link_frame(contact.link)
    except (InputError, TypeError) as error:
        raise InputError(where, str(error)) from error
    return contact
