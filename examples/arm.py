"""The arm of the examples: the URDF named on the command line, or the six-axis arm of this repository."""

import sys
from pathlib import Path

from ros2_dyn import RobotModel

MOCK_ARM = Path(__file__).parents[1] / "ros2_dyn" / "config" / "mock_arm.urdf"


def arm(urdf: str | Path | None = None) -> RobotModel:
    """Return the robot of a URDF; None: of the first argument on the command line, or else the mock arm."""
    return RobotModel.from_urdf_file(urdf or (sys.argv[1] if len(sys.argv) > 1 else MOCK_ARM))
