# SPDX-License-Identifier: Apache-2.0
"""YAML of unknown origin: only text, lists and mappings of text are made from it, and every part is checked by its use.

Numbers are read as Python reads them, so that 1e-6 is one; YAML 1.1 takes it for a text. Names such as yes and 12 are
names. A problem is an InputError that names the part by its keys.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite
from typing import Any

from ros2_dyn.errors import InputError, shorten
from ros2_dyn.model.description_bounds import MAX_LINKS, MAX_NAME


def parse_yaml(text: str) -> Any:
    """Return what a text holds, as text, lists and dicts.

    Raises:
        InputError: it is no YAML, a key is given twice, or it uses aliases, by which a short text may be endless.
    """
    import yaml

    class Loader(yaml.BaseLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("it uses an alias, which is not expanded")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(names) != len(node.value):
                raise yaml.YAMLError("expected names as keys")
            if twice := [name for k, name in enumerate(names) if name in names[:k]]:
                raise yaml.YAMLError(f"the key '{shorten(twice[0], MAX_NAME)}' is given twice")
            return super().construct_mapping(node, deep=deep)

    try:
        return yaml.load(text, Loader)
    except RecursionError as error:
        raise InputError("text", "it is nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:
        raise InputError("text", f"it cannot be read as YAML: {' '.join(str(error).split())}") from error


def mapping(where: str, data: Any, known: Collection[str] | None = None) -> dict[str, Any]:
    """Return data as a new dict by names; all of them known, where these are given, or at most `MAX_LINKS`."""
    if not isinstance(data, dict):
        raise InputError(where, f"expected a mapping, got {_shown(data)}")
    if known is None and len(data) > MAX_LINKS:
        raise InputError(where, f"expected at most {MAX_LINKS} names, got {len(data)}")
    for name in data:
        if known is not None and name not in known:
            raise InputError(where, f"unknown key '{shorten(name, MAX_NAME)}'; expected {', '.join(known)}")
    return {string(where, name): value for name, value in data.items()}


def complete(where: str, data: Any, names: Collection[str]) -> dict[str, Any]:
    """Return data as a dict that has all of the names, and no other."""
    parts = mapping(where, data, names)
    if missing := [name for name in names if name not in parts]:
        raise InputError(where, f"'{missing[0]}' is missing")
    return parts


def sequence(where: str, data: Any) -> list[Any]:
    """Return data as a list of at most `MAX_LINKS` items."""
    if not isinstance(data, list) or len(data) > MAX_LINKS:
        raise InputError(where, f"expected a list of at most {MAX_LINKS} items, got {_shown(data)}")
    return data


def string(where: str, data: Any, most: int = MAX_NAME) -> str:
    """Return data as a text of a bounded number of characters."""
    if not isinstance(data, str) or len(data) > most:
        raise InputError(where, f"expected a text of at most {most} characters, got {_shown(data)}")
    return data


def number(where: str, data: Any) -> float:
    """Return data as a finite number."""
    try:
        value = float(data) if isinstance(data, str) else float("nan")
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InputError(where, f"expected a finite number, got {_shown(data)}")
    return value


def numbers(where: str, data: Any) -> dict[str, float]:
    """Return data as finite numbers by name."""
    return {name: number(f"{where}: {name}", value) for name, value in mapping(where, data).items()}


def vector(where: str, data: Any, length: int) -> tuple[float, ...]:
    """Return data as a number of finite numbers."""
    items: Sequence[Any] = sequence(where, data)
    if len(items) != length:
        raise InputError(where, f"expected {length} numbers, got {len(items)}")
    return tuple(number(where, each) for each in items)


def _shown(data: Any) -> str:
    if isinstance(data, str):
        return repr(shorten(data, MAX_NAME))
    return "nothing" if data is None else f"a {'mapping' if isinstance(data, dict) else 'list'} of {len(data)} items"
