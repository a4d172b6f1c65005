# SPDX-License-Identifier: Apache-2.0
"""Virtual dry friction at the tip, which keeps it in place against small model errors."""

from __future__ import annotations

from math import exp, hypot, sqrt
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array, rotation_from_quaternion


class Anchor(NamedTuple):
    """Root of the bristle between the tip and space; a sliding tip drags it along."""

    position: Array
    """Position in the base frame, m, shape (3,)."""
    rotation: Array
    """Rotation of the tip's frame in the base frame, shape (3, 3)."""


class TipFriction(NamedTuple):
    """Parameters of the friction."""

    force: float = 2.2
    """Maximum force that holds or brakes the tip, N."""
    moment: float = 0.2
    """Maximum moment that holds or brakes the tip, N m."""
    slip: float = 0.001
    """Displacement at which the force is reached, m."""
    turn: float = 0.02
    """Rotation at which the moment is reached, rad."""
    bandwidth: float = 66.0
    """Maximum bandwidth of the tip on its bristle, rad/s; the bristle of a light tip is softer."""
    sticking: float = 45.0
    """Rate at which the arm comes to rest while the tip sticks, 1/s."""
    creep: float = 0.02
    """Speed above which the damping of a sticking tip fades out, m/s."""


def tip_friction(state: ArmState, anchor: Anchor | None, friction: TipFriction) -> tuple[Array, float, Anchor]:
    """Return the efforts that hold the tip at its anchor, how it damps the arm, and the next anchor.

    A sliding tip meets a constant force. A sticking tip hangs on a spring and a damper: the bristle of LuGre friction
    (Canudas de Wit et al. 1995) in space.

    Args:
        state: state of the arm.
        anchor: anchor that the last call returned; None: the current pose of the tip.
        friction: parameters.

    Returns:
        N m or N, shape (n,); the rate at which the arm is to come to rest, 1/s; and the anchor.
    """
    R, p = state.pose[:3, :3], state.pose[:3, 3]
    if anchor is None:
        anchor = Anchor(p, R)
    bend, slides = clamp_norm(p - anchor.position, friction.slip)
    twist = R @ anchor.rotation.T
    (_, a, b), (c, _, d), (e, f, _) = twist.tolist()
    turned = np.array([f - d, b - e, c - a]) / 2
    turn, turns = clamp_norm(turned, friction.turn)
    cosine = sqrt(1 - min(1.0, float(turn @ turn)))
    back = np.array([*(-turn), 1 + cosine])  # by exactly the angle of this sine; an approximation lets the anchor creep
    root = rotation_from_quaternion(back / hypot(*back)) @ R
    stiffness = _stiffness(state, friction)
    tau = -np.concatenate([stiffness[0] * bend, stiffness[1] * turn]) @ state.J
    rate = 0.0 if slides or turns else _sticking_rate(state, friction)
    return tau, rate, Anchor(p - bend, root)


def _sticking_rate(state: ArmState, friction: TipFriction) -> float:
    """Return the rate at which a sticking tip brakes the arm, 1/s; it fades with speed, lest it jerk a moving arm."""
    speed = hypot(*state.tip_velocity[:3]) / friction.creep
    return friction.sticking * exp(-speed * speed)


def _stiffness(state: ArmState, friction: TipFriction) -> tuple[float, float]:
    """Return the stiffness of the bristle, N/m and N m/rad, limited by the bandwidth in the lightest direction."""
    parts = np.array([state.mobility[part, part] for part in (slice(3), slice(3, 6))])
    lightest = (1 / np.linalg.eigvalsh(parts)[:, -1]).tolist()
    wanted = friction.force / friction.slip, friction.moment / friction.turn
    linear, angular = (min(k, m * friction.bandwidth**2) for k, m in zip(wanted, lightest))
    return linear, angular


def clamp_norm(vector: Array, size: float) -> tuple[Array, bool]:
    """Return the vector, shortened to a maximum length, and whether it was longer."""
    length = hypot(*vector)
    return (vector * (size / length), True) if length > size else (vector, False)
