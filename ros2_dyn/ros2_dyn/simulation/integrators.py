# SPDX-License-Identifier: Apache-2.0
"""Single integration steps of ``qdd = f(t, q, qd)``: accurate for smooth motion, or stable under stiff friction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ros2_dyn.model.spatial import Array

Acceleration = Callable[[float, Array, Array], Array]
"""Function that returns qdd, rad/s^2 or m/s^2, shape (n,), from t (s), q and qd."""
GAMMA = 1 + 1 / np.sqrt(2)
"""Parameter of `rosenbrock` that makes it L-stable: steps do not overshoot across dry friction."""


def runge_kutta(f: Acceleration, t: float, q: Array, qd: Array, dt: float) -> tuple[Array, Array]:
    """Return positions and velocities one step later, by the classical method of order 4."""
    a1 = f(t, q, qd)
    v2 = qd + dt / 2 * a1
    a2 = f(t + dt / 2, q + dt / 2 * qd, v2)
    v3 = qd + dt / 2 * a2
    a3 = f(t + dt / 2, q + dt / 2 * v2, v3)
    v4 = qd + dt * a3
    a4 = f(t + dt, q + dt * v3, v4)
    return q + dt / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def rosenbrock(f: Acceleration, t: float, q: Array, qd: Array, dt: float, *, W: Array) -> tuple[Array, Array]:
    """Return positions and velocities one step later, by ROS2 of Verwer et al. (1999), of order 2 for any W.

    W, shape (n, n), 1/s, approximates ``-d qdd / d qd``, the rate at which friction slows the joints. It makes the step
    implicit in the velocities, so that friction of any strength brings the joints to rest without oscillation.
    """
    E = np.eye(len(qd)) + GAMMA * dt * W
    a1 = np.linalg.solve(E, f(t, q, qd))
    v1 = qd + GAMMA * dt * a1
    a2 = np.linalg.solve(E, f(t + dt, q + dt * v1, qd + dt * a1) - 2 * a1)
    v2 = qd + dt * a1 - 2 * v1 + GAMMA * dt * a2
    return q + dt / 2 * (3 * v1 + v2), qd + dt / 2 * (3 * a1 + a2)
