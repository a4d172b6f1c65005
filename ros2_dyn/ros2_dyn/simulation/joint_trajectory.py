"""Joint trajectories as joint_trajectory_controller reads and interpolates them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array

STANDSTILL = 1e-6
"""Greatest velocity at the end of a trajectory, rad/s or m/s."""


class Knot(NamedTuple):
    """Where a trajectory is to be at a time; arrays of shape (n,), in the model's order."""

    t: float
    """s."""
    q: Array
    """rad or m."""
    qd: Array | None
    """rad/s or m/s; None: not given."""
    effort: Array
    """Feed-forward, N m or N."""


class Point(NamedTuple):
    """A point of a message, as it came: lists in the order of the message's joints, empty where nothing is given."""

    time: float
    """s from the start of the trajectory."""
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    effort: Sequence[float] = ()


class JointTrajectory:
    """Knots, and the motion between them.

    Cubic Hermite pieces between knots that both have velocities, otherwise straight lines. The effort is linear
    between knots. From the last knot on its position and its effort are held.
    """

    def __init__(self, knots: Sequence[Knot]) -> None:
        """Of knots, one or more, whose times increase."""
        self._knots = list(knots)
        self._times = [knot.t for knot in knots]

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Positions, velocities and feed-forward efforts at time t (s), from the first knot on; each of shape (n,)."""
        last = self._knots[-1]
        if t >= last.t:
            return last.q, np.zeros_like(last.q), last.effort
        i = max(bisect_right(self._times, t), 1)
        return _between(self._knots[i - 1], self._knots[i], t)


def read_knots(joint_names: Sequence[str], names: Sequence[str], points: Sequence[Point]) -> list[Knot]:
    """The knots of a message, in the model's order; an effort that is not given is zero.

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
    knots = [_knot(f"points[{i}]", point, order) for i, point in enumerate(points)]
    times = [-1e-9, *(knot.t for knot in knots)]
    if not np.all(np.diff(times) > 0):
        raise InputError("points.time_from_start", f"expected times that increase, from 0 or later, got {times[1:]}")
    if knots[-1].qd is not None and np.abs(knots[-1].qd).max() > STANDSTILL:
        raise InputError(f"points[{len(knots) - 1}].velocities", f"expected zeros at the end, got {knots[-1].qd}")
    return knots


def _knot(where: str, point: Point, order: Sequence[int]) -> Knot:
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
    return Knot(point.time, q, qd, np.zeros(len(order)) if effort is None else effort)


def _between(a: Knot, b: Knot, t: float) -> tuple[Array, Array, Array]:
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
