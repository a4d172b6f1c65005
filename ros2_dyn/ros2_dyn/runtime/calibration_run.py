# SPDX-License-Identifier: Apache-2.0
"""The calibration of the collision thresholds: the run that goes on, what it collects, and when it ends."""

from __future__ import annotations

from collections.abc import Hashable

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.calibration import Calibration
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.update import Reply

FALSE_ALARMS_PER_HOUR = 0.01
"""False alarms that the thresholds allow, 1/h: one in four days."""
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

    def thresholds(self) -> list[float]:
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
        return [float(f"{e:.4g}") for e in self._calibration.thresholds(FALSE_ALARMS_PER_HOUR, lowest)]


class CalibrationRuns:
    """The calibration that goes on, if any; another one replaces it."""

    def __init__(self) -> None:
        self._run: CalibrationRun | None = None

    def begin(self, seen: CollisionUpdate, deadline: float, request: Hashable) -> tuple[Reply, ...]:
        """Begin a run; return the reply to the one that it replaces.

        Args:
            seen: the newest external efforts.
            deadline: when it ends, s.
            request: who asked for it.
        """
        replies = self.abandon()
        self._run = CalibrationRun(seen.robot.model, seen.restarts, deadline, request)
        return replies

    def add(self, seen: CollisionUpdate | None) -> None:
        """Take the external efforts at a state, where they are observed."""
        if self._run is not None and seen is not None:
            self._run.update(seen)

    def finish(self, now: float) -> tuple[Reply, ...]:
        """Return the reply to a run that is over at a time, s."""
        run = self._run
        if run is None or now < run.deadline:
            return ()
        self._run = None
        try:
            return (Reply(run.request, None, run.thresholds()),)
        except InputError as error:
            return (Reply(run.request, error),)

    def abandon(self) -> tuple[Reply, ...]:
        """End the run, because the robot or its parameters are others; return its reply."""
        run, self._run = self._run, None
        error = InputError("parameters", "the robot or parameters changed during the calibration: repeat it")
        return () if run is None else (Reply(run.request, error),)
