# SPDX-License-Identifier: Apache-2.0
"""What the motors of the simulated arm make of a command: efforts, positions of servos, or currents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.interpolated_trajectory import FeedForwardTracking, InterpolatedTrajectory, Waypoint
from ros2_dyn.simulation.simulated_arm import EffortLaw, HeldEffort


class EffortDrive:
    """Motors that exert an effort, or that of a current."""

    def __init__(self, limit: Array, constant: ArrayLike = 1.0) -> None:
        """Take effort limits, N m or N, shape (n,), and efforts per unit of a command, shape (n,) or ()."""
        self._limit, self._constant = limit, np.asarray(constant, dtype=float)

    def command(self, numbers: Sequence[float]) -> EffortLaw:
        """Return the law of a command."""
        return HeldEffort(self._constant * numbers, self._limit)

    def hold(self, q: Array, tau: Array) -> EffortLaw:
        """Return the law before the first command, at positions q and efforts tau, each (n,)."""
        return HeldEffort(tau, self._limit)

    def weakened(self, share: Array, limit_only: bool = False) -> EffortDrive:
        """Return motors that give a share of this, shape (n,), or of this at most: they are hot, or limited."""
        return EffortDrive(share * self._limit, self._constant if limit_only else share * self._constant)


class ServoDrive:
    """Position servos, as those of low-cost arms: ``tau = k (q_command - q) - 0.02 s k qd``, saturated."""

    def __init__(self, limit: Array, stiffness: ArrayLike) -> None:
        """Take effort limits, N m or N, and the servos' stiffness, N m/rad or N/m, each (n,)."""
        self._limit, self._k = limit, np.asarray(stiffness, dtype=float)

    def command(self, numbers: Sequence[float]) -> EffortLaw:
        """Return the law of a command."""
        q = np.asarray(numbers, dtype=float)
        place = InterpolatedTrajectory([Waypoint(-np.inf, q, None, np.zeros_like(q))])
        return FeedForwardTracking(place, self._k, 0.02 * self._k, self._limit)

    def hold(self, q: Array, tau: Array) -> EffortLaw:
        """Return the law before the first command, at positions q and efforts tau, each (n,)."""
        return self.command((q + tau / self._k).tolist())

    def weakened(self, share: Array, limit_only: bool = False) -> ServoDrive:
        """Return servos that give a share of this, shape (n,), or of this at most."""
        return ServoDrive(share * self._limit, self._k if limit_only else share * self._k)


Drive = EffortDrive | ServoDrive


def drive_of(interface: str, effort_per_unit: ArrayLike, limit: Array) -> Drive:
    """Return the motors of an arm.

    Args:
        interface: what they take: position_offset, current, or an effort.
        effort_per_unit: stiffness of servos, N m/rad or N/m, or effort per current, N m/A or N/A, shape (n,).
        limit: effort limits, N m or N, shape (n,).
    """
    if interface == "position_offset":
        return ServoDrive(limit, effort_per_unit)
    return EffortDrive(limit, effort_per_unit if interface == "current" else 1.0)
