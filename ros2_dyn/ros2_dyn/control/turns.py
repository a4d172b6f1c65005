# SPDX-License-Identifier: Apache-2.0
"""Whole turns of continuous joints: drivers tell their angles within one turn, or go on counting."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, remainder, tau

from ros2_dyn.model import RobotModel


def continuous_joints(model: RobotModel) -> tuple[bool, ...]:
    """Return which joints are continuous, shape (n,)."""
    return tuple(joint.type == "continuous" for joint in model.joints if joint.mimics is None)


def nearest_turn(q: Sequence[float], near: Sequence[float], continuous: Sequence[bool]) -> list[float]:
    """Return positions with the whole turns of continuous joints that bring them nearest to others.

    Args:
        q: positions, rad or m, shape (n,).
        near: the others, rad or m, shape (n,); nan where there is none.
        continuous: which joints are continuous, shape (n,).
    """
    pairs = zip(q, near, continuous)
    return [y + remainder(x - y, tau) if turns and pi < abs(x - y) < inf else x for x, y, turns in pairs]
