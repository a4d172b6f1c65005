# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories, read, interpolated and tracked as joint_trajectory_controller does it, without a model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array, clip


class Waypoint(NamedTuple):
    """The desired state at one time; arrays of shape (n,), in the model's order."""

    t: float
    """Time, s."""
    q: Array
    """Positions, rad or m."""
    qd: Array | None
    """Velocities, rad/s or m/s; None: not given."""
    effort: Array
    """Feed-forward efforts, N m or N."""


class TrajectoryPoint(NamedTuple):
    """A point of a message: lists in the order of the message's joints, empty where the field is not given."""

    time: float
    """Time from the start of the trajectory, s."""
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    effort: Sequence[float] = ()


class InterpolatedTrajectory:
    """Knots, and the motion between them.

    The motion is a cubic Hermite spline between waypoints that both have velocities, otherwise a straight line. The
    effort is linear. The position and the effort of the last waypoint are held for ever.
    """

    def __init__(self, waypoints: Sequence[Waypoint]) -> None:
        """Interpolate one or more waypoints, whose times increase."""
        self._waypoints = list(waypoints)
        self._times = [waypoint.t for waypoint in waypoints]

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Return positions, velocities and feed-forward efforts at time t (s), each of shape (n,)."""
        last = self._waypoints[-1]
        if t >= last.t:
            return last.q, np.zeros(len(last.q)), last.effort
        i = max(bisect_right(self._times, t), 1)
        return _between(self._waypoints[i - 1], self._waypoints[i], t)


class FeedForwardTracking:
    """Track a trajectory without a model: ``tau = effort_d + p (q_d - q) + d (qd_d - qd)``, saturated."""

    uses_dynamics = False

    def __init__(self, trajectory: InterpolatedTrajectory, p: Array, d: Array, limit: Array) -> None:
        """Track with gains p (N m/rad or N/m) and d (N m s/rad or N s/m) up to the effort limit, each (n,)."""
        self.trajectory = trajectory
        self.p = p
        self.damping = d
        self.limit = limit

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        q_d, qd_d, effort = self.trajectory.at(t)
        tau = effort + self.p * (q_d - q) + self.damping * (qd_d - qd)
        return clip(tau, -self.limit, self.limit)


def read_waypoints(
    joint_names: Sequence[str], names: Sequence[str], points: Sequence[TrajectoryPoint]
) -> list[Waypoint]:
    """Return the waypoints of a message in the model's order; an effort that is not given is zero.

    Args:
        joint_names: the model's joints.
        names: the message's joints, in any order.
        points: the message's points.

    Raises:
        InputError: the joints are not the model's, there are no points, times do not increase from 0, a list has the
            wrong length, positions are missing, a number is not finite, or the last point has a velocity.
    """
    if sorted(names) != sorted(joint_names):
        raise InputError("joint_names", f"expected {', '.join(joint_names)} in any order, got {', '.join(names)}")
    if not points:
        raise InputError("points", "expected one or more, got none")
    order = [list(names).index(name) for name in joint_names]
    waypoints = [_waypoint(f"points[{i}]", point, order) for i, point in enumerate(points)]
    times = [-1e-9, *(waypoint.t for waypoint in waypoints)]
    if not np.all(np.diff(times) > 0):
        raise InputError("points.time_from_start", f"expected times that increase, from 0 or later, got {times[1:]}")
    if waypoints[-1].qd is not None and np.abs(waypoints[-1].qd).max() > 1e-6:
        raise InputError(
            f"points[{len(waypoints) - 1}].velocities", f"expected zeros at the end, got {waypoints[-1].qd}"
        )
    return waypoints


def _waypoint(where: str, point: TrajectoryPoint, order: Sequence[int]) -> Waypoint:
    if len(point.positions) == 0:
        raise InputError(f"{where}.positions", f"expected {len(order)} numbers, got none")
    picked: list[Array | None] = []
    for field in ("positions", "velocities", "effort"):
        values = np.asarray(getattr(point, field), dtype=float)
        if len(values) not in (0, len(order)) or not np.all(np.isfinite(values)):
            raise InputError(f"{where}.{field}", f"expected {len(order)} finite numbers, got {values}")
        picked.append(values[order] if len(values) else None)
    q, qd, effort = picked
    assert q is not None
    return Waypoint(point.time, q, qd, np.zeros(len(order)) if effort is None else effort)


def _between(a: Waypoint, b: Waypoint, t: float) -> tuple[Array, Array, Array]:
    T = b.t - a.t
    s = (t - a.t) / T
    rise = b.q - a.q
    effort = a.effort + s * (b.effort - a.effort)
    if a.qd is None or b.qd is None:
        return a.q + s * rise, rise / T, effort
    A, B = a.qd * T - rise, rise - b.qd * T  # how the tangents differ from the straight line
    q = a.q + s * rise + s * (1 - s) * ((1 - s) * A + s * B)
    qd = (rise + (1 - 2 * s) * ((1 - s) * A + s * B) + s * (1 - s) * (B - A)) / T
    return q, qd, effort
