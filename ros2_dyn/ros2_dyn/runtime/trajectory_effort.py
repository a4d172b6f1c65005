# SPDX-License-Identifier: Apache-2.0
"""The effort of every point of a trajectory, for controllers that take it as feed-forward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ros2_dyn.control.command_settings import Convention, robot_adds_friction
from ros2_dyn.errors import MessageError
from ros2_dyn.kernels import Kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.joint_order import find_joints
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.robot_kernels import trajectory_kernel

Array = NDArray[np.float64]


class TrajectorySample(NamedTuple):
    """A whole trajectory; each field has one list for each point."""

    names: Sequence[str]
    times: Sequence[float]
    """From the start, s."""
    positions: Sequence[Sequence[float]]
    """rad or m."""
    velocities: Sequence[Sequence[float]]
    """rad/s or m/s; empty lists where they are not given."""
    accelerations: Sequence[Sequence[float]]
    """rad/s^2 or m/s^2; empty lists where they are not given."""


class TrajectoryTask(NamedTuple):
    """What the effort along a trajectory depends on, apart from that."""

    model: RobotModel
    link: str
    """The link that carries the payload."""
    payload: tuple[float, ...]
    """Its inertial parameters, shape (10,)."""
    gravity: tuple[float, ...]
    """Acceleration of free fall in the base frame, m/s^2, shape (3,)."""
    kind: Convention
    """Which part of the effort the robot adds itself."""

    @classmethod
    def of(cls, robot: RobotDynamics, now: float) -> TrajectoryTask:
        """Return the task of a robot with what it carries at a time, s."""
        settings, payload = robot.settings, tuple(robot.payload.at(now))
        return cls(robot.model, robot.payload.link, payload, settings.robot.gravity, settings.commands.convention)

    def prepare(self) -> Kernel:
        """Compile the kernel, unless it is at hand."""
        return trajectory_kernel(self.model, self.link)

    def effort(self, trajectory: TrajectorySample) -> Array:
        """Return the effort of every point, N m or N, shape (m, k), in the order of the trajectory's k joints.

        What the robot adds itself is left out. Joints that it has not get an effort of zero.

        Where points lack accelerations, they are those of a spline through what the points give: a cubic Hermite spline
        through positions and velocities; or, through positions alone, the cubic spline with continuous acceleration
        that starts and ends at rest.

        Args:
            trajectory: the trajectory.

        Raises:
            MessageError: joints are missing, lists have the wrong length, numbers are not finite or times do not
                increase.
        """
        names = list(trajectory.names)
        columns = find_joints(self.model.joint_names, names, "joint_names")
        q, qd, qdd = (_table(trajectory, field, len(names)) for field in ("positions", "velocities", "accelerations"))
        if q is None:
            raise MessageError("points", "empty", "expected points, each with positions")
        if qd is None or qdd is None:
            rates = _spline(_times(trajectory), q, qd)
            qd, qdd = rates[0] if qd is None else qd, rates[1] if qdd is None else qdd
        inputs = q[:, columns], qd[:, columns], qdd[:, columns], np.array(self.gravity), np.array(self.payload)
        effort, weight, friction = self.prepare()(*inputs)
        if self.kind != "raw":
            effort = effort - weight
        if robot_adds_friction(self.kind):
            effort = effort - friction
        if not np.all(np.isfinite(effort)):
            raise MessageError("points", "too large", "an effort would not be finite")
        table = np.zeros((len(q), len(names)))
        table[:, columns] = effort
        return table


def _table(trajectory: TrajectorySample, field: str, count: int) -> Array | None:
    """Return one quantity of all points, a row each; None where no point gives it."""
    rows = getattr(trajectory, field)
    if not any(len(row) for row in rows):
        return None
    for i, row in enumerate(rows):
        if len(row) != count:
            raise MessageError(f"points[{i}].{field}", "wrong length", f"expected {count}, got {len(row)}")
    table = np.array(rows, dtype=float)
    if not np.all(np.isfinite(table)):
        raise MessageError(f"points.{field}", "not finite", "expected finite numbers")
    return table


def _times(trajectory: TrajectorySample) -> Array:
    times = np.array(trajectory.times, dtype=float)
    if np.any(np.diff(times) <= 0):
        raise MessageError("points.time_from_start", "not increasing", "accelerations follow from increasing times")
    return times


def _spline(t: Array, q: Array, qd: Array | None) -> tuple[Array, Array]:
    """Return velocities and accelerations at the points."""
    if len(t) == 1:
        return (np.zeros_like(q) if qd is None else qd), np.zeros_like(q)
    from scipy.interpolate import CubicHermiteSpline, CubicSpline  # takes a third of a second

    if qd is None:
        spline = CubicSpline(t, q, bc_type="clamped")
        return spline(t, 1), spline(t, 2)
    curve = CubicHermiteSpline(t, q, qd)
    before, after = curve(np.nextafter(t, -np.inf), 2), curve(t, 2)  # its acceleration jumps at the points
    qdd = (before + after) / 2
    qdd[0], qdd[-1] = after[0], before[-1]
    return qd, qdd
