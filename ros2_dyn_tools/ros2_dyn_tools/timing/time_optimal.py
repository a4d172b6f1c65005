# SPDX-License-Identifier: Apache-2.0
"""The fastest speed along a path within limits, by TOPP-RA (Pham and Pham 2018), of the library toppra.

toppra takes limits as rows ``a sdd + b sd^2 + c <= 1`` at the points of a grid. They are computed for all points at
once here. sdd is constant between two points, and each row is held with it at both of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.effort_terms import EffortTerms
from ros2_dyn_tools.timing.friction_bounds import friction_bounds
from ros2_dyn_tools.timing.geometric_path import PathPoints
from ros2_dyn_tools.timing.motion_bounds import MotionBounds

FASTEST = 100.0
"""Highest speed sd where no velocity limit bounds it; toppra's solver is accurate below."""
FIRST_GUESSES = (0.3, 0.03, 0.003)
"""Shares of the highest speed that are guessed first; the next one is taken where one gives no timing."""
MIN_GUESS = 0.02
"""Smallest guess of a speed as a share of the largest one: at rest, the bounds of friction would be loose elsewhere."""
GROWTH = 2.0
"""Factor by which a solution may be faster than the one before: bounds of friction are closer in a smaller range."""
MAX_SOLUTIONS = 20
"""Number of solutions, each with the speed of the one before as its guess."""
ENOUGH = 2e-3
"""Relative gain of time from one solution to the next that ends the search."""


class Rows(NamedTuple):
    """Limits ``a sdd + b sd^2 + c <= 1`` at m points, each of shape (m, rows)."""

    a: Array
    b: Array
    c: Array


def highest_speed(path: PathPoints, velocity: Array) -> Array:
    """Return the highest speed sd at each of m points that the velocity limits allow, shape (m,)."""
    share = np.max(np.abs(path.dq) / velocity, axis=-1)
    return 1 / np.maximum(share, 1 / FASTEST)


def fastest_speed(path: PathPoints, terms: EffortTerms, bounds: MotionBounds) -> Array | None:
    """Return the speed sd at each point of a grid, shape (N + 1,), from rest to rest; None where there is none.

    Args:
        path: the path at the points of the grid.
        terms: its efforts there.
        bounds: the limits; jerks are not looked at.

    Raises:
        InputError: toppra is not installed, or no limit bounds the acceleration somewhere.
    """
    grid, highest = path.s, highest_speed(path, bounds.velocity)
    speed = None
    for share in FIRST_GUESSES:
        speed = _solve(grid, highest, limit_rows(path, terms, bounds, highest, share * highest))
        if speed is not None:
            break
    if speed is None or not _has_friction(terms, highest):
        return speed
    for _ in range(MAX_SOLUTIONS - 1):
        guess = np.minimum(np.maximum(speed, MIN_GUESS * np.max(speed)), highest)
        allowed = np.minimum(GROWTH * guess, highest)
        better = _solve(grid, allowed, limit_rows(path, terms, bounds, allowed, guess))
        if better is None or travel_time(grid, better) > (1 - ENOUGH) * travel_time(grid, speed):
            break
        speed = better
    return speed


def travel_time(grid: Array, speed: Array) -> float:
    """Return the time over a grid with constant acceleration between its points, s."""
    return float(np.sum(2 * np.diff(grid) / np.maximum(speed[1:] + speed[:-1], 1e-12)))


def limit_rows(path: PathPoints, terms: EffortTerms, bounds: MotionBounds, highest: Array, guess: Array) -> Rows:
    """Return the limits of acceleration and effort at the points of a path, as rows.

    Args:
        path: the path.
        terms: its efforts.
        bounds: the limits.
        highest: the highest speed sd, shape (m,).
        guess: the speed at which friction is exact, shape (m,).
    """
    parts = []
    limited = np.isfinite(bounds.acceleration)
    limit = bounds.acceleration[limited]
    a, b = path.dq[:, limited] / limit, path.ddq[:, limited] / limit
    parts += [(a, b, np.zeros_like(a)), (-a, -b, np.zeros_like(a))]
    driven = np.isfinite(bounds.effort)
    limit = bounds.effort[driven]
    a, b, c = (term[:, driven] / limit for term in (terms.a, terms.b, terms.c))
    rubbing = friction_bounds(terms, highest, guess)
    x = rubbing.x_guess[:, None]
    for sign, lines in ((1, rubbing.above), (-1, rubbing.below)):
        value, *slopes = (each[:, driven] / limit for each in lines)
        parts += [(sign * a, sign * (b + slope), sign * (c + value - slope * x)) for slope in slopes]
    rows = Rows(*(np.concatenate(part, axis=-1) for part in zip(*parts)))
    if np.any(np.max(np.abs(rows.a) + np.abs(rows.b), axis=-1, initial=0.0) < 1e-9):
        raise InputError("limits", "no effort or acceleration limit bounds the motion: give an acceleration limit")
    return rows


def _has_friction(terms: EffortTerms, highest: Array) -> bool:
    """Return whether friction depends on the speed."""
    return bool(np.any(terms.friction(highest) != terms.friction(0 * highest)))


def _solve(grid: Array, highest: Array, rows: Rows) -> Array | None:
    """Return the fastest speed from rest to rest; None where there is none.

    Tolerances of toppra's solver are absolute. Where it finds nothing, it is asked again for a path of the length 1.
    """
    speed = _solve_as_it_is(grid, highest, rows)
    if speed is None:
        length = grid[-1]
        scaled = Rows(rows.a * length, rows.b * length**2, rows.c)
        speed = _solve_as_it_is(grid / length, highest / length, scaled)
        speed = None if speed is None else speed * length
    return speed


def _solve_as_it_is(grid: Array, highest: Array, rows: Rows) -> Array | None:
    """Return the fastest speed from rest to rest; None where the solver finds none."""
    try:
        import toppra
        from toppra.constraint import DiscretizationType, LinearConstraint
        from toppra.constraint.linear_constraint import canlinear_colloc_to_interpolate
    except ImportError as error:
        raise InputError("toppra", f"it is needed for timing and not installed ({error}): pip install toppra") from None

    class Limits(LinearConstraint):  # type: ignore[misc]
        """The rows, which are computed already; toppra asks for them by a path and a grid."""

        def __init__(self) -> None:
            super().__init__()
            self.dof, self.identical = 1, True
            self.discretization_type = DiscretizationType.Interpolation

        def compute_constraint_params(self, path: Any, gridpoints: Array) -> tuple[Any, ...]:
            count = rows.a.shape[1]
            speeds = np.column_stack([np.zeros_like(highest), highest**2])
            found = canlinear_colloc_to_interpolate(
                rows.a, rows.b, rows.c, np.eye(count), np.ones(count), None, None, gridpoints, identical=True
            )
            return (*found[:5], None, speeds)

    line = toppra.SplineInterpolator([grid[0], grid[-1]], [[0.0], [1.0]])  # which path it is, only the rows know
    solver = toppra.algorithm.TOPPRA([Limits()], line, gridpoints=grid, solver_wrapper="seidel")
    _, speed, _ = solver.compute_parameterization(0.0, 0.0)
    if speed is None or not np.all(np.isfinite(speed)) or np.any(speed[1:] + speed[:-1] < 1e-9):
        return None
    return np.asarray(speed)
