# SPDX-License-Identifier: Apache-2.0
"""What the tip does in a task frame: it presses along some axes, and is held along the others (Craig, section 11.6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.errors import MessageError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.inputs import HybridSample, PoseSample, WrenchSample
from ros2_dyn.runtime.target_pose import TargetPose, check_pose
from ros2_dyn.runtime.target_wrench import check_ceiling, check_wrench, rotated

COMPONENTS = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")


class TargetHybrid(TargetPose):
    """A desired pose, and a wrench along chosen axes. A moving frame is meant where it is at the next state."""

    def __init__(self, model: RobotModel, sample: HybridSample, now: float) -> None:
        """Read a message; the kernel of a frame that is new takes some 30 ms.

        Args:
            model: the robot.
            sample: its frame is a link of the robot; the base link where it is empty.
            now: when it arrived, s; also where this is called later.

        Raises:
            MessageError: as `check_hybrid`.
        """
        super().__init__(model, _pose(sample), now)
        self.force_axes = tuple(sample.force_axes)
        self._wrench = np.array(sample.wrench, dtype=float)

    def in_base_axes(self, q: Sequence[float]) -> Array:
        """Return the wrench as [force; moment], N and N m, shape (6,)."""
        return rotated(self.axes(q), self._wrench)


def check_hybrid(model: RobotModel, sample: HybridSample, max_force: float, max_moment: float) -> None:
    """Check a message against the robot, the largest force, N, and the largest moment, N m.

    Raises:
        MessageError: the pose or the wrench is wrong or too large, or a force is asked for along an axis that is held.
    """
    wrench = WrenchSample(sample.stamp, sample.frame, sample.wrench)
    check_pose(model, _pose(sample))
    check_ceiling(wrench, max_force, max_moment)
    check_wrench(model, wrench)
    for name, value, chosen in zip(COMPONENTS, sample.wrench, sample.force_axes):
        if value and not chosen:
            raise MessageError(
                f"wrench.{name}", "held axis", f"got {value:g}: choose this axis in force_axes, or send 0"
            )


def _pose(sample: HybridSample) -> PoseSample:
    return PoseSample(sample.stamp, sample.frame, sample.pose, sample.received)
