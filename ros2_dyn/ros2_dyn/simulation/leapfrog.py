# SPDX-License-Identifier: Apache-2.0
"""The step of the simulated arm: leapfrog in the positions, implicit in friction, one kernel evaluation."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ros2_dyn import dynamics
from ros2_dyn.dynamics.ltdl import solve
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.traced import input_symbols, traced_function

MIN_SPEED = 1e-9
"""Speed below which friction over speed is taken at this speed, rad/s or m/s."""


@lru_cache(maxsize=256)
def compile_leapfrog(model: RobotModel, step: float) -> Callable[..., tuple[tuple[float, ...]]]:
    """Compile the acceleration of a step for one robot.

    Friction on the drives and damping on the joints act at the velocity ``qd + theta step qdd``. With
    ``z = step D / M_ii``, D both together, and ``theta = (1 + z) / (2 + z)`` a single joint is slowed by
    ``1 / (1 + z + z^2/2)``. This is of second order in the step where friction is weak, and brings joints to rest
    without oscillation where it is stiff. The slope of dry friction is zero above the lowest speeds, so friction over
    speed takes its place.

    Args:
        model: the robot.
        step: integration step, s.

    Returns:
        The constant accelerations of a step, rad/s^2 or m/s^2, as a function of q (positions in the middle of the step,
        rad or m), qd (velocities at its start, rad/s or m/s), speed (estimated velocities in the middle of the step,
        none of them zero), damping (by the efforts, N m s/rad or N s/m) and tau (efforts in the middle of the step,
        without friction but for presliding, N m or N).
    """
    n = model.n
    inputs = input_symbols(dict.fromkeys(("q", "qd", "speed", "damping", "tau"), n))
    q, qd, speed, damping, tau = inputs.values()
    M = dynamics.mass_matrix(model, q)
    C = model.drives.coupling
    offset = dynamics.friction_offset(model)
    h = dynamics.rnea(model, q, speed, np.zeros(n)) + dynamics.spring(model, q) + offset
    friction = dynamics.friction(model, speed, dynamics.carried_load(model, q)) - offset
    friction = model.drives.efforts(friction) / (C @ speed)
    z = step * (friction + damping) / np.diagonal(M)
    late = step * (1 + z) / (2 + z)
    implicit = M + np.diag(damping * late) + C.T @ np.diag(friction * late) @ C
    net = tau - h - C.T @ (friction * (C @ qd)) + damping * (speed - qd)
    qdd = solve(implicit, net[:, None])[:, 0]
    return traced_function(inputs, {"qdd": qdd})
