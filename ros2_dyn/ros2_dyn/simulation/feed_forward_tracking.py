# SPDX-License-Identifier: Apache-2.0
"""The law of controllers without a model: spring and damper towards a trajectory, and its feed-forward efforts."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.interpolated_trajectory import InterpolatedTrajectory


class FeedForwardTracking:
    """Track a trajectory without a model: ``tau = effort_d + p (q_d - q) + d (qd_d - qd)``, saturated."""

    uses_dynamics = False

    def __init__(self, trajectory: InterpolatedTrajectory, p: Array, d: Array, limit: Array) -> None:
        """Track with gains p (N m/rad or N/m) and d (N m s/rad or N s/m) up to the effort limit, each (n,)."""
        self.trajectory = trajectory
        self.p = p
        self.damping = d
        self.limit = limit

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        q_d, qd_d, effort = self.trajectory.at(t)
        tau = effort + self.p * (q_d - q) + self.damping * (qd_d - qd)
        return np.minimum(np.maximum(tau, -self.limit), self.limit)
