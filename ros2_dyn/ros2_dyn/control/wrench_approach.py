# SPDX-License-Identifier: Apache-2.0
"""A wrench that the tip exerts, on its way to the desired one: slowly where the tip has not met its wall yet."""

from __future__ import annotations

from math import hypot

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_settings import LEVER
from ros2_dyn.control.events import Violation
from ros2_dyn.control.force_control import approach_rate, rate_limited_wrench
from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.model.spatial import Array

MAX_FREE_SPEED = 0.2
"""Speed of a tip that has lost its wall, m/s, which the desired wrench must not exceed."""
APPROACH_SPEED = 0.1
"""Speed of the tip at which the wrench grows no further, m/s."""


class WrenchApproach:
    """The wrench of one mode; it begins with none."""

    def __init__(self) -> None:
        self.wrench = np.zeros(6)
        """What the tip is to exert now, [force; moment] in base axes, N and N m, shape (6,)."""
        self.reduced_for = 0.0
        """For how long the delay has allowed less than the desired wrench, s."""

    def advance(self, target: Array, arm: Arm, dt: float) -> Array:
        """Change the wrench towards a target, and return the part of the target that the loop bears.

        Args:
            target: [force; moment] in base axes, N and N m, shape (6,).
            arm: the arm.
            dt: time since the last call, s.
        """
        mobility = arm.state.mobility[:3]
        speed = least_free_speed(mobility, target, arm.loop)
        self.reduced_for = self.reduced_for + dt if speed > MAX_FREE_SPEED else 0.0
        bearable = target * min(1.0, MAX_FREE_SPEED / speed) if speed > 0 else target
        self._approach(bearable, mobility, arm, dt)
        return bearable

    def _approach(self, target: Array, mobility: Array, arm: Arm, dt: float) -> None:
        """Change the wrench towards a target, more slowly where the tip already moves the way it pushes."""
        loop = arm.loop
        steps = arm.commands.max_force * dt, arm.commands.max_moment * dt  # from none to the largest in 1 s
        pull = mobility @ target
        growth = mobility @ (rate_limited_wrench(self.wrench, target, *steps) - self.wrench)
        share, size, jerk = 1.0, hypot(*pull), hypot(*growth) / max(dt, 1e-6)
        if size > 0 and jerk > 0:
            share = approach_rate(float(pull @ arm.state.tip_velocity[:3]) / size, APPROACH_SPEED)
            added = loop.speed_before_damping(jerk) * loop.longest
            share *= min(1.0, 0.3 * APPROACH_SPEED / added)  # by so much may the speed change within the delay
        if share < 0:
            target, share = np.zeros(6), -share
        self.wrench = rate_limited_wrench(self.wrench, target, *(share * step for step in steps))


def least_free_speed(mobility: Array, wrench: Array, loop: SampledLoop) -> float:
    """Return the speed of a free tip under a wrench and the strongest damping that the loop bears, m/s.

    Args:
        mobility: acceleration of the tip's origin for each component of a wrench, in base axes, shape (3, 6).
        wrench: [force; moment], N and N m, shape (6,).
        loop: the loop.
    """
    return loop.speed_before_damping(hypot(*(mobility @ wrench)))


def braking_stiffness(state: ArmState, wrench: Array) -> Array:
    """Return the stiffness whose critical damping lets no wrench move a free tip faster than `APPROACH_SPEED`.

    It acts on the motion that the wrench drives, and on no other: it vanishes with the wrench.

    Args:
        state: state of the arm.
        wrench: on the tip, [force; moment] in base axes, N and N m, shape (6,).

    Returns:
        N/m and N m/rad, shape (6, 6).
    """
    pull = state.mobility @ wrench
    power = float(wrench @ pull)
    if power <= 0:
        return np.zeros((6, 6))
    rate = hypot(*pull[:3], *(LEVER * pull[3:])) / APPROACH_SPEED
    return (rate / 2) ** 2 / power * np.outer(wrench, wrench)


def travel_violation(travel: float, arm: Arm) -> Violation | None:
    """Return whether the tip has gone farther where nothing but a wall would hold it than it may, m."""
    if travel <= arm.commands.max_tip_travel:
        return None
    return Violation("travel limit", f": the tip is {travel:.3g} m from where it was to be held, or where it began")
