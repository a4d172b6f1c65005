# SPDX-License-Identifier: Apache-2.0
"""JointTrajectory: the points of a motion, as trajectory_msgs/JointTrajectory has them, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array

QUANTITIES = ("positions", "velocities", "accelerations", "effort")
"""Fields of a point of trajectory_msgs/JointTrajectory that hold a number for each joint."""


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Points of m times and k joints. Quantities have shape (m, k); None where the points lack them."""

    joint_names: tuple[str, ...]
    times: Array
    """Time from the start, s, shape (m,)."""
    positions: Array
    """Joint positions, rad or m."""
    velocities: Array | None = None
    """Joint velocities, rad/s or m/s."""
    accelerations: Array | None = None
    """Joint accelerations, rad/s^2 or m/s^2."""
    effort: Array | None = None
    """Joint efforts, N m or N."""

    def __post_init__(self) -> None:
        """Check shapes and numbers.

        Raises:
            InputError: a joint is named twice, a shape is wrong, or a number is not finite.
        """
        if twice := [name for name in self.joint_names if self.joint_names.count(name) > 1]:
            raise InputError("joint_names", f"'{twice[0]}' is named twice")
        if np.ndim(self.times) != 1 or not np.all(np.isfinite(self.times)):
            raise InputError("time_from_start", "expected a finite number for each point")
        shape = len(self.times), len(self.joint_names)
        for name in QUANTITIES:
            values = getattr(self, name)
            if values is None:
                continue
            if np.shape(values) != shape:
                expected = f"expected {shape[1]} numbers in each of {shape[0]} points"
                raise InputError(name, f"{expected}, got shape {np.shape(values)}")
            if bad := np.argwhere(~np.isfinite(values)).tolist():
                raise InputError(name, f"joint '{self.joint_names[bad[0][1]]}', point {bad[0][0]}: not a finite number")

    @property
    def duration(self) -> float:
        """Time between the first point and the last one, s."""
        return float(self.times[-1] - self.times[0])

    def ordered(self, joint_names: Sequence[str]) -> JointTrajectory:
        """Return the same trajectory with its joints in another order.

        Raises:
            InputError: a joint is missing, or there is one that is not among the names.
        """
        for name in joint_names:
            if name not in self.joint_names:
                has = ", ".join(self.joint_names) or "none"
                problem = f"the joint '{name}' is missing; it has {has}. Lock the robot's other joints (--joints)"
                raise InputError("trajectory", problem)
        for name in self.joint_names:
            if name not in joint_names:
                raise InputError("trajectory", f"the robot has no joint '{name}'; it has {', '.join(joint_names)}")
        columns = [self.joint_names.index(name) for name in joint_names]
        given: dict[str, Array] = {name: getattr(self, name) for name in QUANTITIES if getattr(self, name) is not None}
        picked = {name: table[:, columns] for name, table in given.items()}
        return replace(self, joint_names=tuple(joint_names), **picked)
