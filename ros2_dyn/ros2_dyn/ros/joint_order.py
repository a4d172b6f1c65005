"""From messages to arrays in the model's joint order: joints are matched by name, never by index."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import MessageError
from ros2_dyn.ros.state_intake import MeasuredState


class DesiredState(NamedTuple):
    """A desired state in the model's joint order; None where the message leaves it to the measurement."""

    stamp: tuple[int, int]
    q: list[float] | None
    qd: list[float] | None
    qdd: list[float]


class JointOrder:
    """Picks the model's joints out of messages that may hold them in any order, and others besides."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self.joint_names = tuple(joint_names)
        self._names: tuple[str, ...] | None = None
        self._indices: list[int] = []

    def given(self, message: JointState) -> MeasuredState:
        """Read a state from a request, where an empty velocity means zero velocity.

        Raises:
            MessageError: a joint is missing or named twice, an array has the wrong length, or a number is not finite.
        """
        q = self._pick(message.name, "position", message.position)
        qd = self._pick_optional(message.name, "velocity", message.velocity)
        return MeasuredState(_stamp(message), q, [0.0] * len(q) if qd is None else qd)

    def desired(self, message: JointTrajectory) -> DesiredState:
        """Read the first point of a trajectory.

        Raises:
            MessageError: there is no point, or its accelerations are empty, or as `given`.
        """
        if not message.points:
            raise MessageError("points", "empty", "expected one point with accelerations")
        names, point = message.joint_names, message.points[0]
        return DesiredState(
            _stamp(message),
            self._pick_optional(names, "points[0].positions", point.positions),
            self._pick_optional(names, "points[0].velocities", point.velocities),
            self._pick(names, "points[0].accelerations", point.accelerations),
        )

    def _pick_optional(self, names: Sequence[str], field: str, values: Sequence[float]) -> list[float] | None:
        return self._pick(names, field, values) if len(values) else None

    def _pick(self, names: Sequence[str], field: str, values: Sequence[float]) -> list[float]:
        if len(values) != len(names):
            raise MessageError(field, "wrong length", f"expected {len(names)} as there are names, got {len(values)}")
        picked = [values[index] for index in self._indices_of(tuple(names))]
        for name, value in zip(self.joint_names, picked):
            if not isfinite(value):
                raise MessageError(field, "not finite", f"joint '{name}' has {value}")
        return picked

    def _indices_of(self, names: tuple[str, ...]) -> list[int]:
        """Where the model's joints stand among the names; remembered, as publishers keep to one order."""
        if names != self._names:
            self._indices = places(self.joint_names, names, "name")
            self._names = names
        return self._indices


def places(joints: Sequence[str], names: Sequence[str], field: str) -> list[int]:
    """Where each of the joints stands among the names of a message.

    Raises:
        MessageError: a joint is missing or named twice.
    """
    for joint in joints:
        if names.count(joint) != 1:
            reason = "joint named twice" if joint in names else "joint missing"
            raise MessageError(field, reason, f"'{joint}' in [{', '.join(names)}]")
    return [names.index(joint) for joint in joints]


def _stamp(message: JointState | JointTrajectory) -> tuple[int, int]:
    return message.header.stamp.sec, message.header.stamp.nanosec
