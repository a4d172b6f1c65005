# SPDX-License-Identifier: Apache-2.0
"""The parameters of the node `dynamics`: declared from `Settings`, their one definition."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node
from rclpy.parameter import Parameter

from ros2_dyn.control.parameter import LISTS
from ros2_dyn.ros.node_base import declare
from ros2_dyn.runtime.settings import Settings, check_parameter_names, declared

OF_EVERY_NODE = ("use_sim_time", "qos_overrides.", "start_type_description_service")
"""Beginnings of the names of parameters that any node has."""


def declare_settings(node: Node) -> Settings:
    """Declare every parameter and return their values.

    Raises:
        InputError: as `Settings`, or there is no parameter of a name that is given.
    """
    given = {name for name in node.get_parameters_by_prefix("") if not name.startswith(OF_EVERY_NODE)}
    check_parameter_names(given)
    list_types = dict(zip(LISTS, (Parameter.Type.STRING_ARRAY, Parameter.Type.DOUBLE_ARRAY)))
    for name, each in declared().items():
        if name in given:  # without description and range
            node.undeclare_parameter(name)
        default = (list(each.default) or list_types[each.kind]) if each.is_list else each.default
        declare(node, name, default, each.text, low=each.low, high=each.high, read_only=each.read_only)
    return changed_settings(node, ())


def changed_settings(node: Node, changes: Sequence[Parameter]) -> Settings:
    """Return what the settings would be with some changes.

    Raises:
        InputError: as `Settings`.
    """
    known = declared()
    values = {name: node.get_parameter_or(name, Parameter(name)).value for name in known}
    values |= {change.name: change.value for change in changes if change.name in known}
    return Settings.from_values(values)
