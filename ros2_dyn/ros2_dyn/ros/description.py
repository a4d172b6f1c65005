# SPDX-License-Identifier: Apache-2.0
"""The robot description that the parameters name: a text, or a file of URDF, or of xacro that is expanded first."""

from __future__ import annotations

from pathlib import Path

from ros2_dyn.errors import ModelError
from ros2_dyn.model.description_bounds import read_description
from ros2_dyn.runtime.settings import DescriptionSettings


def described(settings: DescriptionSettings) -> str | None:
    """The URDF text that the parameters name; None where they name none.

    Raises:
        ModelError: a file cannot be read or expanded.
    """
    text, path = settings.robot_description, settings.urdf_file
    if text or not path:
        return text or None
    return expand(path) if path.endswith(".xacro") else read_description(path)


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
