# SPDX-License-Identifier: Apache-2.0
"""The pose that is desired for the tip, in the frame of any link."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt

import numpy as np

from ros2_dyn.errors import MessageError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, rotation_from_quaternion
from ros2_dyn.runtime.inputs import PoseSample
from ros2_dyn.runtime.link_frame import link_frame
from ros2_dyn.runtime.target_wrench import TargetTime, check_frame

QUATERNION_TOLERANCE = 0.01
"""Difference of a quaternion's length from 1 that counts as rounding."""
MAX_DISTANCE = 100.0
"""Largest coordinate of a pose, m."""


class TargetPose:
    """A desired pose. In the frame of a moving link it is meant where that link is at the next state."""

    force_axes: tuple[bool, ...] = ()
    """Along and about which axes of its frame the tip is not held, shape (6,); empty: it is held along all."""

    def __init__(self, model: RobotModel, sample: PoseSample, now: float) -> None:
        """Read a message; the kernel of a frame that is new takes some 30 ms.

        Args:
            model: the robot.
            sample: its frame is a link of the robot; the base link where it is empty.
            now: when it arrived, s; also where this is called later.

        Raises:
            MessageError: as `check_pose`.
        """
        check_pose(model, sample)
        self.frame, self.time = sample.frame, TargetTime.of(sample, now)
        self._link, self._sample = link_frame(model, sample.frame), sample
        self._in_base: Array | None = None
        self._axes: Array | None = None

    @property
    def desired_at(self) -> float:
        """When it was desired, s."""
        return self.time.desired_at

    @property
    def arrived_at(self) -> float:
        """When it arrived, s."""
        return self.time.arrived_at

    def axes(self, q: Sequence[float]) -> Array:
        """Return the axes of its frame in the base frame, shape (3, 3), as at the first call's q, rad or m."""
        if self._axes is None:
            self._axes = self._link.pose(q)[:3, :3]
        return self._axes

    def in_base(self, q: Sequence[float]) -> Array:
        """Return the pose in the base frame, shape (4, 4), where the link was at the first call's q, rad or m."""
        if self._in_base is None:
            self._in_base = self._link.pose(q) @ self._in_link()
        return self._in_base

    def _in_link(self) -> Array:
        """Return the pose in the frame of the link, shape (4, 4)."""
        quaternion, pose = np.array(self._sample.pose[3:], dtype=float), np.eye(4)
        pose[:3, :3] = rotation_from_quaternion(quaternion / np.linalg.norm(quaternion))
        pose[:3, 3] = self._sample.pose[:3]
        return pose


def check_pose(model: RobotModel, sample: PoseSample) -> None:
    """Check a message.

    Raises:
        MessageError: the frame is no link of the robot, a number is not finite or too large, or the quaternion is not
            of length 1.
    """
    if not all(map(isfinite, sample.pose)):
        raise MessageError("pose", "not finite", f"got {list(sample.pose)}")
    if max(map(abs, sample.pose[:3])) > MAX_DISTANCE:
        raise MessageError("pose.position", "too large", f"at most {MAX_DISTANCE:g} m are allowed")
    length = sqrt(sum(min(abs(x), 2.0) ** 2 for x in sample.pose[3:]))
    if abs(length - 1) > QUATERNION_TOLERANCE:
        raise MessageError("pose.orientation", "no rotation", f"the quaternion's length is {length:.3g}, expected 1")
    check_frame(model, sample.frame)
