# SPDX-License-Identifier: Apache-2.0
"""The speed of an arm that is led or left alone: its limits, and the brake before them.

A tip that is slow says nothing of an elbow, or of a wrist that turns about it. So the joints are slow, too.
"""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_settings import LEVER
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

BRAKE_FRACTION = 0.8
"""Fraction of the maximum speed above which the brake acts."""
BRAKE_RATE = 60.0
"""Damping of the excess, 1/s, where states come often enough."""


def led_joint_speed(model: RobotModel, max_tip_speed: float) -> Array:
    """Return the maximum speeds of the joints, rad/s or m/s, shape (n,): those of the tip on a lever of 0.2 m."""
    return np.array([max_tip_speed / (1.0 if joint.type == "prismatic" else LEVER) for joint in model.joints])


def speed_brake(state: ArmState, max_tip_speed: float, max_joint_speed: Array, rate: float) -> Array:
    """Return efforts that slow the arm where it is almost too fast: damping of the speed in excess.

    Args:
        state: state of the arm.
        max_tip_speed: maximum speed of the tip, m/s.
        max_joint_speed: maximum speeds of the joints, rad/s or m/s, shape (n,).
        rate: damping of the excess, 1/s; see `limit_rate_to_sampling`.

    Returns:
        N m or N, shape (n,); zero below `BRAKE_FRACTION` of the maximum speeds.
    """
    tip = float(np.linalg.norm(state.tip_velocity[:3])) / max_tip_speed
    share = max(tip, float(np.max(np.abs(state.qd) / max_joint_speed)))
    return -rate * max(1 - BRAKE_FRACTION / share, 0.0) * state.momentum if share > 0 else np.zeros_like(state.q)
