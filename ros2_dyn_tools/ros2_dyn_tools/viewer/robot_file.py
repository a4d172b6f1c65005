# SPDX-License-Identifier: Apache-2.0
"""A robot from a file, with what it looks like."""

from __future__ import annotations

from pathlib import Path

from ros2_dyn.errors import ModelError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.viewer.picture import ShownRobot


def read_robot(path: str | Path) -> ShownRobot:
    """Return the robot of a URDF file.

    Raises:
        ModelError: the file cannot be read, or its content is wrong.
    """
    urdf, model = Path(path), RobotModel.from_urdf_file(path)
    try:
        return ShownRobot(model, urdf.read_text(encoding="utf-8"), str(urdf.parent))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"file '{urdf}'", f"cannot be read: {error}") from error
