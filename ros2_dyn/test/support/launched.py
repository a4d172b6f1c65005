# SPDX-License-Identifier: Apache-2.0
"""What tests that run the launch system have in common."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from launch.actions import GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python

from ros_harness import Listener


def launch_file(name: str, **arguments: str) -> GroupAction:
    """Return an installed launch file with arguments, in a scope of its own."""
    path = PathJoinSubstitution([FindPackageShare("ros2_dyn"), "launch", f"{name}.launch.py"])
    include = IncludeLaunchDescription(PythonLaunchDescriptionSource(path), launch_arguments=arguments.items())
    return GroupAction([include], scoped=True)


def parameter_file(text: str) -> str:
    """Return the path of a parameter file with this text, which stays until the system clears its temporary files."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix="ros2_dyn_", delete=False) as file:
        file.write(text)
    return str(Path(file.name))


def parameters_of(listener: Listener, node: str, *names: str) -> list[Any]:
    """Return the values of parameters of a running node."""
    response = listener.call(GetParameters, f"{node}/get_parameters", names=names)
    return [_value(value) for value in response.values]


def _value(value: ParameterValue) -> Any:
    found = parameter_value_to_python(value)
    return list(found) if hasattr(found, "__len__") and not isinstance(found, str) else found
