# SPDX-License-Identifier: Apache-2.0
"""Open-loop force control: a wrench at the tip through the arm's statics, without a force sensor."""

from __future__ import annotations

from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array


def force_control(state: ArmState, wrench: ArrayLike, damping: float = 0.0, posture_damping: float = 0.0) -> Array:
    """Return efforts with which the tip exerts a wrench on its surroundings, with damped motion.

    ``tau = g + J^T F - M (damping qd_tip + posture_damping qd_null)`` (Craig 5.96), where ``qd = qd_tip + qd_null``.
    On a redundant arm, qd_null does not move the tip and is dynamically decoupled from it (Khatib 1987). At rest the
    wrench is as exact as the model. In free space a tip of mass m reaches the velocity ``F / (damping m)``.

    Args:
        state: state of the arm.
        wrench: [force; moment about the tip's origin] on the surroundings, in base axes, N and N m, shape (6,).
        damping: damping of motions of the tip, 1/s.
        posture_damping: damping of motions that do not move the tip, 1/s.

    Returns:
        N m or N, shape (n,).
    """
    qd_tip = tip_part(state, state.qd)
    slowing = damping * qd_tip + posture_damping * (state.qd - qd_tip)
    return state.gravity + np.asarray(wrench, dtype=float) @ state.J - state.M @ slowing


def tip_part(state: ArmState, motion: Array) -> Array:
    """Return the part of a joint motion that moves the tip: that of least kinetic energy with the same tip motion.

    Args:
        state: state of the arm.
        motion: joint velocities or accelerations, shape (n,).

    Returns:
        Shape (n,). What is left of the motion does not move the tip, and is dynamically decoupled from it. A direction
        that a singularity takes from the tip passes to that rest without a step.
    """
    return state.tip_projector @ motion


def approach_rate(speed: float, approach_speed: float) -> float:
    """Return the fraction of its maximum rate at which a wrench grows, from -1 to 1, negative where it shrinks.

    Up to half the approach speed it grows as fast as it may. At the approach speed it stays. The faster tip of an arm
    that has not met its wall yet is therefore no faster, whatever the force that is desired.

    Args:
        speed: speed of the tip in the direction in which the wrench accelerates it, m/s.
        approach_speed: speed at which the wrench stays, m/s.
    """
    return min(max(2 * (1 - speed / approach_speed), -1.0), 1.0)


def rate_limited_wrench(wrench: ArrayLike, target: ArrayLike, force_step: float, moment_step: float) -> Array:
    """Return a wrench on the way to a target, with limited changes of force and moment.

    Args:
        wrench: current [force; moment], N and N m, shape (6,).
        target: target [force; moment], shape (6,).
        force_step: maximum change of the force, N.
        moment_step: maximum change of the moment, N m.
    """
    wrench, change = np.array(wrench, dtype=float), np.subtract(target, wrench)
    for part, step in ((slice(3), force_step), (slice(3, 6), moment_step)):
        size = hypot(*change[part])  # unlike a sum of squares it does not overflow
        wrench[part] += change[part] * min(1.0, step / size) if size > 0 else 0.0
    return wrench
