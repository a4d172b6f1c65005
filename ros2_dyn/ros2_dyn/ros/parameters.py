# SPDX-License-Identifier: Apache-2.0
"""The parameters of the node `dynamics`, declared from `Settings`, which is their one definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros2_dyn.ros.node_base import declare
from ros2_dyn.runtime.settings import ABOUT, TYPES, Settings

LIST_TYPES = {
    tuple[str, ...]: Parameter.Type.STRING_ARRAY,
    tuple[float, ...]: Parameter.Type.DOUBLE_ARRAY,
}


def declare_settings(node: Node) -> Settings:
    """Declare every parameter and return their values.

    Raises:
        InputError: as `Settings`.
    """
    defaults = Settings()
    for name, about in ABOUT.items():
        default = _ros_default(name, getattr(defaults, name))
        declare(node, name, default, about.text, about.low, about.high, about.read_only)
    return changed_settings(node, ())


def changed_settings(node: Node, changes: Sequence[Parameter]) -> Settings:
    """Return what the settings would be with some changes.

    Raises:
        InputError: as `Settings`.
    """
    values = {name: node.get_parameter_or(name, Parameter(name)).value for name in ABOUT}
    values |= {change.name: change.value for change in changes if change.name in ABOUT}
    return Settings.from_values(values)


def parameter_result(reason: str = "") -> SetParametersResult:
    """Return the answer to a change of parameters: rejected for a reason, or taken."""
    return SetParametersResult(successful=not reason, reason=reason)


def _ros_default(name: str, default: Any) -> Any:
    """Return the default as ROS 2 declares it; a list that is not set has only a type."""
    if isinstance(default, tuple):
        return list(default) or LIST_TYPES[TYPES[name]]
    return default
