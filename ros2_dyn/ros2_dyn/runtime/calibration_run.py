# SPDX-License-Identifier: Apache-2.0
"""A running calibration of the collision thresholds: what it collects, and when it ends."""

from __future__ import annotations

from collections.abc import Hashable

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.calibration import Calibration
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.collision_monitor import CollisionUpdate

MIN_EFFORT_FRACTION = 1e-3
"""No calibrated threshold is below this fraction of the joint's effort limit."""


class CalibrationRun:
    """Collects external efforts of a free motion until its deadline."""

    def __init__(self, model: RobotModel, restarts: int, deadline: float, request: Hashable) -> None:
        """Begin it.

        Args:
            model: the robot.
            restarts: of the observer so far.
            deadline: when it ends, s.
            request: who asked for it.
        """
        self.deadline, self.request = deadline, request
        self._model, self._restarts, self._restarted = model, restarts, False
        self._calibration = Calibration(model.joint_names)

    def update(self, seen: CollisionUpdate) -> None:
        """Take the external efforts at a state."""
        self._calibration.update(1e-9 * seen.state.stamp, list(seen.residual), seen.state.qd)
        self._restarted = self._restarted or seen.restarts != self._restarts

    def thresholds(self, false_alarms_per_hour: float) -> list[float]:
        """Return the threshold of each joint, N m or N, with four digits.

        Raises:
            InputError: states were missing, too few, or do not look like a free motion.
        """
        if self._restarted:
            raise InputError(
                "joint_states", "states were missing, or time was set back, during the calibration: repeat it"
            )
        limits = self._model.effort_limit
        lowest = [MIN_EFFORT_FRACTION * limit if limit < float("inf") else 0.0 for limit in limits]
        return [float(f"{e:.4g}") for e in self._calibration.thresholds(false_alarms_per_hour, lowest)]
