"""A wrench at the tip, by the arm's statics: no force sensor, and no feedback of the force."""

from __future__ import annotations

from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

LEAST = 1e-3
"""Singular values below this share of the greatest count as zero."""


def force_control(state: ArmState, wrench: ArrayLike, damping: float = 0.0, posture_damping: float = 0.0) -> Array:
    """Efforts with which the tip exerts a wrench on what it touches, and what moves is damped.

    ``tau = g + J^T F - M (damping qd_tip + posture_damping qd_null)`` (Craig 5.96), where ``qd = qd_tip + qd_null`` and
    qd_null, of a redundant arm, does not move the tip and is dynamically decoupled from it (Khatib 1987). At rest it is
    exact as far as the model is; in free space a tip of the mass m comes to ``v = F / (damping m)``.

    Args:
        state: of the arm.
        wrench: [force; moment about the tip's origin] on the surroundings, in base axes, N and N m, shape (6,).
        damping: of what moves the tip, 1/s.
        posture_damping: of what does not, 1/s.

    Returns:
        N m or N, shape (n,).
    """
    qd_tip = tip_motion(state)
    slowing = damping * qd_tip + posture_damping * (state.qd - qd_tip)
    return state.gravity + np.asarray(wrench, dtype=float) @ state.J - state.M @ slowing


def tip_motion(state: ArmState) -> Array:
    """The joint velocity, shape (n,), of the least kinetic energy that moves the tip as the arm moves it."""
    L = np.linalg.cholesky(state.M)
    A = np.linalg.solve(L, state.J.T).T  # of velocities whose norm is the kinetic energy
    _, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    V = Vt[sigma > LEAST * sigma[0]]
    return np.linalg.solve(L.T, V.T @ (V @ (L.T @ state.qd)))


def rate_limited_wrench(wrench: ArrayLike, target: ArrayLike, force_step: float, moment_step: float) -> Array:
    """A wrench on its way to another, by a force and a moment of some size at most.

    Args:
        wrench: [force; moment] so far, N and N m, shape (6,).
        target: where it goes, shape (6,).
        force_step: greatest change of the force, N.
        moment_step: greatest change of the moment, N m.
    """
    wrench, change = np.array(wrench, dtype=float), np.subtract(target, wrench)
    for part, step in ((slice(3), force_step), (slice(3, 6), moment_step)):
        size = hypot(*change[part])  # unlike a sum of squares it does not overflow
        wrench[part] += change[part] * min(1.0, step / size) if size > 0 else 0.0
    return wrench
