# SPDX-License-Identifier: Apache-2.0
"""Hand-guiding: gravity compensation that yields to a hand, with soft walls before the joint limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.soft_limits import soft_limits
from ros2_dyn.control.tip_friction import Anchor, TipFriction, tip_friction
from ros2_dyn.control.tip_speed import BRAKE_RATE, tip_speed_brake
from ros2_dyn.model.spatial import Array


@dataclass(frozen=True)
class HandGuidingParameters:
    """Parameters of hand-guiding."""

    damping: float = 1.0
    """Rate at which the arm comes to rest, 1/s."""
    friction: float = 0.8
    """Fraction of the joints' friction that is compensated; above 1 the arm would drive itself."""
    tip: TipFriction = field(default_factory=TipFriction)
    """Friction that holds the tip against model errors."""
    assistance: float = 0.0
    """Multiple of the hand's force that is added beyond `deadband`."""
    deadband: float = 5.0
    """Estimated force of the hand that is not assisted, N: it may be a model error."""
    margin: float = 0.2
    """Distance before the joint limits at which the walls begin, rad or m."""
    bandwidth: float = 30.0
    """Bandwidth of the walls, rad/s."""
    max_tip_speed: float = inf
    """Speed of the tip before which it is braked, m/s."""
    brake_rate: float = BRAKE_RATE
    """Damping of the speed in excess, 1/s."""


def hand_guiding(
    state: ArmState,
    anchor: Anchor | None,
    guiding: HandGuidingParameters,
    lower: ArrayLike,
    upper: ArrayLike,
    effort_limit: ArrayLike,
    hand: ArrayLike | None = None,
) -> tuple[Array, Anchor]:
    """Return the efforts of the guided arm, and the next anchor of the tip.

    Args:
        state: state of the arm.
        anchor: anchor that the last call returned; None: the current pose of the tip.
        guiding: parameters.
        lower: lower joint limits, rad or m, shape (n,); -inf where there is none.
        upper: upper joint limits, rad or m, shape (n,); inf where there is none.
        effort_limit: maximum efforts, N m or N, shape (n,).
        hand: estimated [force; moment] of the hand on the tip in base axes, N and N m, shape (6,); None: unknown.

    Returns:
        N m or N, shape (n,); and the anchor.
    """
    held, anchor = tip_friction(state, anchor, guiding.tip)
    tau = gravity_compensation(state, guiding.damping) + guiding.friction * state.friction + held
    if hand is not None:
        tau += assistance(hand, guiding.assistance, guiding.deadband) @ state.J
    tau += tip_speed_brake(state, guiding.max_tip_speed, guiding.brake_rate)
    return tau + soft_limits(state, lower, upper, effort_limit, guiding.margin, guiding.bandwidth), anchor


def assistance(hand: ArrayLike, gain: float, deadband: float) -> Array:
    """Return `gain` times the part of a wrench (6,) whose force exceeds the deadband, N."""
    hand = np.asarray(hand, dtype=float)
    size = float(np.linalg.norm(hand[:3]))
    return gain * max(0.0, 1 - deadband / size) * hand if size > 0 else np.zeros(6)
