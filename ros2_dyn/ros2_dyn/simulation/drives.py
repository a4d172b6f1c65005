"""What the motors of the simulated arm make of a command: efforts, positions of servos, or currents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.simulated_arm import EffortLaw, HeldEffort

Drive = Callable[[Sequence[float]], EffortLaw]
"""Function from a command, (n,), to the law that the motors follow until the next one."""

SERVO_DAMPING_TIME = 0.02
"""Damping of a servo over its stiffness, s."""


class PositionServo:
    """Hold positions, as the servos of low-cost arms do: ``tau = k (q_command - q) - d qd``, saturated."""

    uses_dynamics = False
    compensates_friction = False

    def __init__(self, q: Array, k: Array, d: Array, limit: Array) -> None:
        """Hold positions q (n,) with gains k (N m/rad or N/m) and d (N m s/rad or N s/m), each (n,)."""
        self.q, self.k, self.damping, self.limit = q, k, d, limit

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        return np.clip(self.k * (self.q - q) - self.damping * qd, -self.limit, self.limit)


def drive_of(interface: str, stiffness: ArrayLike, constant: ArrayLike, limit: Array) -> Drive:
    """Return the motors of an arm.

    Args:
        interface: what they take: effort, position_offset or current.
        stiffness: of servos, N m/rad or N/m, shape (n,); used with position_offset.
        constant: effort per current, N m/A or N/A, shape (n,); used with current.
        limit: effort limits, N m or N, shape (n,).
    """
    if interface == "position_offset":
        k = np.array(stiffness, dtype=float)
        return lambda numbers: PositionServo(np.array(numbers), k, SERVO_DAMPING_TIME * k, limit)
    if interface == "current":
        return lambda numbers: HeldEffort(np.asarray(constant) * numbers, limit)
    return lambda numbers: HeldEffort(numbers, limit)
