# SPDX-License-Identifier: Apache-2.0
"""What a simulated arm does in a world: speeds, travel after a stop, contact forces."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ros2_dyn.model.spatial import Array


@dataclass
class MotionRecord:
    """Maxima over the motion of an arm."""

    velocity_limit: Array
    """Velocity limits of the joints, rad/s or m/s, shape (n,)."""
    max_speed_ratio: float = 0.0
    """Largest joint speed, as a fraction of the joint's velocity limit."""
    max_tip_speed: float = 0.0
    """Largest speed of the tip, m/s."""
    max_travel_after_stop: float = 0.0
    """Largest distance of a joint from where it was when a mode stopped, rad or m."""
    max_contact_force: float = 0.0
    """Largest resultant force of the contacts, N."""
    divergences: int = 0
    """Number of times that the simulation diverged and the arm was placed at home."""
    _stopped_at: Array | None = field(default=None, repr=False)
    _tip: Array | None = field(default=None, repr=False)

    def add(self, q: Array, qd: Array, tip: Array, period: float, contact_force: float) -> tuple[float, float, float]:
        """Add an instant.

        Args:
            q: joint positions, rad or m, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,).
            tip: position of the tip, m, shape (3,).
            period: time since the instant before, s.
            contact_force: resultant force of the contacts, N.

        Returns:
            Speed ratio, tip speed and travel after the stop at this instant.
        """
        ratio = float((np.abs(qd) / self.velocity_limit).max())
        way = np.zeros(3) if self._tip is None else tip - self._tip
        tip_speed = sqrt(way @ way) / period
        travel = 0.0 if self._stopped_at is None else float(np.abs(q - self._stopped_at).max())
        self._tip = tip
        self.max_speed_ratio = max(self.max_speed_ratio, ratio)
        self.max_tip_speed = max(self.max_tip_speed, tip_speed)
        self.max_travel_after_stop = max(self.max_travel_after_stop, travel)
        self.max_contact_force = max(self.max_contact_force, contact_force)
        return ratio, tip_speed, travel

    def begin_stop(self, q: Array) -> None:
        """Measure travel from these joint positions on, rad or m, shape (n,)."""
        self._stopped_at = q.copy()

    def end_stop(self) -> None:
        """Measure no travel any more."""
        self._stopped_at = None

    def restart(self) -> None:
        """Go on after the arm was placed somewhere else."""
        self._stopped_at = self._tip = None
