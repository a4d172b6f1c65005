# SPDX-License-Identifier: Apache-2.0
"""The motions that demos ask for: laps there and back, samples of a motion, and the messages that carry them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from builtin_interfaces.msg import Duration, Time
from numpy.typing import ArrayLike
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory

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
        S, w, phase = duration / 2, 2 * np.pi / duration, 2 * np.pi * (t - self.start) / duration
        s, ds, dds = S / 2 * np.array([1 - np.cos(phase), w * np.sin(phase), w**2 * np.cos(phase)])
        q, v, a = self._trajectory.at(s)
        return q, v * ds, a * ds**2 + v * dds

    def samples(self, rate: float) -> Array:
        """Return times, positions and velocities at a rate, Hz, shape (m, 1 + 2 n)."""
        t = np.arange(round((self.end - self.start) * rate) + 1) / rate
        return np.array([np.concatenate([[each], *self.at(self.start + each)[:2]]) for each in t])


def read_samples(path: Path) -> Array:
    """Return times, positions and velocities, shape (m, 1 + 2 n), of a file that `ros2_dyn excite` has written."""
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return np.hstack([table[:, :1], table[:, 1::3], table[:, 2::3]])


def trajectory_message(samples: Array, joint_names: Sequence[str]) -> JointTrajectory:
    """Return samples as a message without stamp: the motion begins when it is received."""
    message = JointTrajectory(joint_names=list(joint_names))
    for t, *state in samples.tolist():
        sec, nanosec = divmod(round(1e9 * t), 10**9)
        after, n = Duration(sec=sec, nanosec=nanosec), len(joint_names)
        message.points.append(JointTrajectoryPoint(positions=state[:n], velocities=state[n:], time_from_start=after))
    return message


def state_message(desired: tuple[Array, Array, Array], stamp: Time, joint_names: Sequence[str]) -> JointTrajectory:
    """Return a desired state for `~/desired` of the node, which pairs it with the measured state of the same stamp."""
    q, qd, qdd = desired
    point = JointTrajectoryPoint(positions=q.tolist(), velocities=qd.tolist(), accelerations=qdd.tolist())
    message = JointTrajectory(joint_names=list(joint_names), points=[point])
    message.header.stamp = stamp
    return message


def resting(q: Array) -> Desired:
    """Return the desired motion of an arm that stays at joint positions."""
    return lambda t: (q, np.zeros_like(q), np.zeros_like(q))
