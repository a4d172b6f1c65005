# SPDX-License-Identifier: Apache-2.0
"""The wrench that is desired at the tip, in the axes of any link."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, isfinite
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import MessageError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.inputs import STAMP_AHEAD, HybridSample, PoseSample, WrenchSample
from ros2_dyn.runtime.link_frame import link_frame


class TargetTime(NamedTuple):
    """When a wrench or a pose was desired."""

    stamp: int
    """By the message, ns; 0: it has no stamp."""
    arrived_at: float
    """s."""
    received: int
    """The same by the clock of the stamps, ns."""

    @classmethod
    def of(cls, sample: WrenchSample | PoseSample | HybridSample, now: float) -> TargetTime:
        """Return that of a message that arrives at a time, s."""
        received = round(now * 1e9) if sample.received is None else sample.received
        return cls(sample.stamp, now, received)

    @property
    def desired_at(self) -> float:
        """The same in the time of `now`, s; a stamp ahead of the clock is as bad as one that is as far behind."""
        return self.arrived_at - (1e-9 * abs(self.received - self.stamp) if self.stamp else 0.0)

    def is_older(self, other: TargetTime) -> bool:
        """Return whether another one is newer: by the stamps, or by the arrivals where these tell nothing."""
        if not self.stamp or not other.stamp or other.stamp > self.received + STAMP_AHEAD * 1e9:
            return self.arrived_at < other.arrived_at
        return self.stamp < other.stamp


class TargetWrench:
    """A desired wrench in the axes of a link, which may move."""

    def __init__(self, model: RobotModel, sample: WrenchSample, now: float) -> None:
        """Read a message; the kernel of a frame that is new takes some 30 ms.

        Args:
            model: the robot.
            sample: its frame is a link of the robot; the base link where it is empty.
            now: when it arrived, s; also where this is called later.

        Raises:
            MessageError: the frame is no link of the robot, or a number is not finite.
        """
        check_wrench(model, sample)
        self.frame, self.time = sample.frame, TargetTime.of(sample, now)
        self._wrench = np.array(sample.wrench, dtype=float)
        self._link = link_frame(model, sample.frame)

    @property
    def desired_at(self) -> float:
        """When it was desired, s."""
        return self.time.desired_at

    def in_base_axes(self, q: Sequence[float]) -> Array:
        """Return [force; moment], N and N m, shape (6,), at joint positions in rad or m."""
        return rotated(self._link.pose(q)[:3, :3], self._wrench)


def rotated(R: Array, wrench: Array) -> Array:
    """Return a wrench [force; moment], shape (6,), in the axes that a rotation matrix, shape (3, 3), leads to."""
    return np.concatenate([R @ wrench[:3], R @ wrench[3:]])


def check_ceiling(sample: WrenchSample, max_force: float, max_moment: float) -> None:
    """Check that a message asks for no more than a force, N, and a moment, N m.

    Raises:
        MessageError: it does.
    """
    for what, part, most, unit in (
        ("force", sample.wrench[:3], max_force, "N"),
        ("torque", sample.wrench[3:], max_moment, "N m"),
    ):
        size = hypot(*part)
        if size > most:
            raise MessageError(f"wrench.{what}", "too large", f"{size:.4g} {unit}, at most {most:g} {unit} are allowed")


def check_wrench(model: RobotModel, sample: WrenchSample) -> None:
    """Check a message.

    Raises:
        MessageError: the frame is no link of the robot, or a number is not finite.
    """
    if not all(map(isfinite, sample.wrench)):
        raise MessageError("wrench", "not finite", f"got {list(sample.wrench)}")
    check_frame(model, sample.frame)


def check_frame(model: RobotModel, frame: str) -> None:
    """Check that a robot has a link; an empty name stands for its base.

    Raises:
        MessageError: it has not.
    """
    if frame and frame not in model.links:
        raise MessageError("header.frame_id", "unknown frame", f"'{frame}' is no link of '{model.name}'")
