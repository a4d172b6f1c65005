# SPDX-License-Identifier: Apache-2.0
"""A desired motion there and back, and its publisher."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import ArrayLike
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn_tools.demos.arm_recorder import seconds

FORWARD_FRACTION = 0.5
"""Duration of the demo trajectory's way there over that of the lap; below 1/2 the lap would be slower."""

Desired = Callable[[float], "tuple[Array, Array, Array]"]
"""Returns positions, velocities and accelerations at a time, s, each of shape (n,)."""


class Lap:
    """A `DemoTrajectory` for a while and back, from rest to rest: ``s = S (1 - cos(2 pi x)) / 2``, x from 0 to 1."""

    def __init__(self, model: RobotModel, home: ArrayLike, start: float, duration: float) -> None:
        """Plan the lap; errors as of `DemoTrajectory`.

        Args:
            model: the robot, for its limits.
            home: joint positions at the start, rad or m, shape (n,).
            start: time of the start, s.
            duration: duration, s.
        """
        self._trajectory = DemoTrajectory(model, home)
        self.start, self.end = start, start + duration

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """See `Desired`; before and after the lap the arm rests at home."""
        q, v, a = self._trajectory.at(0.0)
        if not self.start < t < self.end:
            return q, np.zeros_like(q), np.zeros_like(q)
        duration = self.end - self.start
        S, w, phase = FORWARD_FRACTION * duration, 2 * np.pi / duration, 2 * np.pi * (t - self.start) / duration
        s, ds, dds = S / 2 * np.array([1 - np.cos(phase), w * np.sin(phase), w**2 * np.cos(phase)])
        q, v, a = self._trajectory.at(s)
        return q, v * ds, a * ds**2 + v * dds


class DesiredPublisher:
    """Publishes `~/desired` of the node, for the stamps of measured states."""

    def __init__(self, node: Node, model: RobotModel) -> None:
        """Create the publisher."""
        self._out = node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self._names = list(model.joint_names)
        self.desired: Desired | None = None
        """The desired motion; None: none yet, and nothing is published."""

    def publish(self, stamp: Time) -> None:
        """Publish the desired state at a stamp; the node pairs it with the measured state of the same stamp."""
        if self.desired is None:
            return
        q, qd, qdd = self.desired(seconds(stamp))
        point = JointTrajectoryPoint(positions=q.tolist(), velocities=qd.tolist(), accelerations=qdd.tolist())
        message = JointTrajectory(joint_names=self._names, points=[point])
        message.header.stamp = stamp
        self._out.publish(message)


def resting(q: Array) -> Desired:
    """Return the desired motion of an arm that stays at joint positions."""
    return lambda t: (q, np.zeros_like(q), np.zeros_like(q))
