# SPDX-License-Identifier: Apache-2.0
"""Records, instant by instant, the effort that an arm measures and those that nodes predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.demos.arm_recorder import QUEUE, seconds

MEASURED = "measured"


class EffortRecorder:
    """The instants for which the arm and all nodes have published, matched by their stamps."""

    def __init__(self, node: Node, joint_names: Sequence[str], topics: Mapping[str, str]) -> None:
        """Subscribe; nothing is recorded before `begin`.

        Args:
            node: the demo's node.
            joint_names: the joints, whose order the arrays have.
            topics: by the name of a model, the topic of the efforts that it predicts.
        """
        self.t: list[float] = []
        """Time of each instant, s."""
        self.latest: dict[str, float] = {}
        """Time of the newest message of each source, s."""
        self._joint_names = list(joint_names)
        self._sources = (MEASURED, *topics)
        self._efforts: dict[str, list[Array]] = {name: [] for name in self._sources}
        self._waiting: dict[float, dict[str, Array]] = {}
        self._begun = np.inf
        for name, topic in {MEASURED: "joint_states", **topics}.items():
            node.create_subscription(JointState, topic, lambda message, name=name: self.take(name, message), QUEUE)

    def begin(self, t: float) -> None:
        """Record the instants after a time, s."""
        self._begun = t

    def efforts(self, name: str) -> Array:
        """Return the efforts of a source at the times `t`, N m, shape (m, n)."""
        return np.array(self._efforts[name]).reshape(-1, len(self._joint_names))

    def rms(self, name: str) -> Array:
        """Return the root mean square of the measured less the predicted effort, N m, shape (n,); NaN at first."""
        if not self.t:
            return np.full(len(self._joint_names), np.nan)
        return np.sqrt(np.mean(np.square(self.efforts(MEASURED) - self.efforts(name)), axis=0))

    def take(self, name: str, message: JointState) -> None:
        """Take the message of a source."""
        t = self.latest[name] = seconds(message.header.stamp)
        if t <= self._begun:
            return
        effort = dict(zip(message.name, message.effort))
        instant = self._waiting.setdefault(t, {})
        instant[name] = np.array([effort[joint] for joint in self._joint_names])
        if len(instant) == len(self._sources):
            self.t.append(t)
            for source, values in self._waiting.pop(t).items():
                self._efforts[source].append(values)
        elif len(self._waiting) > QUEUE:  # a node has not answered a state
            del self._waiting[next(iter(self._waiting))]
