"""Soft walls before the joint limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array


def soft_limits(
    state: ArmState, lower: ArrayLike, upper: ArrayLike, effort_limit: ArrayLike, margin: float, bandwidth: float
) -> Array:
    """Efforts that keep joints from their limits: critically damped springs that only push, never pull.

    A spring begins `margin` before the limit, or at a quarter of the joint's range if that is less, and is so stiff
    that it would push with all the effort that is allowed at the limit. It is softer where the joint, with the others
    free, is so light that it would swing quicker than `bandwidth`.

    Args:
        state: of the arm.
        lower: joint limits, rad or m, shape (n,); -inf: none.
        upper: as well; inf: none.
        effort_limit: N m or N, shape (n,).
        margin: rad or m.
        bandwidth: rad/s; well below what sampling and delays of the loop allow.

    Returns:
        N m or N, shape (n,), zero where no joint is near a limit.
    """
    lower, upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    margins = np.minimum(margin, (upper - lower) / 4)
    below, above = lower + margins - state.q, state.q - upper + margins
    near = np.flatnonzero((below > 0) | (above > 0))
    tau = np.zeros_like(state.q)
    if not near.size:
        return tau
    inertia = 1 / np.diag(np.linalg.inv(state.M))
    for i in near:
        side = 1.0 if below[i] > 0 else -1.0
        depth = max(below[i], above[i])
        k = min(np.asarray(effort_limit)[i] / margins[i], inertia[i] * bandwidth**2)
        d = 2 * np.sqrt(k * inertia[i]) * min(1.0, 4 * depth / margins[i])  # it sets in gently
        tau[i] = side * max(0.0, k * depth - side * d * state.qd[i])
    return tau
