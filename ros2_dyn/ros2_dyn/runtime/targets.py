# SPDX-License-Identifier: Apache-2.0
"""Desired wrenches and poses of the tip: the newest, whether they are right, and the work that a new frame needs.

What the tip does in a task frame: it presses along some axes, and is held along the others (Craig, section 11.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.errors import MessageError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, rotation_from_quaternion
from ros2_dyn.runtime.inputs import STAMP_AHEAD, HybridSample, PoseSample, WrenchSample
from ros2_dyn.runtime.robot_kernels import link_frame
from ros2_dyn.runtime.update import Work, WorkDone

TargetSample = WrenchSample | PoseSample | HybridSample
TARGET_TOPICS: dict[type, str] = {
    WrenchSample: "~/desired_wrench",
    PoseSample: "~/desired_pose",
    HybridSample: "~/desired_hybrid",
}


class TargetTime(NamedTuple):
    """When a wrench or a pose was desired."""

    stamp: int
    """By the message, ns; 0: it has no stamp."""
    arrived_at: float
    """s."""
    received: int
    """The same by the clock of the stamps, ns."""

    @classmethod
    def of(cls, sample: TargetSample, now: float) -> TargetTime:
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


class Target:
    """A desired wrench, a desired pose, or a pose with a wrench along the axes along which it is not held.

    In the frame of a moving link, a wrench alone is meant where the link is. A pose is meant where it is at the next
    state, and so is a wrench that comes with it.
    """

    def __init__(self, model: RobotModel, sample: TargetSample, now: float) -> None:
        """Read a message that was checked; the kernel of a frame that is new takes some milliseconds.

        Args:
            model: the robot.
            sample: its frame is a link of the robot; the base link where it is empty.
            now: when it arrived, s; also where this is called later.
        """
        self.frame, self.time = sample.frame, TargetTime.of(sample, now)
        self.force_axes: tuple[bool, ...] = tuple(sample.force_axes) if isinstance(sample, HybridSample) else ()
        """Along and about which axes of its frame the tip is not held, shape (6,); empty: it is held along all."""
        self.has_pose, self.has_wrench = not isinstance(sample, WrenchSample), not isinstance(sample, PoseSample)
        self._link = link_frame(model, sample.frame)
        self._first: Array | None = None
        self._sample = sample

    @cached_property
    def _wrench(self) -> Array:
        """Return the wrench in its frame, shape (6,); zeros where there is none."""
        return np.zeros(6) if isinstance(self._sample, PoseSample) else np.array(self._sample.wrench, dtype=float)

    @cached_property
    def _pose(self) -> Array:
        """Return the pose in its frame, shape (4, 4); the frame itself where there is none."""
        pose = np.eye(4)
        if not isinstance(self._sample, WrenchSample):
            quaternion = np.array(self._sample.pose[3:], dtype=float)
            pose[:3, :3] = rotation_from_quaternion(quaternion / hypot(*quaternion))
            pose[:3, 3] = self._sample.pose[:3]
        return pose

    @property
    def desired_at(self) -> float:
        """When it was desired, s."""
        return self.time.desired_at

    @property
    def arrived_at(self) -> float:
        """When it arrived, s."""
        return self.time.arrived_at

    def axes(self, q: Sequence[float]) -> Array:
        """Return the axes of its frame in the base frame, (3, 3); of a pose as at the first call's q, rad or m."""
        return self._frame_pose(q)[:3, :3]

    def in_base(self, q: Sequence[float]) -> Array:
        """Return the pose in the base frame, shape (4, 4), where the link was at the first call's q, rad or m."""
        return self._frame_pose(q) @ self._pose

    def in_base_axes(self, q: Sequence[float]) -> Array:
        """Return the wrench as [force; moment] in base axes, N and N m, shape (6,); as for `axes`."""
        R = self.axes(q)
        return np.concatenate([R @ self._wrench[:3], R @ self._wrench[3:]])

    def _frame_pose(self, q: Sequence[float]) -> Array:
        """Return the pose of its frame, shape (4, 4): that of the first call where there is a pose."""
        if not self.has_pose:
            return self._link(q)
        if self._first is None:
            self._first = self._link(q)
        return self._first


@dataclass(frozen=True, eq=False)
class TargetWork(Work):
    """A target in a frame that is new, whose kernel has to be compiled."""

    model: RobotModel
    sample: TargetSample
    now: float
    """When it arrived, s."""

    def compute(self) -> Target:
        """Return the target."""
        return Target(self.model, self.sample, self.now)


class Targets:
    """The newest desired wrench and pose of the tip."""

    def __init__(self) -> None:
        self.wrench: Target | None = None
        """The newest desired wrench; None before there is one."""
        self.pose: Target | None = None
        """The newest desired pose; None before there is one."""

    def forget(self) -> None:
        """Forget both, whose frames may be gone."""
        self.wrench = self.pose = None

    def take(self, sample: TargetSample, model: RobotModel, commands: CommandSettings, now: float) -> TargetWork | None:
        """Follow the target of a message, or return the work that it needs first, where its frame is new.

        Args:
            sample: the message.
            model: the robot.
            commands: with the largest force and moment.
            now: time, s.

        Raises:
            MessageError: it is wrong, or older than the one that it replaces.
        """
        at, last = TargetTime.of(sample, now), self._replaced(sample)
        if last is not None and at.is_older(last.time):
            older = f"by {1e-9 * (last.time.stamp - at.stamp):.6f} s"
            raise MessageError("header.stamp", "older than the last", older)
        check_target(sample, model, commands)
        if last is None or last.frame != sample.frame:
            return TargetWork(model, sample, now)
        self._follow(Target(model, sample, now))
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
        hybrid = self.pose is not None and self.pose.has_wrench
        return self.pose if hybrid or isinstance(sample, PoseSample) else None

    def _follow(self, target: Target) -> None:
        """Follow a wrench or a pose, or both where it is a pose with a wrench along the free axes."""
        if target.has_pose:
            self.pose = target
        if target.has_wrench:
            self.wrench = target


def check_target(sample: TargetSample, model: RobotModel, commands: CommandSettings) -> None:
    """Check a message.

    Raises:
        MessageError: a number or the frame is wrong, more than the largest force or moment is desired, or a force is
            asked for along an axis that is held.
    """
    for field, size in {"pose": 7, "wrench": 6, "force_axes": 6}.items():
        if len(getattr(sample, field, range(size))) != size:
            raise MessageError(field, "wrong length", f"got {len(getattr(sample, field))} numbers, expected {size}")
    if not isinstance(sample, WrenchSample):
        _check_pose(sample.pose)
    if not isinstance(sample, PoseSample):
        check_ceiling(sample.wrench, commands.max_force, commands.max_moment)
    if sample.frame and sample.frame not in model.links:
        raise MessageError("header.frame_id", "unknown frame", f"'{sample.frame}' is no link of '{model.name}'")
    if isinstance(sample, HybridSample):
        names = (f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")
        for name, value, chosen in zip(names, sample.wrench, sample.force_axes):
            if value and not chosen:
                advice = f"got {value:g}: choose this axis in force_axes, or send 0"
                raise MessageError(f"wrench.{name}", "held axis", advice)


def _check_pose(pose: Sequence[float]) -> None:
    """Check that a pose is finite, not farther away than 100 m, and that its quaternion is of length 1.

    Raises:
        MessageError: it is not.
    """
    if not all(map(isfinite, pose)):
        raise MessageError("pose", "not finite", f"got {list(pose)}")
    if max(map(abs, pose[:3])) > 100.0:
        raise MessageError("pose.position", "too large", "at most 100 m are allowed")
    length = sqrt(sum(min(abs(x), 2.0) ** 2 for x in pose[3:]))
    if abs(length - 1) > 0.01:  # less is rounding
        raise MessageError("pose.orientation", "no rotation", f"the quaternion's length is {length:.3g}, expected 1")


def check_ceiling(wrench: Sequence[float], max_force: float, max_moment: float) -> None:
    """Check that a wrench [force; moment] is finite, and no more than a force, N, and a moment, N m.

    Raises:
        MessageError: it is not, or it is more.
    """
    for what, part, most, unit in (("force", wrench[:3], max_force, "N"), ("torque", wrench[3:], max_moment, "N m")):
        size = hypot(*part)
        if size > most:
            raise MessageError(f"wrench.{what}", "too large", f"{size:.4g} {unit}, at most {most:g} {unit} are allowed")
    if not all(map(isfinite, wrench)):
        raise MessageError("wrench", "not finite", f"got {list(wrench)}")
