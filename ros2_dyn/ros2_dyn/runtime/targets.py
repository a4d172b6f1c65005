# SPDX-License-Identifier: Apache-2.0
"""Desired wrenches and poses of the tip: whether they are right and new, and the work that a new frame needs."""

from __future__ import annotations

from dataclasses import dataclass

from ros2_dyn.errors import MessageError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.inputs import HybridSample, PoseSample, WrenchSample
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.target_hybrid import TargetHybrid, check_hybrid
from ros2_dyn.runtime.target_pose import TargetPose, check_pose
from ros2_dyn.runtime.target_wrench import TargetTime, TargetWrench, check_ceiling, check_wrench
from ros2_dyn.runtime.update import Work

TargetSample = WrenchSample | PoseSample | HybridSample
Target = TargetWrench | TargetPose | TargetHybrid
TARGET_TOPICS: dict[type, str] = {
    WrenchSample: "~/desired_wrench",
    PoseSample: "~/desired_pose",
    HybridSample: "~/desired_hybrid",
}


@dataclass(frozen=True, eq=False)
class TargetWork(Work):
    """A target in a frame that is new, whose kernel has to be compiled."""

    model: RobotModel
    sample: TargetSample
    now: float
    """When it arrived, s."""

    def compute(self) -> Target:
        """Return the target."""
        return make_target(self.model, self.sample, self.now)

    def is_late(self, last: Target | None) -> bool:
        """Return whether a newer target has come meanwhile."""
        return last is not None and TargetTime.of(self.sample, self.now).is_older(last.time)


def last_target(sample: TargetSample, wrench: Target | None, pose: TargetPose | None) -> Target | None:
    """Return the target that a message replaces: the wrench or the pose; a hybrid one replaces hybrid ones only."""
    if isinstance(sample, WrenchSample):
        return wrench
    return pose if isinstance(sample, PoseSample) or isinstance(pose, TargetHybrid) else None


def take_target(
    sample: TargetSample, last: Target | None, model: RobotModel, settings: Settings, now: float
) -> Target | TargetWork:
    """Return the target of a message, or the work that it needs first, where its frame is new.

    Args:
        sample: the message.
        last: the target that it replaces.
        model: the robot.
        settings: with the largest force and moment.
        now: time, s.

    Raises:
        MessageError: it is wrong, or older than the one that it replaces.
    """
    at = TargetTime.of(sample, now)
    if last is not None and at.is_older(last.time):
        older = f"by {1e-9 * (last.time.stamp - at.stamp):.6f} s"
        raise MessageError("header.stamp", "older than the last", older)
    check_target(sample, model, settings)
    known = last is not None and last.frame == sample.frame
    return make_target(model, sample, now) if known else TargetWork(model, sample, now)


def make_target(model: RobotModel, sample: TargetSample, now: float) -> Target:
    """Return the target of a message that arrived at a time, s; errors as `check_target`."""
    if isinstance(sample, WrenchSample):
        return TargetWrench(model, sample, now)
    return TargetPose(model, sample, now) if isinstance(sample, PoseSample) else TargetHybrid(model, sample, now)


def check_target(sample: TargetSample, model: RobotModel, settings: Settings) -> None:
    """Check a message.

    Raises:
        MessageError: a number or the frame is wrong, or more than the largest force or moment is desired.
    """
    if isinstance(sample, PoseSample):
        check_pose(model, sample)
    elif isinstance(sample, HybridSample):
        check_hybrid(model, sample, settings.commands.max_force, settings.commands.max_moment)
    else:
        check_ceiling(sample, settings.commands.max_force, settings.commands.max_moment)
        check_wrench(model, sample)
