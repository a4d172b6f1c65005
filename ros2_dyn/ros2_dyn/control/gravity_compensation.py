# SPDX-License-Identifier: Apache-2.0
"""Damped gravity compensation."""

from __future__ import annotations

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

STOP_DAMPING = 15.0
"""Rate at which a stopped arm comes to rest, 1/s; less where states are slow."""


def gravity_compensation(state: ArmState, damping: float = 0.0) -> Array:
    """Return the efforts ``g(q) - damping M(q) qd``; motion decays as ``exp(-damping t)``.

    Damping by momentum slows every joint at the same rate, whatever its inertia. Sampled with period T, it is stable
    if ``damping T`` is well below 1.

    Args:
        state: state of the arm.
        damping: rate at which the arm comes to rest, 1/s.

    Returns:
        N m or N, shape (n,).
    """
    return state.gravity - damping * state.momentum
