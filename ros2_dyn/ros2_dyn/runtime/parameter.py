# SPDX-License-Identifier: Apache-2.0
"""What a parameter is: its description, and the check of its values."""

from __future__ import annotations

from dataclasses import field
from math import isfinite
from typing import Any, NamedTuple

from ros2_dyn.errors import InputError

LISTS = (tuple[str, ...], tuple[float, ...])
"""The types of parameters that are lists."""


class About(NamedTuple):
    """What is known of a parameter besides its name, type and default."""

    text: str
    """Its meaning and unit, in sentences."""
    group: str
    """The heading that it stands under in the parameter file."""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    """The values that are allowed; all for an empty tuple."""
    per_joint: bool = False
    """Whether it is a list with a number for each joint in `joints`."""
    signed: bool = False
    """Whether the numbers of such a list may be negative."""
    locked: bool = False
    """Whether it stays as it is while a mode commands."""
    read_only: bool = False
    """Whether it is set once, at the start of the node."""
    example: Any = None
    """A value for the parameter file, where the default is an empty list."""


def parameter(default: Any, text: str, *, group: str, **about: Any) -> Any:
    """Return the field of a parameter with its default, its meaning and what else is known of it."""
    return field(default=default, metadata={"about": About(text, group, **about)})


def check_value(name: str, kind: Any, value: Any, about: About) -> None:
    """Check that a parameter may have a value.

    Args:
        name: the parameter.
        kind: its type: str, bool, int, float, or one of `LISTS`.
        value: the value.
        about: what is known of the parameter.

    Raises:
        InputError: it may not.
    """
    if kind in LISTS:
        for item in value:
            _check_item(name, item, about, str if kind == LISTS[0] else float)
    elif not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise InputError(name, f"expected {kind.__name__}, got {value!r}")
    elif kind in (int, float):
        low, high = about.low, about.high
        if not isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
            raise InputError(name, f"expected a number from {low} to {high}, got {value}")
    elif about.choices and value not in about.choices:
        raise InputError(name, f"expected one of {', '.join(about.choices)}; got '{value}'")


def _check_item(name: str, item: Any, about: About, kind: type) -> None:
    if kind is str:
        if not isinstance(item, str) or (about.choices and item not in about.choices):
            allowed = f"some of {', '.join(about.choices)}" if about.choices else "names"
            raise InputError(name, f"expected {allowed}; got {item!r}")
    elif isinstance(item, bool) or not isinstance(item, (int, float)) or not isfinite(item):
        raise InputError(name, f"expected finite numbers, got {item!r}")
    elif about.per_joint and not about.signed and item < 0:
        raise InputError(name, f"expected numbers that are not negative, got {item}")
    elif (about.low is not None and item < about.low) or (about.high is not None and item > about.high):
        raise InputError(name, f"expected numbers from {about.low} to {about.high}, got {item}")
