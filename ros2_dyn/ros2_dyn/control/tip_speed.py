# SPDX-License-Identifier: Apache-2.0
"""The brake before the speed limits of an arm that is led: a fast hand is slowed before the mode stops."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.model.spatial import Array


def speed_brake(arm: Arm) -> Array:
    """Return efforts that slow an arm where its tip or a joint is almost too fast: damping of the speed in excess.

    Returns:
        N m or N, shape (n,); zero below 0.8 of the maximum speeds.
    """
    tip = arm.tip_speed / arm.commands.max_tip_speed
    share = max(tip, float((np.abs(arm.fastest_qd) / arm.max_led_speed).max()))
    excess = 1 - 0.8 / share if share > 0.8 else 0.0
    return -arm.loop.rate(60.0) * excess * arm.state.momentum  # 1/s, where states come often enough
