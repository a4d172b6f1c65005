# SPDX-License-Identifier: Apache-2.0
"""Values of declared types as plain ones (numbers, texts, lists and objects of JSON), and back with every check.

What is read is never asked for its type: the reader brings one, and makes the classes that are declared in it and no
others. So a file of unknown origin can hold wrong values, which are refused, and no more.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from ros2_dyn.errors import InputError, Ros2DynError, shorten
from ros2_dyn.model.description_bounds import checked_link
from ros2_dyn.model.finding import Finding
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.robot_model import RobotModel

MAX_ITEMS = 10_000
"""Items of a list or an object: many times those of a message."""
MAX_TEXT = 10_000_000
"""Characters of a text: a robot description of a megabyte is large."""
MAX_INTEGER = 2**63
MAX_NUMBER = float(np.finfo(float).max)
NOT_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
"""How numbers are written that JSON has not."""


class PlainRobot(NamedTuple):
    """A robot model as it is written."""

    name: str
    links: tuple[LinkSpec, ...]
    findings: tuple[Finding, ...]


def to_plain(value: Any) -> Any:
    """Return a value as JSON can hold it: objects for classes, texts for numbers that are not finite."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else repr(float(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return to_plain(value.tolist())
    if isinstance(value, RobotModel):
        return to_plain(PlainRobot(value.name, value.link_specs, value.findings))
    if hasattr(value, "from_values"):
        return to_plain(value.values())
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: to_plain(item) for name, item in value._asdict().items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {part.name: to_plain(getattr(value, part.name)) for part in fields(value) if part.init}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [to_plain(item) for item in value]
    return shorten(str(value))


def from_plain(kind: Any, value: Any, where: str = "value") -> Any:
    """Return a value of a declared type from a plain one.

    Args:
        kind: float, int, bool, str, a named tuple or a data class of such, lists and tuples of them, an array, or a
            class that `from_values` makes and checks, such as the settings.
        value: from JSON.
        where: names the value in errors.

    Raises:
        InputError: the value is none of this type, or a list or text is longer than anything that is meant.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Union or origin is types.UnionType:
        return _from_union(parts, value, where)
    if origin is Literal:
        if value not in parts:
            raise InputError(where, f"expected one of {', '.join(map(str, parts))}; got {_shown(value)}")
        return value
    if origin is np.ndarray:
        return _array(value, where)
    if origin in (tuple, list, Sequence):
        return _list(parts, value, where)
    if kind is RobotModel:
        return _robot(from_plain(PlainRobot, value, where), where)
    if hasattr(kind, "from_values"):
        return _of_values(kind, value, where)
    if hasattr(kind, "_fields") or is_dataclass(kind):
        return _object(kind, value, where)
    return _scalar(kind, value, where)


def _robot(robot: PlainRobot, where: str) -> RobotModel:
    """Return the model of links whose arrays have their shapes and whose parents are links before them."""
    known: set[str | None] = {None}
    for spec in robot.links:
        inertia, axis = spec.inertia, np.zeros(3) if spec.joint is None else spec.joint.axis
        arrays = (spec.X.E, spec.X.r, inertia.mass, inertia.h, inertia.I_origin, axis)
        shapes = tuple(np.shape(array) for array in arrays)
        if shapes != ((3, 3), (3,), (), (3,), (3, 3), (3,)) or not all(np.all(np.isfinite(each)) for each in arrays):
            raise InputError(f"{where}.links", f"'{shorten(spec.link)}' has arrays of other shapes, or not finite")
        if spec.parent not in known or (spec.parent is None) is not (known == {None}):
            raise InputError(f"{where}.links", f"'{shorten(spec.link)}' has no parent before it, or a second root")
        known.add(spec.link)
    if not robot.links:
        raise InputError(f"{where}.links", "there is none")
    try:
        return RobotModel.from_links(robot.name, map(checked_link, robot.links), robot.findings)
    except Ros2DynError as error:
        raise InputError(where, str(error)) from error


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is float:
        return _number(value, where)
    if kind is Hashable:  # the name of a request
        kind = type(value) if isinstance(value, (str, int, type(None))) else str
    fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if fits and kind is int:
        fits = abs(value) <= MAX_INTEGER
    if fits and kind is str:
        fits = len(value) <= MAX_TEXT
    if not fits:
        raise InputError(where, f"expected {kind.__name__}, got {_shown(value)}")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= MAX_NUMBER:
        raise InputError(where, f"expected a number, got {_shown(value)}")
    return float(value)


def _from_union(parts: tuple[Any, ...], value: Any, where: str) -> Any:
    """Return a value of the one of several types that its plain form tells: null, a text, an object or a number."""
    if value is None and type(None) in parts:
        return None
    if isinstance(value, str) and str in parts:
        return _scalar(str, value, where)
    others = [each for each in parts if each not in (type(None), str)]
    return from_plain(others[0] if others else str, value, where)


def _items(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise InputError(where, f"expected a list of at most {MAX_ITEMS} items, got {_shown(value)}")
    return value


def _list(parts: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...] | list[Any]:
    """Return a list of one type, or a tuple of declared ones."""
    items = _items(value, where)
    if len(parts) == 1 or parts[1:] == (Ellipsis,):
        made = [from_plain(parts[0], item, f"{where}[{i}]") for i, item in enumerate(items)]
        return made if len(parts) == 1 else tuple(made)
    if len(items) != len(parts):
        raise InputError(where, f"expected {len(parts)} items, got {len(items)}")
    return tuple(from_plain(part, item, f"{where}[{i}]") for i, (part, item) in enumerate(zip(parts, items)))


def _array(value: Any, where: str, depth: int = 0) -> Any:
    def read(item: Any, depth: int) -> Any:
        if not isinstance(item, list):
            return _number(item, where)
        if depth == 3:
            raise InputError(where, "expected an array of at most three axes")
        return [read(each, depth + 1) for each in _items(item, where)]

    try:
        return np.array(read(value, depth), dtype=float)
    except ValueError as error:
        raise InputError(where, "expected an array, got rows of different lengths") from error


@lru_cache(None)
def _fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field of a class, and whether it has to be given."""
    hints = get_type_hints(kind)
    if hasattr(kind, "_fields"):
        return {name: (hints[name], name not in kind._field_defaults) for name in kind._fields}  # type: ignore[attr-defined]
    return {part.name: (hints[part.name], True) for part in fields(kind) if part.init}


def _object(kind: Any, value: Any, where: str) -> Any:
    declared = _fields(kind)
    if not isinstance(value, dict):
        raise InputError(where, f"expected an object, got {_shown(value)}")
    unknown = [name for name in value if name not in declared]
    missing = [name for name, (_, needed) in declared.items() if needed and name not in value]
    if unknown or missing:
        what = f"there is no field '{shorten(str(unknown[0]))}'" if unknown else f"it has no field '{missing[0]}'"
        raise InputError(where, what)
    given = {name: from_plain(declared[name][0], item, f"{where}.{name}") for name, item in value.items()}
    try:
        return kind(**given)
    except Ros2DynError as error:
        raise InputError(where, str(error)) from error


def _of_values(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise InputError(where, f"expected an object, got {_shown(value)}")
    try:
        return kind.from_values(value)
    except Ros2DynError as error:
        raise InputError(where, str(error)) from error
    except (TypeError, ValueError, OverflowError, RecursionError) as error:  # a number where a list has to be
        raise InputError(where, f"a value is none that its parameter may have: {error}") from error


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return shorten(repr(value))
