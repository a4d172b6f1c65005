# SPDX-License-Identifier: Apache-2.0
"""What a parameter is, and a group of parameters: a frozen dataclass whose values are checked."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from math import isfinite
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_origin, get_type_hints

from ros2_dyn.errors import InputError

LISTS = (tuple[str, ...], tuple[float, ...])
"""The types of parameters that are lists."""


class Parameter(NamedTuple):
    """What is known of a parameter."""

    name: str
    """Its name with that of its group: `hand_guiding.damping`."""
    kind: Any
    """Its type: str, bool, int, float, or one of `LISTS`."""
    default: Any
    text: str
    """Its meaning and unit, in sentences."""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    """The values that are allowed; all for an empty tuple."""
    size: int | None = None
    """How many numbers a list has."""
    per_joint: bool = False
    """Whether it is a list with a number for each joint in `robot.joints`."""
    signed: bool = False
    """Whether the numbers of such a list may be negative."""
    locked: bool = False
    """Whether it stays as it is while a mode commands."""
    read_only: bool = False
    """Whether it is set once, at the start of the node."""
    example: Any = None
    """A value for the parameter file, where the default is an empty list."""

    @property
    def is_list(self) -> bool:
        """Whether it is a list, which is empty where it is not set."""
        return self.kind in LISTS

    def checked(self, value: Any) -> Any:
        """Return a value as it is kept: lists as tuples, whole numbers as floats where it is one, None as empty list.

        Raises:
            InputError: the parameter may not have the value.
        """
        if self.is_list:
            items = tuple(() if value is None else value)
            self._check_list(items)
            return items
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, self.kind) or (self.kind is not bool and isinstance(value, bool)):
            raise InputError(self.name, f"expected {self.kind.__name__}, got {value!r}")
        if self.kind in (int, float) and not self._in_range(value):
            raise InputError(self.name, f"expected a number from {self.low} to {self.high}, got {value}")
        if self.choices and value not in self.choices:
            raise InputError(self.name, f"expected one of {', '.join(self.choices)}; got '{value}'")
        return value

    def _in_range(self, number: float) -> bool:
        low, high = self.low, self.high
        return isfinite(number) and (low is None or number >= low) and (high is None or number <= high)

    def _check_list(self, items: tuple[Any, ...]) -> None:
        if self.size is not None and len(items) != self.size:
            raise InputError(self.name, f"expected {self.size} numbers, got {list(items)}")
        for item in items:
            if self.kind == LISTS[0]:
                self._check_name(item)
            else:
                self._check_number(item)
        if self.kind == LISTS[0] and len(set(items)) != len(items):
            raise InputError(self.name, f"expected each name once, got {list(items)}")

    def _check_name(self, item: Any) -> None:
        if not isinstance(item, str) or (self.choices and item not in self.choices):
            allowed = f"some of {', '.join(self.choices)}" if self.choices else "names"
            raise InputError(self.name, f"expected {allowed}; got {item!r}")

    def _check_number(self, item: Any) -> None:
        if isinstance(item, bool) or not isinstance(item, (int, float)) or not isfinite(item):
            raise InputError(self.name, f"expected finite numbers, got {item!r}")
        if self.per_joint and not self.signed and item < 0:
            raise InputError(self.name, f"expected numbers that are not negative, got {item}")
        if not self._in_range(item):
            most = "" if self.high is None else f" to {self.high}"
            raise InputError(self.name, f"expected numbers from {self.low}{most}, got {item}")


def parameter(default: Any, text: str, **about: Any) -> Any:
    """Return the field of a group with its default, its meaning, and what else `Parameter` knows of it."""
    return field(default=default, metadata={"text": text, **about})


@dataclass(frozen=True)
class Group:
    """Parameters of one part, each a field that `parameter` makes; a subclass is a frozen dataclass.

    Raises:
        InputError: a value is outside of its range, or is none of those allowed.
    """

    NAME: ClassVar[str]
    """What its parameters' names begin with; empty for parameters of no group."""
    TITLE: ClassVar[str]
    """The heading of its parameters in the documentation."""

    def __init_subclass__(cls, *, name: str, title: str) -> None:
        cls.NAME, cls.TITLE = name, title

    def __post_init__(self) -> None:
        """Check every value, and freeze lists."""
        for key, each in self.parameters().items():
            object.__setattr__(self, key, each.checked(getattr(self, key)))

    @property
    def links(self) -> tuple[str, ...]:
        """The links that the values name, which a robot has to have; an empty name is its base link."""
        return ()

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """Return the parameters by the names of their fields."""
        return _parameters(cls)  # type: ignore[arg-type]  # classes can be hashed


@cache
def _parameters(group: type[Group]) -> dict[str, Parameter]:
    types, found = get_type_hints(group), {}
    for each in fields(group):
        kind, about = types[each.name], dict(each.metadata)
        if get_origin(kind) is Literal:
            kind, about["choices"] = str, get_args(kind)
        name = f"{group.NAME}.{each.name}" if group.NAME else each.name
        found[each.name] = Parameter(name, kind, each.default, **about)
    return found
