# SPDX-License-Identifier: Apache-2.0
"""Read a robot description from a file: URDF, or xacro that is expanded first."""

from __future__ import annotations

from pathlib import Path

from ros2_dyn.errors import ModelError
from ros2_dyn.model import RobotModel


def load_file(path: str) -> RobotModel:
    """The model of a URDF file, or of a file whose name ends in .xacro.

    Raises:
        ModelError: the file cannot be read or expanded, or the description is wrong.
    """
    return RobotModel.from_urdf(expand(path)) if path.endswith(".xacro") else RobotModel.from_urdf_file(path)


def expand(path: str) -> str:
    """The URDF text that a xacro file makes.

    Raises:
        ModelError: the file cannot be read or expanded.
    """
    if not Path(path).is_file():
        raise ModelError(f"file '{path}'", "cannot be read: there is no such file")
    try:
        import xacro
    except ImportError as error:
        raise ModelError(f"file '{path}'", "the package xacro, which expands it, is not installed") from error
    try:
        return str(xacro.process_file(path).toxml())
    except Exception as error:  # xacro raises whatever the file's own expressions raise
        raise ModelError(f"file '{path}'", f"xacro cannot expand it: {error}") from error
