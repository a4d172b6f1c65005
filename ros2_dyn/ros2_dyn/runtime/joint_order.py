# SPDX-License-Identifier: Apache-2.0
"""From messages to lists in the model's joint order: joints are matched by name, never by index."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from ros2_dyn.errors import MessageError
from ros2_dyn.runtime.inputs import DesiredSample, JointSample, check_names
from ros2_dyn.runtime.states import DesiredState, MeasuredState


class JointOrder:
    """Picks the model's joints out of messages that may hold them in any order, and others besides."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self.joint_names = tuple(joint_names)
        self._names: tuple[str, ...] | None = None
        self._indices: list[int] = []

    def state(self, sample: JointSample) -> MeasuredState:
        """Read a state from a request, where an empty velocity means zero velocity.

        Raises:
            MessageError: a joint is missing or named twice, an array has the wrong length, or a number is not finite.
        """
        q = self._pick(sample.names, "position", sample.position)
        qd = self._pick_optional(sample.names, "velocity", sample.velocity)
        return MeasuredState(sample.stamp, q, [0.0] * len(q) if qd is None else qd)

    def desired(self, sample: DesiredSample) -> DesiredState:
        """Read a desired state.

        Raises:
            MessageError: as `state`.
        """
        return DesiredState(
            sample.stamp,
            self._pick_optional(sample.names, "points[0].positions", sample.positions),
            self._pick_optional(sample.names, "points[0].velocities", sample.velocities),
            self._pick(sample.names, "points[0].accelerations", sample.accelerations),
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
        """Return where the model's joints stand among the names; remembered, as publishers keep to one order."""
        if names != self._names:
            self._indices = find_joints(self.joint_names, names, "name")
            self._names = names
        return self._indices


def find_joints(joints: Sequence[str], names: Sequence[str], field: str) -> list[int]:
    """Return where each of the joints stands among the names of a message.

    Raises:
        MessageError: a joint is missing or named twice, or there are too many names.
    """
    check_names(names)
    for joint in joints:
        if names.count(joint) != 1:
            reason = "joint named twice" if joint in names else "joint missing"
            raise MessageError(field, reason, f"'{joint}' in [{', '.join(names)}]")
    return [names.index(joint) for joint in joints]
