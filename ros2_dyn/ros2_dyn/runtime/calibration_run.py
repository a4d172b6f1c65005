# SPDX-License-Identifier: Apache-2.0
"""The calibration of the collision thresholds: the run that goes on, what it collects, and when it ends."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.calibration import Calibration
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.update import Reply


@dataclass(frozen=True)
class CalibrationRun:
    """A free motion whose external efforts are collected until its deadline."""

    first: CollisionUpdate
    """The newest external efforts where it began."""
    deadline: float
    """When it ends, s."""
    request: Hashable
    """Who asked for it."""
    calibration: Calibration

    def thresholds(self, restarts: int) -> list[float]:
        """Return the threshold of each joint, N m or N, with four digits; none is below a thousandth of its limit.

        One false alarm in four days is allowed.

        Args:
            restarts: of the observer up to now.

        Raises:
            InputError: states were missing, too few, or do not look like a free motion.
        """
        if restarts != self.first.restarts:
            problem = "states were missing, or time was set back, during the calibration: repeat it"
            raise InputError("joint_states", problem)
        lowest = [1e-3 * limit if limit < float("inf") else 0.0 for limit in self.first.robot.model.effort_limit]
        return [float(f"{e:.4g}") for e in self.calibration.thresholds(0.01, lowest)]


class CalibrationRuns:
    """The calibration that goes on, if any; another one replaces it."""

    def __init__(self) -> None:
        self._run: CalibrationRun | None = None
        self._restarts = 0

    def begin(self, seen: CollisionUpdate, deadline: float, request: Hashable) -> tuple[Reply, ...]:
        """Begin a run; return the reply to the one that it replaces.

        Args:
            seen: the newest external efforts.
            deadline: when it ends, s.
            request: who asked for it.
        """
        replies = self.abandon()
        self._run = CalibrationRun(seen, deadline, request, Calibration(seen.robot.model.joint_names))
        self._restarts = seen.restarts
        return replies

    def add(self, seen: CollisionUpdate | None) -> None:
        """Take the external efforts at a state, where they are observed."""
        if self._run is not None and seen is not None:
            self._run.calibration.update(1e-9 * seen.state.stamp, list(seen.residual), seen.state.qd)
            self._restarts = seen.restarts

    def finish(self, now: float) -> tuple[Reply, ...]:
        """Return the reply to a run that is over at a time, s."""
        run = self._run
        if run is None or now < run.deadline:
            return ()
        self._run = None
        try:
            return (Reply(run.request, None, run.thresholds(self._restarts)),)
        except InputError as error:
            return (Reply(run.request, error),)

    def abandon(self) -> tuple[Reply, ...]:
        """End the run, because the robot or its parameters are others; return its reply."""
        run, self._run = self._run, None
        error = InputError("parameters", "the robot or parameters changed during the calibration: repeat it")
        return () if run is None else (Reply(run.request, error),)
