"""Contacts read from a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from ros2_dyn.errors import InputError
from ros2_dyn.mock_arm.contact import Contact
from ros2_dyn.model import RobotModel

FIELDS = tuple(field.name for field in fields(Contact))


def read_contacts(path: str | Path, model: RobotModel) -> list[Contact]:
    """Read a list of contacts, each a mapping of the fields of `Contact`.

    Args:
        path: the file.
        model: the robot, for its links.

    Raises:
        InputError: the file cannot be read, an entry is no contact, or the robot has no such link.
    """
    try:
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"contact script '{path}'", f"cannot be read: {error}") from error
    if not isinstance(entries, list):
        raise InputError(f"contact script '{path}'", f"expected a list of contacts, got {type(entries).__name__}")
    return [_contact(f"contact script '{path}', entry {i}", entry, model) for i, entry in enumerate(entries, start=1)]


def _contact(where: str, entry: Any, model: RobotModel) -> Contact:
    known = isinstance(entry, Mapping) and set(entry) <= set(FIELDS) and {"link", "force"} <= set(entry)
    if not known:
        raise InputError(where, f"expected link, force and some of {', '.join(FIELDS[2:])}; got {entry}")
    try:
        contact = Contact(**entry)
        model.placement(contact.link)
    except (InputError, TypeError) as error:
        raise InputError(where, str(error)) from error
    return contact
