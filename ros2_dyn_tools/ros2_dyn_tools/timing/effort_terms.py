# SPDX-License-Identifier: Apache-2.0
"""Efforts along a path by its timing: exactly quadratic in the speed of s without friction.

With q(s), qd = q' sd and qdd = q' sdd + q'' sd^2. Inverse dynamics is linear in qdd and quadratic in qd, so that three
evaluations give all of it: ``tau = a(s) sdd + b(s) sd^2 + c(s) + friction(s, sd)`` (Bobrow, Dubowsky and Gibson 1985).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import carried_load, friction, rnea, spring
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.geometric_path import PathPoints

BREAKAWAY = 3.0
"""Multiple of `transition_velocity` at which dry friction is all there: tanh(3) is 0.995."""


class EffortTerms(NamedTuple):
    """The terms at some points of a path, N m or N per unit of s, each of shape (m, n)."""

    model: RobotModel
    dq: Array
    a: Array
    b: Array
    c: Array
    """Efforts at rest: weight and springs."""
    carried: Array | None
    """Efforts that carry the weight, where friction depends on them."""

    def friction(self, sd: Array) -> Array:
        """Return the efforts of friction at speeds sd, shape (..., m), of the m points; shape (..., m, n)."""
        return friction(self.model, self.dq * sd[..., None], self.carried)

    def opposing(self, sd: Array, extreme: Callable[[Array, Array], Array]) -> Array:
        """Return friction as `friction` does, but for drives slower than at breakaway the maximum or minimum of both.

        Args:
            sd: speeds, shape (..., m).
            extreme: np.maximum or np.minimum.
        """
        drives, slow = self.model.drives, BREAKAWAY * transition_velocity(self.model)
        turning = self.dq @ drives.coupling.T
        leaving = friction(self.model, (np.sign(turning) * slow) @ drives.inverse.T, self.carried)
        moving, left = (drives.efforts(each)[..., None] * drives.coupling for each in (self.friction(sd), leaving))
        sticks = np.abs(turning * sd[..., None]) < slow
        return np.asarray(np.sum(np.where(sticks[..., None], extreme(moving, left), moving), axis=-2))

    def effort(self, sd: Array, sdd: Array) -> Array:
        """Return the efforts, shape (m, n), at speeds and accelerations of s, each of shape (m,)."""
        x, u = (sd * sd)[:, None], sdd[:, None]
        return self.a * u + self.b * x + self.c + self.friction(sd)


def effort_terms(model: RobotModel, path: PathPoints, gravity: ArrayLike | None) -> EffortTerms:
    """Return the terms at m points of a path.

    Args:
        model: the robot with its payload.
        path: the points.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.
    """
    zero = np.zeros_like(path.dq)
    weight = rnea(model, path.q, zero, zero, gravity)
    a = rnea(model, path.q, zero, path.dq, gravity) - weight
    b = rnea(model, path.q, path.dq, path.ddq, gravity) - weight
    return EffortTerms(model, path.dq, a, b, weight + spring(model, path.q), carried_load(model, path.q, gravity))


def transition_velocity(model: RobotModel) -> Array:
    """Return the speed over which dry friction changes its sign, rad/s or m/s, shape (n,)."""
    speed = np.zeros(model.n)
    for joint, where in zip(model.joints, model.v_slices):
        speed[where] = np.maximum(speed[where], joint.dynamics.transition_velocity / max(abs(joint.multiplier), 1e-9))
    return speed


def motor_effort(model: RobotModel, q: Array, qd: Array, qdd: Array, gravity: ArrayLike | None) -> Array:
    """Return the efforts of the motors, shape (..., n): inverse dynamics, friction and springs."""
    rubbing = friction(model, qd, carried_load(model, q, gravity))
    return rnea(model, q, qd, qdd, gravity) + rubbing + spring(model, q)
