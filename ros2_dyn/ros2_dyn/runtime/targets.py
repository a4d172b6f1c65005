# SPDX-License-Identifier: Apache-2.0
"""Desired wrenches and poses of the tip: the newest, whether they are right, and the work that a new frame needs."""

from __future__ import annotations

from dataclasses import dataclass

from ros2_dyn.errors import MessageError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.inputs import HybridSample, PoseSample, WrenchSample
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.target_hybrid import TargetHybrid, check_hybrid
from ros2_dyn.runtime.target_pose import TargetPose, check_pose
from ros2_dyn.runtime.target_wrench import TargetTime, TargetWrench, check_ceiling, check_wrench
from ros2_dyn.runtime.update import Work, WorkDone

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


class Targets:
    """The newest desired wrench and pose of the tip."""

    def __init__(self) -> None:
        self.wrench: TargetWrench | TargetHybrid | None = None
        """The newest desired wrench; None before there is one."""
        self.pose: TargetPose | None = None
        """The newest desired pose; None before there is one."""

    def forget(self) -> None:
        """Forget both, whose frames may be gone."""
        self.wrench = self.pose = None

    def take(self, sample: TargetSample, model: RobotModel, settings: Settings, now: float) -> TargetWork | None:
        """Follow the target of a message, or return the work that it needs first, where its frame is new.

        Args:
            sample: the message.
            model: the robot.
            settings: with the largest force and moment.
            now: time, s.

        Raises:
            MessageError: it is wrong, or older than the one that it replaces.
        """
        at, last = TargetTime.of(sample, now), self._replaced(sample)
        if last is not None and at.is_older(last.time):
            older = f"by {1e-9 * (last.time.stamp - at.stamp):.6f} s"
            raise MessageError("header.stamp", "older than the last", older)
        check_target(sample, model, settings)
        if last is None or last.frame != sample.frame:
            return TargetWork(model, sample, now)
        self._follow(make_target(model, sample, now))
        return None

    def finish(self, done: WorkDone, model: RobotModel) -> None:
        """Follow the target that was made for a robot, unless that is another one now, or a newer target has come."""
        work = done.work
        assert isinstance(work, TargetWork)
        last = self._replaced(work.sample)
        late = last is not None and TargetTime.of(work.sample, work.now).is_older(last.time)
        if work.model is model and done.error is None and not late:
            self._follow(done.value)

    def _replaced(self, sample: TargetSample) -> Target | None:
        """Return the target that a message replaces: the wrench or the pose; a hybrid one replaces hybrid ones only."""
        if isinstance(sample, WrenchSample):
            return self.wrench
        return self.pose if isinstance(sample, PoseSample) or isinstance(self.pose, TargetHybrid) else None

    def _follow(self, target: Target) -> None:
        """Follow a wrench or a pose, or both where it is a pose with a wrench along the free axes."""
        if isinstance(target, TargetPose):
            self.pose = target
        if isinstance(target, (TargetWrench, TargetHybrid)):
            self.wrench = target


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
