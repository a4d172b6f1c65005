# SPDX-License-Identifier: Apache-2.0
"""The topic `~/tape`: the robot's dynamics as data, for a controller that carries the arm."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import UInt8MultiArray

from ros2_dyn.errors import Ros2DynError
from ros2_dyn.kernels.make_tape import make_tape
from ros2_dyn.kernels.tape import description_hash
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.runtime.settings import Settings


class TapeOutput:
    """Makes a tape of each description and parameters from when somebody subscribes: it takes a second of computing."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(UInt8MultiArray, "~/tape", LATCHED)
        self._made: tuple[str, Settings] | None = None

    def is_due(self, description: str, settings: Settings) -> bool:
        """Return, once for each, whether somebody waits for the tape.

        Args:
            description: the robot's URDF text.
            settings: its parameters.
        """
        # once there is one, who subscribes gets it: it must be the newest
        wanted = self._made is not None or self._publisher.get_subscription_count() > 0
        due = wanted and self._made != (description, settings)
        if due:
            self._made = description, settings
        return due

    def make(self, description: str, settings: Settings) -> None:
        """Make and publish the tape, in any thread; see `is_due`."""
        try:
            model = settings.apply(RobotModel.from_urdf(description))
            robot, made_from = settings.robot, description_hash(description)
            tape = make_tape(model, link=robot.tip_link or None, gravity=robot.gravity, description=made_from)
        except Ros2DynError as error:
            self._node.get_logger().error(f"~/tape: {error}")
        else:
            self._publisher.publish(UInt8MultiArray(data=tape.to_bytes()))
