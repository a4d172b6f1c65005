# SPDX-License-Identifier: Apache-2.0
"""The robot as a node has it that starts with a parameter file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.settings import Settings


def with_node_parameters(model: RobotModel, path: Path) -> RobotModel:
    """Return a model with the joints, the friction and the rotors of a parameter file of the node.

    Raises:
        InputError: the file cannot be read, or a parameter is wrong.
    """
    try:
        found = _parameters(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError("parameters", f"'{path}' cannot be read: {error}") from error
    if found is None:
        raise InputError("parameters", f"'{path}' has no mapping 'ros__parameters', as parameter files of nodes do")
    return Settings.from_values(found).apply(model)


def _parameters(tree: Any) -> dict[str, Any] | None:
    """Return the first mapping `ros__parameters`, whatever the node above it is called."""
    if not isinstance(tree, dict):
        return None
    if isinstance(found := tree.get("ros__parameters"), dict):
        return found
    return next((found for branch in tree.values() if (found := _parameters(branch)) is not None), None)
