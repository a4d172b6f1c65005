"""What becomes of a message on joint_states: a state of the robot, or a refusal that says why. See docs/node.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import NamedTuple

from sensor_msgs.msg import JointState

from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.model import RobotModel

CLOCK_JUMP = 1.0
"""A stamp that lies further back than this, s, is no late message: time itself was set back."""


@dataclass(frozen=True)
class IntakePolicy:
    """What is done about incomplete messages."""

    merge_timeout: float = 0.1
    """Age, s, up to which joints that a message lacks are taken from earlier messages."""
    estimate_velocity: bool = False
    """Whether a velocity that is missing or NaN is replaced by the filtered difference of the positions."""
    velocity_cutoff: float = 20.0
    """Of that filter, Hz."""
    effort_gain: tuple[float, ...] = ()
    """From the driver's unit to N m or N, in the model's order; empty: 1."""


class MeasuredState(NamedTuple):
    """A measured state in the model's joint order."""

    stamp: tuple[int, int]
    """Seconds and nanoseconds of the message's header; of its arrival where that is zero."""
    q: list[float]
    qd: list[float]
    effort: list[float] | None = None
    """As measured, N m or N; None where the message does not give all."""


class StateIntake:
    """Turns messages that may hold the joints in any order, some of them, or others besides, into states."""

    def __init__(self, model: RobotModel, policy: IntakePolicy) -> None:
        self.joint_names = model.joint_names
        self.restarts = 0
        """How often time was set back."""
        self.stamped = True
        """Whether the newest message had a stamp of its own."""
        self._policy = policy
        turns = [joint.type == "continuous" for joint in model.joints if joint.mimics is None]
        self._difference = FilteredDerivative(policy.velocity_cutoff, turns)
        self._names: list[str] = []
        self._places: list[tuple[int, int]] = []
        self._forget()

    def _forget(self) -> None:
        self._last: int | None = None
        self._difference.restart()
        self._q = [nan] * len(self.joint_names)
        self._qd = [nan] * len(self.joint_names)
        self._taken_at = [-1e9] * len(self.joint_names)

    def take(self, message: JointState, now: float, clock: Callable[[], int]) -> MeasuredState | None:
        """Read a message; None if it holds none of the robot's joints, as that of a gripper beside it.

        Args:
            message: the message.
            now: time of a steady clock, s.
            clock: gives the time of the node's clock, ns; asked where the message has no stamp.

        Raises:
            MessageError: it cannot be used. Nothing of it is kept.
        """
        if message.name != self._names:
            self._places = self._find(message.name)
            self._names = list(message.name)
        if not self._places:
            return None
        positions, velocities = self._numbers(message)
        whole = len(self._places) == len(self.joint_names)
        stamp = self._check_stamp(message, whole)

        q, qd = self._q[:], self._qd[:]
        for i, k in self._places:
            q[i], qd[i] = positions[k], velocities[k] if velocities else nan
        taken_at = self._taken_at[:]
        for i, _ in self._places:
            taken_at[i] = now
        if not whole:
            self._check_complete(taken_at, now)
        self._q, self._qd, self._taken_at = q, qd, taken_at
        self._last, self.stamped = stamp or self._last, stamp != 0
        stamp = stamp or clock()
        effort = self._effort(message.effort) if whole and len(message.effort) == len(self._names) else None
        qd = self._complete_velocity(1e-9 * stamp, q, qd)
        return MeasuredState((stamp // 10**9, stamp % 10**9), q, qd, effort)

    def _find(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """Where the model's joints stand among the names: pairs of the model's index and the message's."""
        for joint in self.joint_names:
            if names.count(joint) > 1:
                raise MessageError("name", "joint named twice", f"'{joint}' in [{', '.join(names)}]")
        return [(i, names.index(joint)) for i, joint in enumerate(self.joint_names) if joint in names]

    def _numbers(self, message: JointState) -> tuple[Sequence[float], Sequence[float]]:
        positions, velocities, count = message.position, message.velocity, len(self._names)
        for field, values in (("position", positions), ("velocity", velocities)):
            if len(values) != count and (field == "position" or len(values)):
                raise MessageError(field, "wrong length", f"expected {count} as there are names, got {len(values)}")
        for i, k in self._places:
            if not isfinite(positions[k]):
                raise MessageError("position", "not finite", f"joint '{self.joint_names[i]}' has {positions[k]}")
        if self._policy.estimate_velocity:
            return positions, velocities
        if not len(velocities):
            raise MessageError("velocity", "empty", "expected velocities, or the parameter estimate_velocity")
        for i, k in self._places:
            if not isfinite(velocities[k]):
                raise MessageError("velocity", "not finite", f"joint '{self.joint_names[i]}' has {velocities[k]}")
        return positions, velocities

    def _effort(self, efforts: Sequence[float]) -> list[float]:
        gain = self._policy.effort_gain or (1.0,) * len(self._places)
        return [factor * efforts[k] for factor, (_, k) in zip(gain, self._places)]

    def _check_stamp(self, message: JointState, whole: bool) -> int:
        """The stamp in ns; 0: there is none."""
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        if stamp == 0 or self._last is None:
            return stamp
        if stamp < self._last - CLOCK_JUMP * 1e9:
            self._forget()
            self.restarts += 1
        elif stamp < self._last:
            raise MessageError("header.stamp", "older than the last", f"by {1e-9 * (self._last - stamp):.6f} s")
        elif stamp == self._last and whole:
            raise MessageError("header.stamp", "the same as the last", "this instant has been computed")
        return stamp

    def _check_complete(self, taken_at: Sequence[float], now: float) -> None:
        for joint, at in zip(self.joint_names, taken_at):
            if now - at > self._policy.merge_timeout:
                known = f"last seen {now - at:.3f} s ago" if at > 0 else "never seen"
                raise MessageError("name", "joint missing", f"'{joint}' is not in it, and was {known}")

    def _complete_velocity(self, t: float, q: list[float], qd: list[float]) -> list[float]:
        if not self._policy.estimate_velocity:
            return qd
        rate = self._difference.update(t, q)
        if not any(map(isnan, qd)):
            return qd
        if rate is None:
            raise MessageError("velocity", "not known yet", "its estimate needs two messages")
        return [r if isnan(v) else v for v, r in zip(qd, rate)]
