# SPDX-License-Identifier: Apache-2.0
"""The brake before the speed limit of the tip: a fast hand is slowed before the mode stops."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

BRAKE_RATE = 60.0
"""Damping of the excess, 1/s, where states come often enough."""


def tip_speed_brake(state: ArmState, max_speed: float, rate: float) -> Array:
    """Return efforts that slow the arm where its tip is almost too fast: damping of the speed in excess.

    Args:
        state: state of the arm.
        max_speed: maximum speed of the tip, m/s.
        rate: damping of the excess, 1/s; see `limit_rate_to_sampling`.

    Returns:
        N m or N, shape (n,); zero below 0.8 of the maximum speed.
    """
    speed = float(np.linalg.norm(state.tip_velocity[:3]))
    excess = speed - 0.8 * max_speed
    return -rate * (excess / speed) * state.momentum if excess > 0 else np.zeros_like(state.q)
