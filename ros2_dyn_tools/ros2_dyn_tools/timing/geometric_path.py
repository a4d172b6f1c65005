# SPDX-License-Identifier: Apache-2.0
"""The geometric path q(s) of a trajectory: where the joints pass, without the time at which they do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.joint_trajectory import JointTrajectory

MIN_POINTS = 200
"""Number of points of a path whose trajectory gives velocities: they follow its Hermite splines."""
REPEATED = 1e-4
"""Share of the path's length below which a point repeats the one before it, and is left out."""
GRID = 400
"""Number of pieces of the grid, at least."""
PARTS = 4
"""Number of parts into which `divided` divides a piece."""
ENDS = 0.25 ** np.arange(5, 0, -1)
"""Where the first piece of the grid is divided, and mirrored the last: near rest, a short way takes long."""
COARSE_ENDS = ENDS[3:]
"""The same where toppra's solver finds nothing: speeds that strong motors take there are too small for it."""
UNIT_SPEED = 1.0
"""Speed by which joints without a velocity limit are scaled, rad/s or m/s."""


class PathPoints(NamedTuple):
    """Positions on a path and their derivatives by s, each of shape (m, n)."""

    s: Array
    """The places, shape (m,)."""
    q: Array
    dq: Array
    ddq: Array
    dddq: Array


class GeometricPath:
    """The cubic spline q(s) with continuous curvature through the points of a trajectory.

    s is the length of the polygon through the points, with each joint's distance divided by its velocity limit. It is
    in seconds therefore, and its rate is about 1 where the fastest joints are at their limits.

    Attributes:
        length: s at the end of the path.
        grid: values of s at which limits are held, shape (N + 1,), the knots of the spline among them.
        coarse_grid: the same with longer pieces at both ends.
    """

    def __init__(self, trajectory: JointTrajectory, velocity_limit: Array) -> None:
        """Make the path.

        Args:
            trajectory: the points; where they have velocities, the path follows the cubic Hermite splines through them.
            velocity_limit: rad/s or m/s, shape (n,).

        Raises:
            InputError: there are fewer than two different points, or points too far apart to be measured; or times do
                not increase where velocities are given.
        """
        times, points = _shape(trajectory)
        scaled = points / np.where(np.isfinite(velocity_limit), velocity_limit, UNIT_SPEED)
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.linalg.norm(np.diff(scaled, axis=0), axis=-1)
        if not np.isfinite(np.sum(steps)):
            raise InputError("trajectory", "it goes farther than can be measured: are its numbers in rad and rad/s?")
        kept = _different(scaled, REPEATED * float(np.sum(steps)))
        if len(kept) < 2:
            raise InputError("trajectory", "it does not move: expected two different points, at least")
        s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(scaled[kept], axis=0), axis=-1))])
        from scipy.interpolate import CubicSpline  # takes a third of a second

        self._curve: Any = CubicSpline(s, points[kept], bc_type="natural")
        self._knots, self._times = s, times[kept]
        self.length = float(s[-1])
        pieces = np.maximum(1, np.ceil(np.diff(s) / self.length * GRID)).astype(int)
        inner = [a + (b - a) * np.arange(m) / m for a, b, m in zip(s[:-1], s[1:], pieces)]
        even = np.concatenate([*inner, [self.length]])
        self.grid, self.coarse_grid = (_with_ends(even, ends) for ends in (ENDS, COARSE_ENDS))

    def at(self, s: Array) -> PathPoints:
        """Return the path at values of s (m,); those beyond its ends are taken to them."""
        s = np.clip(s, 0.0, self.length)
        return PathPoints(s, *(self._curve(s, order) for order in range(4)))

    def reversals(self) -> Array:
        """Return the places at which some joint turns round, shape (k,), where its friction changes its sign."""
        roots = self._curve.derivative().roots(discontinuity=False, extrapolate=False)
        places = np.concatenate([each[np.isfinite(each)] for each in roots])
        return places[(places > 0) & (places < self.length)]

    def given_time(self, s: float) -> float:
        """Return when the given trajectory is about at s, s from its start."""
        return float(np.interp(s, self._knots, self._times))


def _with_ends(grid: Array, shares: Array) -> Array:
    """Return a grid whose first piece is divided at some shares of it, and the last one likewise from its end."""
    first, last = grid[1] * shares, grid[-1] - (grid[-1] - grid[-2]) * shares[::-1]
    return np.concatenate([grid[:1], first, grid[1:-1], last, grid[-1:]])


def divided(grid: Array, places: Array) -> Array:
    """Return a grid with those of its pieces divided into `PARTS` in which there are some places."""
    pieces = np.unique(np.clip(np.searchsorted(grid, places) - 1, 0, len(grid) - 2))
    lengths = (grid[pieces + 1] - grid[pieces])[:, None]
    return np.union1d(grid, (grid[pieces, None] + lengths * np.arange(1, PARTS) / PARTS).ravel())


def _shape(trajectory: JointTrajectory) -> tuple[Array, Array]:
    """Return times (m,) and positions (m, n) that give the path its shape."""
    t, q, qd = trajectory.times - trajectory.times[0], trajectory.positions, trajectory.velocities
    if qd is None or len(t) < 2:
        return t, q
    if np.any(np.diff(t) <= 0):
        raise InputError("time_from_start", "expected increasing times, as the velocities are given")
    from scipy.interpolate import CubicHermiteSpline

    parts = int(np.ceil(MIN_POINTS / len(t)))
    finer = np.append((t[:-1, None] + np.diff(t)[:, None] * np.arange(parts) / parts).ravel(), t[-1])
    return finer, CubicHermiteSpline(t, q, qd)(finer)


def _different(points: Array, shortest: float) -> list[int]:
    """Return the indices of points farther than this from those before, the first and the last one among them."""
    kept = [0]
    for i in range(1, len(points)):
        if np.linalg.norm(points[i] - points[kept[-1]]) > shortest:
            kept.append(i)
    if kept[-1] != len(points) - 1:
        if len(kept) > 1:
            kept.pop()
        if np.linalg.norm(points[-1] - points[kept[-1]]) > shortest:
            kept.append(len(points) - 1)
    return kept
