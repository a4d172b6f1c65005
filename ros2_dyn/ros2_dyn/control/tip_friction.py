"""Dry friction made by the motors: the tip stays where it was left, against small errors of the model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array, rotation_from_quaternion


class Anchor(NamedTuple):
    """Where a bristle is rooted that the tip bends, and drags along when it is bent as far as it can be."""

    position: Array
    """m, in the base frame, shape (3,)."""
    rotation: Array
    """Shape (3, 3)."""


class TipFriction(NamedTuple):
    """Its strength."""

    force: float = 2.2
    """That holds the tip, or brakes it, at most, N."""
    moment: float = 0.2
    """As well, N m."""
    slip: float = 0.001
    """How far the tip gives way until the force is reached, m."""
    turn: float = 0.02
    """How far it turns until the moment is reached, rad."""
    bandwidth: float = 66.0
    """Both are weaker where the tip is so light that it would swing quicker on its bristle, rad/s."""
    sticking: float = 45.0
    """Rate at which the arm comes to rest while the tip sticks, 1/s."""
    creep: float = 0.02
    """Speed from which on nothing sticks, m/s."""


def tip_friction(state: ArmState, anchor: Anchor | None, friction: TipFriction) -> tuple[Array, Anchor]:
    """Efforts that hold the tip at its anchor, and where the anchor is then.

    A tip that slides meets a constant force. One that sticks hangs on a spring and a damper: a bristle of LuGre
    friction (Canudas de Wit et al. 1995) in space.

    Args:
        state: of the arm.
        anchor: as this gave it last time; None: where the tip is.
        friction: how strong.

    Returns:
        N m or N, shape (n,); and the anchor.
    """
    R, p = state.pose[:3, :3], state.pose[:3, 3]
    if anchor is None:
        anchor = Anchor(p, R)
    bend, slides = clamp_norm(p - anchor.position, friction.slip)
    twist = R @ anchor.rotation.T
    turned = np.array([twist[2, 1] - twist[1, 2], twist[0, 2] - twist[2, 0], twist[1, 0] - twist[0, 1]]) / 2
    turn, turns = clamp_norm(turned, friction.turn)
    cosine = np.sqrt(1 - min(1.0, float(turn @ turn)))
    back = np.array([*(-turn), 1 + cosine])  # exactly by the angle whose sine it is: otherwise the anchor creeps
    root = rotation_from_quaternion(back / np.linalg.norm(back)) @ R
    stiffness = _stiffness(state, friction)
    tau = -np.concatenate([stiffness[0] * bend, stiffness[1] * turn]) @ state.J
    if not (slides or turns):
        speed = float(np.linalg.norm(state.tip_velocity[:3])) / friction.creep
        tau -= friction.sticking * np.exp(-(speed**2)) * state.momentum  # what is caught in motion is not thrown about
    return tau, Anchor(p - bend, root)


def _stiffness(state: ArmState, friction: TipFriction) -> tuple[float, float]:
    """N/m and N m/rad, of a bristle that does not swing too quickly, whichever way the tip gives way."""
    mobility = state.J @ np.linalg.solve(state.M, state.J.T)
    lightest = [1 / np.linalg.eigvalsh(mobility[part, part])[-1] for part in (slice(3), slice(3, 6))]
    wanted = friction.force / friction.slip, friction.moment / friction.turn
    linear, angular = (min(k, m * friction.bandwidth**2) for k, m in zip(wanted, lightest))
    return linear, angular


def clamp_norm(vector: Array, size: float) -> tuple[Array, bool]:
    """The vector, or one of that size in its direction; and whether it was longer."""
    length = float(np.linalg.norm(vector))
    return (vector * (size / length), True) if length > size else (vector, False)
