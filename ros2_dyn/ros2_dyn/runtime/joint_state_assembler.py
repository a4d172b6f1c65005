"""Stage 1, assemble: from messages of joint states to whole states in the model's order, or a rejection that says why.

See docs/node.md for what becomes of each kind of message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import NamedTuple

from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.samples import JointSample, check_names
from ros2_dyn.runtime.states import MeasuredState

CLOCK_JUMP = 1.0
"""A stamp that lies further back than this, s, is no late message: the clock was set back."""


@dataclass(frozen=True)
class AssemblerOptions:
    """What is done about incomplete messages."""

    merge_timeout: float = 0.1
    """Maximum age, s, at which joints that a message lacks are taken from earlier messages."""
    estimate_velocity: bool = False
    """Whether a velocity that is missing or NaN is replaced by the filtered difference of the positions."""
    velocity_cutoff: float = 20.0
    """Cut-off of the velocity filter, Hz."""
    effort_gain: tuple[float, ...] = ()
    """Factor from the driver's unit to N m or N, in the model's order; empty: 1."""


class Assembled(NamedTuple):
    """What became of a message."""

    state: MeasuredState | None
    """None: the message holds none of the robot's joints, as that of a gripper beside it."""
    stamped: bool = True
    """Whether the message has a stamp of its own."""
    restarted: bool = False
    """Whether stamps went back, so that nothing from before counts any more."""


class JointStateAssembler:
    """Turns messages that may hold the joints in any order, some of them, or others besides, into states."""

    def __init__(self, model: RobotModel, options: AssemblerOptions) -> None:
        self.joint_names = model.joint_names
        self.options = options
        wraps = [joint.type == "continuous" for joint in model.joints if joint.mimics is None]
        self._difference = FilteredDerivative(options.velocity_cutoff, wraps)
        self._names: Sequence[str] = ()
        self._indices: list[tuple[int, int]] = []
        self._forget()

    def _forget(self) -> None:
        self._last: int | None = None
        self._difference.restart()
        self._q = [nan] * len(self.joint_names)
        self._qd = [nan] * len(self.joint_names)
        self._seen_at = [-1e9] * len(self.joint_names)
        self._measured_at = [-1e9] * len(self.joint_names)

    def process(self, sample: JointSample, now: float) -> Assembled:
        """Return the state that a message completes.

        Args:
            sample: the message.
            now: time, s.

        Raises:
            MessageError: it cannot be used. Nothing of it is kept.
        """
        if sample.names != self._names:
            self._indices = self._find(sample.names)
            self._names = sample.names
        if not self._indices:
            return Assembled(None)
        velocities = self._velocities(sample)
        whole = len(self._indices) == len(self.joint_names)
        restarted = self._check_stamp(sample.stamp, whole)

        received = round(now * 1e9) if sample.received is None else sample.received
        stamp = sample.stamp or received
        at = now - 1e-9 * (received - stamp)
        q, qd, seen_at, measured_at = self._q[:], self._qd[:], self._seen_at[:], self._measured_at[:]
        for i, k in self._indices:
            q[i], qd[i], seen_at[i], measured_at[i] = sample.position[k], velocities[k] if velocities else nan, now, at
        if not whole:
            self._check_complete(seen_at, now)
        self._q, self._qd, self._seen_at, self._measured_at = q, qd, seen_at, measured_at
        self._last = sample.stamp or self._last

        effort = self._effort(sample.effort) if whole and len(sample.effort) == len(self._names) else None
        qd = self._complete_velocity(1e-9 * stamp, q, qd)
        state = MeasuredState(stamp, q, qd, effort, min(measured_at))
        return Assembled(state, sample.stamp != 0, restarted)

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
        if self.options.estimate_velocity:
            return velocities
        if not len(velocities):
            raise MessageError("velocity", "empty", "expected velocities, or the parameter estimate_velocity")
        self._check_finite("velocity", velocities)
        return velocities

    def _check_finite(self, field: str, values: Sequence[float]) -> None:
        for i, k in self._indices:
            if not isfinite(values[k]):
                raise MessageError(field, "not finite", f"joint '{self.joint_names[i]}' has {values[k]}")

    def _effort(self, efforts: Sequence[float]) -> list[float]:
        gain = self.options.effort_gain or (1.0,) * len(self._indices)
        return [factor * efforts[k] for factor, (_, k) in zip(gain, self._indices)]

    def _check_stamp(self, stamp: int, whole: bool) -> bool:
        """Return whether the stamps went back; a stamp of 0 is none."""
        if stamp == 0 or self._last is None:
            return False
        if stamp < self._last - CLOCK_JUMP * 1e9:
            self._forget()
            return True
        if stamp < self._last:
            raise MessageError("header.stamp", "older than the last", f"by {1e-9 * (self._last - stamp):.6f} s")
        if stamp == self._last and whole:
            raise MessageError("header.stamp", "the same as the last", "this instant has been computed")
        return False

    def _check_complete(self, seen_at: Sequence[float], now: float) -> None:
        for joint, at in zip(self.joint_names, seen_at):
            if now - at > self.options.merge_timeout:
                known = f"last seen {now - at:.3f} s ago" if at > -1e9 else "never seen"
                raise MessageError("name", "joint missing", f"'{joint}' is not in it, and was {known}")

    def _complete_velocity(self, t: float, q: list[float], qd: list[float]) -> list[float]:
        if not self.options.estimate_velocity:
            return qd
        rate = self._difference.update(t, q)
        if not any(map(isnan, qd)):
            return qd
        if rate is None:
            raise MessageError("velocity", "not known yet", "its estimate needs two messages")
        return [r if isnan(v) else v for v, r in zip(qd, rate)]
