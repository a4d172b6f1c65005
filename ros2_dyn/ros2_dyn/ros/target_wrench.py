"""The wrench that is desired at the tip, from messages in the axes of any link."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from geometry_msgs.msg import WrenchStamped

from ros2_dyn.errors import MessageError
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.collision_monitor import tip_kernel


class TargetWrench:
    """A desired wrench in the axes of a link, which may move."""

    def __init__(self, model: RobotModel, message: WrenchStamped, now: float) -> None:
        """Read a message; the kernel of a frame that is new takes some 30 ms.

        Args:
            model: the robot.
            message: its frame is a link of the robot; the base link where it is empty.
            now: time of a steady clock, s.

        Raises:
            MessageError: the frame is no link of the robot, or a number is not finite.
        """
        force, torque = message.wrench.force, message.wrench.torque
        self._wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        if not all(map(isfinite, self._wrench)):
            raise MessageError("wrench", "not finite", f"got {self._wrench.tolist()}")
        self.frame = message.header.frame_id
        frame = self.frame or model.base_link
        if frame not in model.link_names:
            raise MessageError("header.frame_id", "unknown frame", f"'{frame}' is no link of '{model.name}'")
        self.received_at = now
        placement = model.link_frame(frame)
        fixed = placement.body == BASE
        self._R = placement.X.E.T if fixed else None
        self._pose = None if fixed else tip_kernel(model, frame)

    def in_base_axes(self, q: Sequence[float]) -> Array:
        """[force; moment], N and N m, shape (6,), at joint positions in rad or m."""
        R = np.array(self._pose(q)[1])[:3, :3] if self._pose is not None else self._R
        return np.concatenate([R @ self._wrench[:3], R @ self._wrench[3:]])
