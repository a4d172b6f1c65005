# SPDX-License-Identifier: Apache-2.0
"""A smooth motion of all joints within their limits, whose periods differ from joint to joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

AMPLITUDE = 0.6
"""Amplitude of each joint where its limits allow it, rad or m: half of the full swing."""
PERIOD = 4.0
"""Period of the first joint, s; each further joint is a little slower."""


class DemoTrajectory:
    """Swing each joint from home to one side and back: ``q = home + A (1 - cos(w (t - start)))``."""

    def __init__(self, model: RobotModel, home: ArrayLike, start: float = 0.0) -> None:
        """Plan the motion.

        Args:
            model: the robot, which gives the limits.
            home: joint positions at the start, where the motion begins at rest, rad or m, shape (n,).
            start: time of the start, s.

        Raises:
            InputError: home lies outside the joint limits.
        """
        self.home = np.asarray(home, dtype=float)
        lower, upper = model.lower, model.upper
        if self.home.shape != lower.shape or not np.all((lower <= self.home) & (self.home <= upper)):
            raise InputError("home", f"expected {model.n} positions within {lower} and {upper}, got {self.home}")
        self.start = start
        self.w = 2 * np.pi / (PERIOD * (1 + 0.17 * np.arange(model.n)))
        to_upper, to_lower = upper - self.home, self.home - lower
        side = np.where(to_upper >= to_lower, 1.0, -1.0)
        room = np.minimum(0.4 * np.maximum(to_upper, to_lower), AMPLITUDE)
        max_velocity = 0.5 * model.velocity_limit
        self.A = side * np.minimum(room, max_velocity / self.w)

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations at time t (s), rad or m and s, each of shape (n,)."""
        phase = self.w * (t - self.start)
        c, s = np.cos(phase), np.sin(phase)
        return self.home + self.A * (1 - c), self.A * self.w * s, self.A * self.w**2 * c
