"""An arm that weighs nothing: gravity compensation, damped."""

from __future__ import annotations

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array


def gravity_compensation(state: ArmState, damping: float = 0.0) -> Array:
    """Efforts ``g(q) - damping M(q) qd``: what moves, comes to rest as ``exp(-damping t)``.

    A damping by momentum slows every joint at the same rate, whatever its inertia. Sampled with a period T it is stable
    as long as ``damping T`` is well below 1.

    Args:
        state: of the arm.
        damping: 1/s.

    Returns:
        N m or N, shape (n,).
    """
    return state.gravity - damping * state.momentum
