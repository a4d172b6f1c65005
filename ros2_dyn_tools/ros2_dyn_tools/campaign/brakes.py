# SPDX-License-Identifier: Apache-2.0
"""Brakes of the joints: dry friction in place of the motors' efforts."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.simulated_arm import SimulatedArm

CREEP = 1e-3
"""Speed above which a joint slips through its closed brake with all of the torque, rad/s or m/s; slower below."""


class Brakes:
    """The law of an arm whose brakes have closed, and whose motors exert nothing; integrate it one step at a time."""

    uses_dynamics = False

    def __init__(self, arm: SimulatedArm, torque: Array) -> None:
        """Brake an arm with torques of its joints, N m or N, shape (n,)."""
        self._arm, self._torque = arm, torque

    @property
    def damping(self) -> Array:
        """Friction over speed, N m s/rad or N s/m, shape (n,)."""
        return self._torque / np.maximum(np.abs(self._arm.qd), CREEP)

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        return -self.damping * qd
