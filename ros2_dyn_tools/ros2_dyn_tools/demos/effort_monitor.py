# SPDX-License-Identifier: Apache-2.0
"""Listens to an arm and to the node `dynamics`, and compares the efforts of the two at the same instant."""

from __future__ import annotations

import time
from typing import NamedTuple

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

TOPICS = ("joint_states", "dynamics/inverse_dynamics", "dynamics/gravity", "dynamics/coriolis")
KEPT = 32
"""Instants that wait until all four topics have brought their message."""


class Sample(NamedTuple):
    """The messages of one stamp."""

    state: JointState
    inverse_dynamics: JointState
    gravity: JointState
    coriolis: JointState

    def differences(self) -> list[float]:
        """Of each joint: the effort that the arm reports, less that predicted, N m or N."""
        predicted = dict(zip(self.inverse_dynamics.name, self.inverse_dynamics.effort))
        return [effort - predicted[name] for name, effort in zip(self.state.name, self.state.effort)]


class EffortMonitor(Node):
    """Counts the instants for which every topic brought a message, and keeps the largest difference."""

    def __init__(self) -> None:
        super().__init__("effort_monitor")
        self.latest: Sample | None = None
        self.clear()
        self._waiting: dict[tuple[int, int], dict[str, JointState]] = {}
        qos = QoSProfile(depth=KEPT, reliability=ReliabilityPolicy.BEST_EFFORT)
        for topic in TOPICS:
            self.create_subscription(JointState, topic, lambda message, topic=topic: self._on(topic, message), qos)

    def clear(self) -> None:
        """Start counting afresh."""
        self.messages = 0
        self.max_abs_difference = 0.0
        self._first = self._last = time.monotonic()

    @property
    def rate(self) -> float:
        """Complete instants a second since the first one counted, Hz."""
        elapsed = self._last - self._first
        return (self.messages - 1) / elapsed if elapsed > 0 else 0.0

    def _on(self, topic: str, message: JointState) -> None:
        stamp = (message.header.stamp.sec, message.header.stamp.nanosec)
        arrived = self._waiting.setdefault(stamp, {})
        arrived[topic] = message
        if len(arrived) == len(TOPICS):
            del self._waiting[stamp]
            self._count(Sample(*(arrived[name] for name in TOPICS)))
        elif len(self._waiting) > KEPT:
            del self._waiting[next(iter(self._waiting))]

    def _count(self, sample: Sample) -> None:
        self.latest = sample
        self._last = time.monotonic()
        self._first = self._last if self.messages == 0 else self._first
        self.messages += 1
        self.max_abs_difference = max(self.max_abs_difference, *map(abs, sample.differences()))
