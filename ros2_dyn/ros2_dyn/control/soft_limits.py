# SPDX-License-Identifier: Apache-2.0
"""Soft walls before the joint limits: springs and dampers that only push inwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

WALL_WIDTH = 0.2
"""Distance before the joint limits at which soft walls begin, rad or m."""


def soft_walls(arm: Arm) -> Array:
    """Return the efforts of the soft walls at a tick, N m or N, shape (n,)."""
    return soft_limits(
        arm.state,
        *arm.walls,
        command_limit=arm.limits.effort,
        margin=WALL_WIDTH,
        bandwidth=arm.loop.bandwidth(30.0),
    )


def softened(arm: Arm, before: Arm) -> Array:
    """Return what walls lost since a tick before because the loop became later, N m or N, shape (n,)."""
    return soft_walls(before) - soft_walls(replace(before, loop=arm.loop))


def soft_limits(
    state: ArmState, lower: ArrayLike, upper: ArrayLike, *, command_limit: ArrayLike, margin: float, bandwidth: float
) -> Array:
    """Return efforts that keep joints away from their limits: critically damped springs that only push.

    A spring begins `margin` before the limit, or at a quarter of the joint's range if that is less. At the limit it
    pushes with the maximum effort, and beyond it with no more. It is softer for light joints, so that none exceeds
    `bandwidth`; the inertia of a joint is the one with the other joints free.

    Args:
        state: state of the arm.
        lower: lower joint limits, rad or m, shape (n,); -inf where there is none.
        upper: upper joint limits, rad or m, shape (n,); inf where there is none.
        command_limit: largest efforts of commands, N m or N, shape (n,).
        margin: distance before the limits at which the walls begin, rad or m.
        bandwidth: maximum bandwidth, rad/s; see `SampledLoop`.

    Returns:
        N m or N, shape (n,), zero where no joint is near a limit.
    """
    lower, upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if ((state.q > lower + margin) & (state.q < upper - margin)).all():
        return np.zeros(len(state.q))  # it mostly is so, and costs little
    margins = np.minimum(margin, (upper - lower) / 4)
    below, above = lower + margins - state.q, state.q - upper + margins
    near = np.flatnonzero(((below > 0) | (above > 0)) & (margins > 0))
    tau = np.zeros(len(state.q))
    if not near.size:
        return tau
    inertia = 1 / np.diag(np.linalg.inv(state.M))
    for i in near:
        side = 1.0 if below[i] > 0 else -1.0
        depth = max(below[i], above[i])
        k = min(np.asarray(command_limit)[i] / margins[i], inertia[i] * bandwidth**2)
        d = 2 * np.sqrt(k * inertia[i]) * min(1.0, 4 * depth / margins[i])  # from zero, without a step
        spring = min(k * depth, np.asarray(command_limit)[i])
        tau[i] = side * max(0.0, spring - side * d * state.qd[i])
    return tau
