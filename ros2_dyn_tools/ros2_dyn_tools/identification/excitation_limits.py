# SPDX-License-Identifier: Apache-2.0
"""Limits of an exciting trajectory: shares of what the robot description allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import carried_load, friction, gravity, mass_matrix, rnea, spring
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

MAX_SWING = np.pi
"""Largest distance from the posture at the start, rad or m, whatever the limits: arms with cables and hoses."""
MAX_ACCELERATION = 10.0
"""Largest default limit of acceleration, rad/s^2 or m/s^2: descriptions lack the rotors, which small joints feel."""
POSTURES = 200
"""Random postures in which the default limits of acceleration are computed."""


@dataclass(frozen=True)
class MotionLimits:
    """Limits of each degree of freedom; arrays have shape (n,). Infinite where the description gives none."""

    lower: Array
    """Lowest positions, rad or m."""
    upper: Array
    """Highest positions, rad or m."""
    velocity: Array
    """Highest speeds, rad/s or m/s."""
    acceleration: Array
    """Highest accelerations, rad/s^2 or m/s^2."""
    effort: Array
    """Highest efforts, N m or N."""

    @classmethod
    def of(
        cls, model: RobotModel, posture: Array, share: float, margin: float, acceleration: ArrayLike | None = None
    ) -> MotionLimits:
        """Return the limits of a robot.

        Args:
            model: the robot.
            posture: joint positions at the start, rad or m, shape (n,).
            share: share of the velocity and effort limits, and of the default limits of acceleration.
            margin: distance from the position limits, rad or m.
            acceleration: rad/s^2 or m/s^2, shape (n,) or one for all; None: what the effort limits allow in the worst
                posture, or half of what they allow without gravity if that is more; `MAX_ACCELERATION` at most.

        Raises:
            InputError: the posture is not inside the position limits less the margin, gravity alone exceeds the share
                of an effort limit there, or a limit is not positive.
        """
        lower = np.maximum(model.lower + margin, posture - MAX_SWING)
        upper = np.minimum(model.upper - margin, posture + MAX_SWING)
        effort = share * model.effort_limit
        held = np.abs(gravity(model, posture) + spring(model, posture))
        for i, name in enumerate(model.joint_names):
            if not (model.velocity_limit[i] > 0 and effort[i] > 0):
                raise InputError(f"joint '{name}'", "its velocity or effort limit is 0; correct the description")
            if model.upper[i] - model.lower[i] <= 2 * margin:
                problem = f"joint '{name}': {margin:.4g} at both ends leaves nothing of its range"
                raise InputError("margin", f"{problem}; leave it out by --joints, as a finger, or give a smaller one")
            if not lower[i] < posture[i] < upper[i]:
                bounds = f"{model.lower[i] + margin:.4g} and {model.upper[i] - margin:.4g}"
                expected = f"expected a position between {bounds} (the limits less the margin of {margin:.4g})"
                raise InputError("posture", f"joint '{name}': {expected}, got {posture[i]:.4g}")
            if held[i] > effort[i]:
                problem = f"gravity alone needs {held[i]:.4g} of {effort[i]:.4g} N m or N; choose another one"
                raise InputError("posture", f"joint '{name}': {problem}")
        if acceleration is None:
            highest = _default_acceleration(model, lower, upper)
        else:
            highest = positive_numbers("acceleration", acceleration, model.n)
        return cls(lower, upper, share * model.velocity_limit, highest, effort)

    def linear(self, q: Array, qd: Array, qdd: Array, posture: Array) -> Array:
        """Return how much of the limits a motion about a posture uses, shape (m, n); 1 is a limit.

        It grows in proportion to the amplitude.
        """
        off = q - posture
        room = np.where(off > 0, self.upper - posture, posture - self.lower)
        return np.max([np.abs(off) / room, np.abs(qd) / self.velocity, np.abs(qdd) / self.acceleration], axis=0)


def _default_acceleration(model: RobotModel, lower: Array, upper: Array) -> Array:
    """Return the accelerations, shape (n,), that the effort limits allow each joint alone."""
    q = np.random.default_rng(0).uniform(lower, upper, size=(POSTURES, model.n))
    inertia = np.max(np.diagonal(mass_matrix(model, q), axis1=-2, axis2=-1), axis=0)
    left = model.effort_limit - np.max(np.abs(gravity(model, q)), axis=0)
    return np.minimum(np.maximum(left, 0.5 * model.effort_limit) / np.maximum(inertia, 1e-9), MAX_ACCELERATION)


def positive_numbers(name: str, given: ArrayLike, n: int) -> Array:
    """Return the numbers of n joints, shape (n,), given as such or as one for all.

    Raises:
        InputError: there are more or fewer, or one is not finite or not positive.
    """
    numbers = np.asarray(given, dtype=float)
    if numbers.shape not in ((), (n,)) or not (np.all(np.isfinite(numbers)) and np.all(numbers > 0)):
        raise InputError(name, f"expected positive numbers, one or {n}, got {numbers.tolist()}")
    return np.broadcast_to(numbers, (n,))


def whole_effort(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the efforts of the motors, N m or N, shape (..., n): inverse dynamics, friction and springs."""
    return rnea(model, q, qd, qdd) + friction(model, qd, carried_load(model, q)) + spring(model, q)
