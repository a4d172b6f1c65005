# SPDX-License-Identifier: Apache-2.0
"""The stage "assemble": from messages of joint states to whole states in the model's order, or why one is rejected.

See docs/node.md for what becomes of each kind of message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import NamedTuple

from ros2_dyn.control.turns import continuous_joints
from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.inputs import CLOCK_JUMP, STAMP_AHEAD, JointSample, check_names
from ros2_dyn.runtime.states import MeasuredState

VELOCITY_CUTOFF = 20.0
"""Cut-off of the filter that estimates velocities, Hz."""


@dataclass(frozen=True)
class AssemblerOptions:
    """What is done about incomplete messages."""

    merge_timeout: float = 0.1
    """Maximum age, s, at which joints that a message lacks are taken from earlier messages."""
    estimate_velocity: bool = False
    """Whether a velocity that is missing or NaN is replaced by the filtered difference of the positions."""
    effort_gain: tuple[float, ...] = ()
    """Factor from the driver's unit to N m or N, in the model's order; empty: 1."""


class Assembled(NamedTuple):
    """What became of a message."""

    state: MeasuredState | None
    """None: the message holds none of the robot's joints, as that of a gripper beside it."""
    stamped: bool = True
    """Whether each joint's newest message has a stamp of its own."""
    restarted: bool = False
    """Whether stamps went back, so that nothing from before counts any more."""


class JointStateAssembler:
    """Turns messages that may hold the joints in any order, some of them, or others besides, into states.

    Each joint is known from the newest message that holds it, with its own stamp. A message of some joints gives a
    state as soon as all others are known from messages that are not older than `merge_timeout`.
    """

    def __init__(self, model: RobotModel, options: AssemblerOptions) -> None:
        self.joint_names = model.joint_names
        self.options = options
        self._differences = [FilteredDerivative(VELOCITY_CUTOFF, [turns]) for turns in continuous_joints(model)]
        self._names: Sequence[str] = ()
        self._indices: list[tuple[int, int]] = []
        self._forget()

    def _forget(self) -> None:
        n = len(self.joint_names)
        for difference in self._differences:
            difference.restart()
        self._stamps = [0] * n
        self._ahead = [False] * n
        self._q = [nan] * n
        self._qd = [nan] * n
        self._seen_at = [-1e9] * n
        self._measured_at = [-1e9] * n

    def process(self, sample: JointSample, now: float) -> Assembled:
        """Return the state that a message completes.

        Args:
            sample: the message.
            now: time, s.

        Raises:
            MessageError: it cannot be used, and nothing of it is kept; or it is kept and makes no state yet, because
                a joint or a velocity is not known.
        """
        if sample.names != self._names:
            self._indices = self._find(sample.names)
            self._names = sample.names
        if not self._indices:
            return Assembled(None)
        velocities = self._velocities(sample)
        received = round(now * 1e9) if sample.received is None else sample.received
        restarted = self._check_stamp(sample.stamp, received)
        stamp = sample.stamp or received
        self._keep(sample, velocities, stamp, received, now)
        at = now - 1e-9 * (received - stamp)

        whole = len(self._indices) == len(self.joint_names)
        if not whole:
            self._check_complete(now)
            stamp, at = max(stamp, *self._stamps), min(self._measured_at)
        self._check_velocity()
        effort = self._effort(sample.effort) if whole and len(sample.effort) == len(self._names) else None
        joints = tuple(i for i, _ in self._indices)
        state = MeasuredState(stamp, self._q, self._qd, effort, at, joints)
        return Assembled(state, all(self._stamps), restarted)

    def _keep(self, sample: JointSample, velocities: Sequence[float], stamp: int, received: int, now: float) -> None:
        """Note what a message tells of its joints; a stamp ahead of the clock is as bad as one that is as far behind.

        Args:
            sample: the message.
            velocities: its velocities; none where they are to be estimated.
            stamp: when it was measured, ns.
            received: when it arrived, ns.
            now: the same, s.
        """
        ahead, at = stamp > received + STAMP_AHEAD * 1e9, now - 1e-9 * abs(received - stamp)
        self._q, self._qd = self._q[:], self._qd[:]  # the states before have the others
        for i, k in self._indices:
            velocity = velocities[k] if velocities else nan
            if self.options.estimate_velocity:
                rate = self._differences[i].update(1e-9 * stamp, (sample.position[k],))
                if not isfinite(velocity):
                    velocity = nan if rate is None else rate[0]
            self._q[i], self._qd[i], self._stamps[i] = sample.position[k], velocity, sample.stamp
            self._seen_at[i], self._measured_at[i], self._ahead[i] = now, at, ahead

    def _find(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """Return where the model's joints stand among the names: pairs of the model's index and the message's."""
        check_names(names)
        for joint in self.joint_names:
            if names.count(joint) > 1:
                raise MessageError("name", "joint named twice", f"'{joint}' in [{', '.join(names)}]")
        return [(i, names.index(joint)) for i, joint in enumerate(self.joint_names) if joint in names]

    def _velocities(self, sample: JointSample) -> Sequence[float]:
        """Return the velocities of a message whose numbers are usable; none where they are to be estimated."""
        positions, velocities, count = sample.position, sample.velocity, len(self._names)
        for field, values in (("position", positions), ("velocity", velocities)):
            if len(values) != count and (field == "position" or len(values)):
                raise MessageError(field, "wrong length", f"expected {count} as there are names, got {len(values)}")
        self._check_finite("position", positions)
        for i, k in self._indices:
            if abs(positions[k]) > 1e6:  # rad or m: it is no measurement, and would stay in filters
                raise MessageError("position", "too large", f"joint '{self.joint_names[i]}' has {positions[k]:.3g}")
        if self.options.estimate_velocity:
            return velocities
        if not len(velocities):
            raise MessageError("velocity", "empty", "expected velocities, or the parameter states.estimate: [velocity]")
        self._check_finite("velocity", velocities)
        return velocities

    def _check_finite(self, field: str, values: Sequence[float]) -> None:
        for i, k in self._indices:
            if not isfinite(values[k]):
                raise MessageError(field, "not finite", f"joint '{self.joint_names[i]}' has {values[k]}")

    def _effort(self, efforts: Sequence[float]) -> list[float]:
        gain = self.options.effort_gain or (1.0,) * len(self._indices)
        return [factor * efforts[k] for factor, (_, k) in zip(gain, self._indices)]

    def _check_stamp(self, stamp: int, received: int) -> bool:
        """Return whether the stamps of a message's joints went back; a stamp of 0 is none."""
        known = [self._stamps[i] for i, _ in self._indices]
        newest = max(known)
        if stamp == 0 or stamp > newest:
            return False
        if stamp <= received + STAMP_AHEAD * 1e9 and any(self._ahead[i] for i, _ in self._indices):
            return False  # it was the stamp before that was wrong
        if stamp < newest - CLOCK_JUMP * 1e9:
            self._forget()
            return True
        if stamp < newest:
            raise MessageError("header.stamp", "older than the last", f"by {1e-9 * (newest - stamp):.6f} s")
        if min(known) == newest:
            raise MessageError("header.stamp", "the same as the last", "this instant has been computed")
        return False

    def _check_complete(self, now: float) -> None:
        for joint, at in zip(self.joint_names, self._seen_at):
            if now - at > self.options.merge_timeout:
                known = f"last seen {now - at:.3f} s ago" if at > -1e9 else "never seen"
                raise MessageError("name", "joint missing", f"'{joint}' is not in it, and was {known}")

    def _check_velocity(self) -> None:
        if any(map(isnan, self._qd)):
            raise MessageError("velocity", "not known yet", "its estimate needs two messages")
