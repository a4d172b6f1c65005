"""Hand-guiding: the arm carries itself and gives way to the hand, up to soft walls before its joint limits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.soft_limits import soft_limits
from ros2_dyn.control.tip_friction import Anchor, TipFriction, tip_friction
from ros2_dyn.model.spatial import Array


@dataclass(frozen=True)
class HandGuidingParameters:
    """How the arm feels."""

    damping: float = 1.0
    """Rate at which the arm comes to rest, 1/s."""
    friction: float = 0.8
    """Share of the joints' friction that is compensated; more than all of it would drive the arm."""
    tip: TipFriction = field(default_factory=TipFriction)
    """What holds the tip against errors of the model."""
    assistance: float = 0.0
    """How many times the hand's force is added to it, beyond `deadband`."""
    deadband: float = 5.0
    """Of the estimated force of the hand, N: what may be an error of the model."""
    margin: float = 0.2
    """Before the joint limits, where the walls begin, rad or m."""
    bandwidth: float = 30.0
    """Of the walls, rad/s."""


def hand_guiding(
    state: ArmState,
    anchor: Anchor | None,
    guiding: HandGuidingParameters,
    lower: ArrayLike,
    upper: ArrayLike,
    effort_limit: ArrayLike,
    hand: ArrayLike | None = None,
) -> tuple[Array, Anchor]:
    """Efforts, and where the tip is anchored then.

    Args:
        state: of the arm.
        anchor: as this gave it last time; None: where the tip is.
        guiding: how the arm feels.
        lower: joint limits, rad or m, shape (n,); -inf: none.
        upper: as well; inf: none.
        effort_limit: N m or N, shape (n,).
        hand: [force; moment] that the tip is estimated to be pushed with, in base axes, N and N m, shape (6,); None: it
            is not known.

    Returns:
        N m or N, shape (n,); and the anchor.
    """
    held, anchor = tip_friction(state, anchor, guiding.tip)
    tau = gravity_compensation(state, guiding.damping) + guiding.friction * state.friction + held
    if hand is not None:
        tau += assistance(hand, guiding.assistance, guiding.deadband) @ state.J
    return tau + soft_limits(state, lower, upper, effort_limit, guiding.margin, guiding.bandwidth), anchor


def assistance(hand: ArrayLike, gain: float, deadband: float) -> Array:
    """``gain`` times what the force of a wrench (6,) has beyond the deadband, N, with its share of the moment."""
    hand = np.asarray(hand, dtype=float)
    size = float(np.linalg.norm(hand[:3]))
    return gain * max(0.0, 1 - deadband / size) * hand if size > 0 else np.zeros(6)
