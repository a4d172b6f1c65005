# SPDX-License-Identifier: Apache-2.0
"""Joint position limits: where a moving joint can still stop, and soft walls that begin where the joint is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

POSITION_TOLERANCE = 0.005
"""Distance beyond a limit that counts as being at it, rad or m."""
SLOW = 0.05
"""Speed below which a joint that soft walls push back may be beyond its limit, rad/s or m/s."""


class PositionLimits(NamedTuple):
    """Position limits of the joints, and how a joint brakes before them; arrays of shape (n,)."""

    joint_names: tuple[str, ...]
    lower: Array
    """rad or m; -inf where there is none."""
    upper: Array
    """rad or m; inf where there is none."""
    reaction_time: float
    """Time until the effort has turned into a braking one, s."""


def braking_distance(qd: ArrayLike, deceleration: ArrayLike, reaction_time: float) -> Array:
    """Return the distance in which joints come to rest: ``|qd| reaction_time + qd^2 / (2 deceleration)``.

    Args:
        qd: joint velocities, rad/s or m/s, shape (n,).
        deceleration: deceleration of the joints, rad/s^2 or m/s^2, shape (n,).
        reaction_time: time before it begins, s.

    Returns:
        rad or m, shape (n,).
    """
    speed = np.abs(qd)
    return np.asarray(speed * reaction_time + speed**2 / (2 * np.asarray(deceleration)))


def wall_deceleration(mass_matrix: Array, gravity: Array, command_limit: Array) -> Array:
    """Return the deceleration by half the effort of a soft wall, its mean, rad/s^2 or m/s^2, shape (n,).

    Args:
        mass_matrix: mass matrix, shape (n, n).
        gravity: efforts that carry the arm, N m or N, shape (n,).
        command_limit: largest efforts of commands, N m or N, shape (n,).
    """
    spare = np.maximum(command_limit - np.abs(gravity), 1e-3 * command_limit)
    return np.asarray(0.5 * spare / np.diag(mass_matrix))


def limit_ahead(limits: PositionLimits, state: ArmState, qd: Array, command_limit: Array, walled: bool) -> str:
    """Return which joint is beyond a limit or cannot stop before it; empty: none.

    Args:
        limits: the limits.
        state: state of the arm.
        qd: joint velocities, rad/s or m/s, shape (n,).
        command_limit: largest efforts of commands, N m or N, shape (n,).
        walled: whether soft walls push the joints back, so that one beyond its limit may move inwards or slowly.
    """
    q = state.q
    low, high = limits.lower - POSITION_TOLERANCE, limits.upper + POSITION_TOLERANCE
    if not (np.abs(qd) > SLOW).any() and (walled or ((q >= low) & (q <= high)).all()):
        return ""  # it mostly is so, and costs little
    deceleration = wall_deceleration(state.M, state.gravity, command_limit)
    distance = np.sign(qd) * braking_distance(qd, deceleration, limits.reaction_time)
    moves = np.abs(qd) > SLOW
    stops_at = q + np.where(moves, distance, 0.0)
    below, above = stops_at < low, stops_at > high
    if walled:
        below, above = below & moves & (qd < 0), above & moves & (qd > 0)
    found = np.flatnonzero(below | above)
    if not found.size:
        return ""
    i = int(found[0])
    limit = limits.lower[i] if below[i] else limits.upper[i]
    return f"'{limits.joint_names[i]}' at {q[i]:.3f} rad or m moves with {qd[i]:.3g}, its limit is {limit:.3f}"


def positions_beyond(limits: PositionLimits, q: Sequence[float] | Array, allowed: float = 0.0) -> str:
    """Return which joint position is beyond its limits, by more than is allowed, rad or m; empty: none."""
    q = np.asarray(q, dtype=float)
    beyond = np.maximum(limits.lower - q, q - limits.upper) > POSITION_TOLERANCE + allowed
    found = np.flatnonzero(beyond)
    if not found.size:
        return ""
    i = int(found[0])
    where = f"{limits.lower[i]:.3f} to {limits.upper[i]:.3f}"
    return f"'{limits.joint_names[i]}' at {q[i]:.3f} rad or m, its limits are {where}"


class WallPlacement:
    """Places soft walls so that a joint that is found behind one is brought back slowly, not pushed with full effort.

    A wall begins where such a joint is, and returns to its place with 0.1 rad/s or m/s, or as the joint does. For a
    stopped arm it returns only as the joint does: that is to stay where it is, and springs would fight the wall.
    """

    def __init__(self) -> None:
        self._behind: tuple[Array, Array] | None = None

    def place(
        self,
        q: Array,
        lower: Array,
        upper: Array,
        *,
        margin: float,
        dt: float | None,
        stopped: bool = False,
        kept: Array | float = 1.0,
    ) -> tuple[Array, Array]:
        """Return the lower and upper limits that the walls belong to, rad or m, each of shape (n,).

        Args:
            q: joint positions, rad or m, shape (n,).
            lower: lower limits, rad or m, shape (n,).
            upper: upper limits, rad or m, shape (n,).
            margin: width of the walls, rad or m.
            dt: time since the last call, s; None: the walls did not act until now.
            stopped: whether the arm is to stay where it is.
            kept: share of its depth in a wall that a joint keeps; 0: the wall begins where the joint is. Shape (n,).
        """
        if ((q > lower + margin) & (q < upper - margin)).all():
            self._behind = None
            return lower, upper  # it mostly is so, and costs little
        margins = np.minimum(margin, (upper - lower) / 4)
        behind = np.maximum(lower + margins - q, 0.0), np.maximum(q - upper + margins, 0.0)
        if dt is not None:
            returned = 0.0 if stopped else 0.1 * dt
            before = self._behind or (np.zeros_like(q), np.zeros_like(q))  # it may have come from between the walls
            depths = [np.maximum(now - np.maximum(was - returned, 0.0), 0.0) for now, was in zip(behind, before)]
            behind = behind[0] - kept * depths[0], behind[1] - kept * depths[1]
        self._behind = behind
        return lower - behind[0], upper + behind[1]
