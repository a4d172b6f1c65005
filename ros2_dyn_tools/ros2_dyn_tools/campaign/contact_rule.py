# SPDX-License-Identifier: Apache-2.0
"""The rule for contacts: how hard a wall may be pressed in modes force and impedance."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.motion_rules import PRESSES, Finding, Instant, needs_of

FORCE_MARGIN = 1.5
"""The force on a wall may exceed what was asked by this factor."""
FORCE_TOLERANCE = 5.0
"""It may exceed it by this as well, N."""
REBOUND_TIME = 0.5
"""Touches with shorter gaps, s, belong to one impact."""
FORCE_MEMORY = 0.5
"""The largest force that was asked during this time counts, s."""


class SpringLimits(NamedTuple):
    """What the node was told of the spring of mode impedance."""

    force: float = inf
    """Largest force, N; a wrench with more is refused."""
    speed: float = 0.1
    """Speed at which it moves to where it is desired, m/s."""
    stiffness: float = 0.0
    """Largest stiffness along an axis, N/m."""


class SpringBound:
    """The force that the spring of mode impedance can have by now, whatever was desired.

    It is at rest at the tip when the mode begins. From then on its length is at most the way that its end and the tip
    have gone, and its force the length times the largest stiffness that was told.
    """

    def __init__(self, limits: SpringLimits) -> None:
        self._limits = limits
        self._stiffness = limits.stiffness
        self._length, self._at = 0.0, inf

    def on_stiffness(self, stiffness: float) -> None:
        """Take note of a stiffness that was told, N/m."""
        self._stiffness = max(self._stiffness, stiffness)

    def see(self, now: Instant) -> float:
        """Return the force at an instant, N; 0 in other modes."""
        if "pose" not in needs_of(now.mode).follows:
            self._at = inf
            return 0.0
        self._length = (
            0.0 if self._at == inf else self._length + (now.t - self._at) * (now.tip_speed + self._limits.speed)
        )
        self._at = now.t
        return min(self._limits.force, self._stiffness * self._length)


class ContactRule:
    """A wall is pressed with `FORCE_MARGIN` times what was asked, and what the impact speed explains.

    What was asked is the desired wrench in mode force, and with that of the spring in mode impedance (`SpringBound`).

    A tip of mass m that meets a wall of stiffness k with speed v presses it with ``v sqrt(k m)`` at most. Of an impact
    with rebounds the first speed counts, so that a tip that hits ever harder is found. A wall that was pressed before
    the mode began is judged when it has once been pressed as little.
    """

    def __init__(self, tip_mass: Callable[[Array], float], limits: SpringLimits | None = None) -> None:
        """Take what is known of the arm and of the node's parameters.

        Args:
            tip_mass: returns the apparent mass of the tip, kg, at positions, rad or m, (n,).
            limits: those of the spring; None: it has none.
        """
        self._tip_mass, self._limits = tip_mass, limits or SpringLimits()
        self.spring = SpringBound(self._limits)
        self._asked: deque[tuple[float, float]] = deque()
        self._speeds: deque[tuple[float, float]] = deque(maxlen=6)
        self._touched_at = -inf
        self._impact = 0.0
        self._ignored = self._told = self._pressed_before = False
        self._placed_at, self._stiffness = -inf, 0.0

    def on_asked(self, t: float, force: float) -> None:
        """Take note of a desired force, N, at a time, s; one that is not finite or too large asks for nothing."""
        while self._asked and self._asked[0][0] < t - FORCE_MEMORY:
            self._asked.popleft()
        self._asked.append((t, force if isfinite(force) and force <= self._limits.force else 0.0))

    def on_wall(self, t: float, stiffness: float) -> None:
        """Take note of a wall that was placed, N/m."""
        self._placed_at, self._stiffness = t, max(self._stiffness, stiffness)

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        spring = self.spring.see(now)
        if now.contact_force <= 0 or now.pushed or "wrench" not in needs_of(now.mode).follows or not now.model_right:
            self._speeds.append((now.t, now.tip_speed))
            self._pressed_before = now.contact_force > 0
            return []
        if now.t - self._touched_at > REBOUND_TIME:
            speed = max((v for _, v in self._speeds), default=now.tip_speed)
            self._impact = speed * sqrt(self._stiffness * self._tip_mass(np.asarray(now.q)))
            self._ignored = now.t - self._placed_at < 0.03  # the wall was placed where the tip was
            self._told = False
        self._touched_at = now.t
        asked = max((force for _, force in self._asked), default=0.0)
        allowed = FORCE_MARGIN * (asked + spring) + self._impact + FORCE_TOLERANCE
        self._pressed_before = self._pressed_before and now.contact_force > allowed
        if self._ignored or self._pressed_before or self._told or now.contact_force <= allowed:
            return []
        self._told = True
        return [Finding(PRESSES, "tip", now.contact_force, allowed)]
