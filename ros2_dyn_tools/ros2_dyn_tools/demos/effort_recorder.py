# SPDX-License-Identifier: Apache-2.0
"""The instants at which the arm and all nodes have published: their messages, matched by their stamps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from ros2_dyn_tools.demos.arm_recorder import QUEUE, seconds

MEASURED = "measured"
"""Source of what the arm measures."""


class EffortRecorder:
    """Gathers the messages of one stamp, from the arm and from other topics."""

    def __init__(self, node: Node, topics: Mapping[str, str], take: Callable[[dict[str, JointState]], None]) -> None:
        """Subscribe.

        Args:
            node: the demo's node.
            topics: of what nodes predict, by the name of each source.
            take: called with the messages of each complete instant, by source.
        """
        self.latest: dict[str, float] = {}
        """Time of the newest message of each source, s."""
        self._sources, self._take = (MEASURED, *topics), take
        self._waiting: dict[float, dict[str, JointState]] = {}
        qos = QoSProfile(depth=QUEUE, reliability=ReliabilityPolicy.BEST_EFFORT)
        for name, topic in {MEASURED: "joint_states", **topics}.items():
            node.create_subscription(JointState, topic, lambda message, name=name: self.on_message(name, message), qos)

    def on_message(self, name: str, message: JointState) -> None:
        """Take the message of a source."""
        t = self.latest[name] = seconds(message.header.stamp)
        instant = self._waiting.setdefault(t, {})
        instant[name] = message
        if len(instant) == len(self._sources):
            self._take(self._waiting.pop(t))
        elif len(self._waiting) > QUEUE:  # a node has not answered a state
            del self._waiting[next(iter(self._waiting))]
