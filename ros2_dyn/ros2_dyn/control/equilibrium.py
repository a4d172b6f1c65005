# SPDX-License-Identifier: Apache-2.0
"""Where the spring of mode impedance is at rest: on its way to the desired pose, at a limited speed and force.

A far target is therefore approached, and not jumped to. A tip that is held or pushed drags it along, as a bristle of
dry friction: the force has a maximum, whatever the displacement.
"""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.cartesian_impedance import displacement
from ros2_dyn.control.tip_friction import clamp_norm
from ros2_dyn.model.spatial import Array, quaternion_from_rotation, rotation_from_quaternion


class EquilibriumLimits(NamedTuple):
    """How fast it moves, and how hard it pulls."""

    speed: float
    """m/s."""
    turn_rate: float
    """rad/s."""
    force: float
    """Largest force of the spring, N."""
    moment: float
    """Largest moment of the spring, N m."""


def approach(rest: Array, target: Array, limits: EquilibriumLimits, dt: float) -> Array:
    """Return a pose (4, 4) that is nearer to a target (4, 4), by what the limits allow within dt, s."""
    moved = rest.copy()
    way = target[:3, 3] - rest[:3, 3]
    moved[:3, 3] += clamp_norm(way, limits.speed * dt)[0]
    turn = quaternion_from_rotation(target[:3, :3] @ rest[:3, :3].T)
    moved[:3, :3] = _turned(turn, limits.turn_rate * dt) @ rest[:3, :3]
    return moved


def drag(rest: Array, pose: Array, K: Array, limits: EquilibriumLimits) -> Array:
    """Return where the spring is at rest after a tip (4, 4) has dragged it along: as far as the limits demand.

    Args:
        rest: pose where the spring was at rest, shape (4, 4).
        pose: of the tip, shape (4, 4).
        K: stiffness, shape (6, 6).
        limits: of the spring.
    """
    load = K @ displacement(pose, rest).x
    force, moment = hypot(*load[:3]), hypot(*load[3:])
    if force <= limits.force and moment <= limits.moment:
        return rest
    dragged = rest.copy()
    if force > limits.force:
        dragged[:3, 3] = pose[:3, 3] + (rest[:3, 3] - pose[:3, 3]) * (limits.force / force)
    if moment > limits.moment:
        back = quaternion_from_rotation(rest[:3, :3] @ pose[:3, :3].T)
        vector = back[:3] * (limits.moment / moment)
        dragged[:3, :3] = rotation_from_quaternion(np.array([*vector, np.sqrt(1 - vector @ vector)])) @ pose[:3, :3]
    return dragged


def _turned(quaternion: Array, angle: float) -> Array:
    """Return the rotation (3, 3) of a unit quaternion [x, y, z, w], w >= 0, or of as much of it as an angle, rad."""
    sine = hypot(*quaternion[:3])
    half = float(np.arctan2(sine, quaternion[3]))
    if 2 * half <= angle or sine == 0:
        return rotation_from_quaternion(quaternion)
    axis = quaternion[:3] / sine
    return rotation_from_quaternion(np.array([*(np.sin(angle / 2) * axis), np.cos(angle / 2)]))
