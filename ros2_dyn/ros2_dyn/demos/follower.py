"""A motion there and back, and who tells the node where it is."""

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

PART = 0.5
"""Of a lap's duration, which the demo trajectory takes for the way there: less than 1/2 would be slower than it."""

Desired = Callable[[float], "tuple[Array, Array, Array]"]
"""Positions, velocities and accelerations at a time, s, each of shape (n,)."""


class Lap:
    """A `DemoTrajectory` for a while and back, from rest to rest: ``s = S (1 - cos(2 pi x)) / 2``, x from 0 to 1."""

    def __init__(self, model: RobotModel, home: ArrayLike, start: float, duration: float) -> None:
        """Plan it; errors as of `DemoTrajectory`.

        Args:
            model: the robot, for its limits.
            home: joint positions at the start, rad or m, shape (n,).
            start: s.
            duration: s.
        """
        self._trajectory = DemoTrajectory(model, home)
        self.start, self.end = start, start + duration

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """See `Desired`; before and after, the arm rests at home."""
        q, v, a = self._trajectory.at(0.0)
        if not self.start < t < self.end:
            return q, np.zeros_like(q), np.zeros_like(q)
        duration = self.end - self.start
        S, w, phase = PART * duration, 2 * np.pi / duration, 2 * np.pi * (t - self.start) / duration
        s, ds, dds = S / 2 * np.array([1 - np.cos(phase), w * np.sin(phase), w**2 * np.cos(phase)])
        q, v, a = self._trajectory.at(s)
        return q, v * ds, a * ds**2 + v * dds


class Follower:
    """Publishes ~/desired, where it is at the time of publishing."""

    def __init__(self, node: Node, model: RobotModel) -> None:
        self._clock = node.get_clock()
        self._out = node.create_publisher(JointTrajectory, "dynamics/desired", 10)
        self._names = list(model.joint_names)
        self.desired: Desired | None = None
        """What is followed; None: nothing is published."""

    def publish(self) -> None:
        """To be called at the rate of the states."""
        if self.desired is None:
            return
        now = self._clock.now().nanoseconds
        q, qd, qdd = self.desired(1e-9 * now)
        point = JointTrajectoryPoint(positions=q.tolist(), velocities=qd.tolist(), accelerations=qdd.tolist())
        message = JointTrajectory(joint_names=self._names, points=[point])
        message.header.stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
        self._out.publish(message)


def resting(q: Array) -> Desired:
    """At joint positions, for ever."""
    return lambda t: (q, np.zeros_like(q), np.zeros_like(q))
