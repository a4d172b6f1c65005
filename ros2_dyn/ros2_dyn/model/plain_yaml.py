# SPDX-License-Identifier: Apache-2.0
"""YAML files as ROS 2 reads them: without aliases, by which a short text may be endless, and with each key once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ros2_dyn.errors import InputError, shorten
from ros2_dyn.model.description_bounds import MAX_NAME, MAX_TEXT, read_text

FLOAT = re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+\Z")
"""Numbers such as 1e-6, which YAML 1.1 takes for a text."""


def read_yaml(path: str | Path, argument: str) -> Any:
    """Return what a YAML file holds, as text, numbers, lists and dicts.

    Args:
        path: of the file.
        argument: name of what is read, for the error.

    Raises:
        InputError: the file cannot be read, is too long or no YAML, uses an alias, or has a key twice.
    """
    import yaml  # here, because it takes 20 ms, and who makes a model of a URDF does not need it

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("it uses an alias, which is not expanded")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            names = [key.value for key, _ in node.value]
            if twice := [str(name) for k, name in enumerate(names) if name in names[:k]]:
                raise yaml.YAMLError(f"the key '{shorten(twice[0], MAX_NAME)}' is given twice")
            return super().construct_mapping(node, deep=deep)

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", FLOAT, list("-+0123456789"))
    try:
        text = read_text(path)
        if len(text) > MAX_TEXT:
            raise yaml.YAMLError(f"it has more than {MAX_TEXT} characters")
        return yaml.load(text, Loader)
    except RecursionError as error:
        raise InputError(argument, f"'{path}' cannot be read: it is nested too deeply") from error
    except (OSError, UnicodeDecodeError, ValueError, yaml.YAMLError) as error:
        raise InputError(argument, f"'{path}' cannot be read: {' '.join(str(error).split())}") from error
