# SPDX-License-Identifier: Apache-2.0
"""Mode hand_guiding: the arm yields to a hand, and stays where it is left."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.modes.base import Law, Mode, Needs
from ros2_dyn.control.parameter import Group, parameter
from ros2_dyn.control.soft_limits import soft_walls
from ros2_dyn.control.tip_friction import Anchor, TipFriction, tip_friction
from ros2_dyn.control.tip_speed import speed_brake
from ros2_dyn.model.spatial import Array, clip


@dataclass(frozen=True)
class HandGuidingSettings(Group, name="hand_guiding", title="Mode hand_guiding"):
    """How the arm feels in mode hand_guiding."""

    damping: float = parameter(1.0, "Rate at which the arm comes to rest, 1/s.", low=0.0, high=50.0)
    friction: float = parameter(
        0.8,
        "Fraction of the joints' friction that is compensated, where the robot does not add gravity itself.",
        low=0.0,
        high=1.0,
    )
    assist_gain: float = parameter(
        0.0, "Multiple of the hand's estimated force that is added to it.", low=0.0, high=5.0
    )


class HandGuiding(Mode[HandGuidingSettings]):
    """Gravity compensation that helps a hand against friction, with dry friction at the tip that holds it."""

    name = "hand_guiding"
    needs = Needs(enabling_signal=True, contact=True, walls=True, begins_behind_walls=True)
    Parameters = HandGuidingSettings
    _anchor: Anchor | None = None

    def uses_external_wrench(self, now: float) -> bool:
        """Return whether a hand is assisted."""
        return self.parameters(now).assist_gain > 0

    def law(self, arm: Arm, parameters: HandGuidingSettings, dt: float) -> Law:
        """Return the efforts; see `Mode`."""
        state, loop = arm.state, arm.loop
        friction = TipFriction()
        friction = friction._replace(
            bandwidth=loop.bandwidth(friction.bandwidth), sticking=loop.rate(friction.sticking)
        )
        held, sticking, self._anchor = tip_friction(state, self._anchor, friction)
        supply = state.gravity + held + soft_walls(arm)
        if arm.commands.convention == "raw":  # one that adds gravity may compensate friction, too: twice is too much
            # nothing is left of it for a fast drive: friction that is told too large would drive it faster and faster
            drives = arm.robot.model.drives
            fading = clip(2 - 2 * np.abs(drives.coupling @ state.qd) / arm.max_led_speed, 0.0, 1.0)
            supply += parameters.friction * fading * drives.efforts(state.friction) @ drives.coupling
        if arm.external_wrench and parameters.assist_gain > 0:
            hand = (np.reshape(arm.external_wrench, (2, 3)) @ state.pose[:3, :3].T).ravel()  # in base axes
            supply += assistance(hand, parameters.assist_gain, 5.0) @ state.J  # N: as large as the model's errors
        rate = loop.rate(parameters.damping) + sticking
        return Law(supply - rate * state.momentum + speed_brake(arm), supply)


def assistance(hand: ArrayLike, gain: float, deadband: float) -> Array:
    """Return `gain` times the part of a wrench (6,) whose force exceeds the deadband, N."""
    hand = np.asarray(hand, dtype=float)
    size = hypot(*hand[:3])
    return gain * max(0.0, 1 - deadband / size) * hand if size > 0 else np.zeros(6)
