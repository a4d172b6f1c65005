# SPDX-License-Identifier: Apache-2.0
"""A joint motion as samples: from the CSV of `ros2_dyn excite` or from a lap, and as a message for a controller."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.demos.desired_publisher import Lap


class SampledMotion(NamedTuple):
    """Positions and velocities of n joints."""

    t: Array
    """Times from the beginning, s, shape (m,)."""
    q: Array
    """Positions, rad, shape (m, n)."""
    qd: Array
    """Velocities, rad/s, shape (m, n)."""

    @classmethod
    def read(cls, path: Path) -> SampledMotion:
        """Read the columns time and, for each joint, position, velocity and acceleration."""
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        return cls(table[:, 0], table[:, 1::3], table[:, 2::3])

    @classmethod
    def of(cls, lap: Lap, rate: float) -> SampledMotion:
        """Sample a lap at a rate, Hz."""
        t = np.arange(round((lap.end - lap.start) * rate) + 1) / rate
        q, qd, _ = (np.array(values) for values in zip(*(lap.at(lap.start + each) for each in t)))
        return cls(t, q, qd)

    def message(self, joint_names: Sequence[str]) -> JointTrajectory:
        """Return it as a message without stamp: it begins when it is received."""
        message = JointTrajectory(joint_names=list(joint_names))
        for t, q, qd in zip(self.t, self.q, self.qd):
            sec, nanosec = divmod(round(1e9 * t), 10**9)
            time_from_start = Duration(sec=sec, nanosec=nanosec)
            message.points.append(JointTrajectoryPoint(positions=q, velocities=qd, time_from_start=time_from_start))
        return message
