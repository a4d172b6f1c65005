# SPDX-License-Identifier: Apache-2.0
"""The effort that held the arm when it last stood still, as it would be commanded."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.command_supervisor import CommandSupervisor
from ros2_dyn.control.stop import ArmMotion
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.state_pipeline import Observed

STILL_DISTANCE = 1e-3
"""Range of a joint that stands still, rad or m."""
STILL_TIME = 0.1
"""Time for which all joints have to stand still before their efforts are remembered, s."""
HELD_DISTANCE = 0.01
"""Distance within which an effort that holds an arm holds it still, rad or m."""
AVERAGING_TIME = 0.5
"""Time constant of the average of the efforts, s."""


class RestHolding:
    """Remembers where the arm stood still, and the average of the efforts there."""

    def __init__(self) -> None:
        self._motion = ArmMotion(STILL_TIME)
        self._q: Array | None = None
        self._effort: Array | None = None
        self._at = 0.0
        self._load_changed = False

    @property
    def known(self) -> tuple[Array | None, Array | None]:
        """Where the arm last stood still, and the effort that held it there; None: nowhere yet."""
        return self._q, self._effort

    def on_payload_changed(self) -> None:
        """Take notice that the robot carries something else from now on."""
        self._load_changed = True

    def held_at(self, q: Array) -> Array | None:
        """Return the effort that holds the arm at positions, rad or m, (n,); None where it has not rested there."""
        there = self._q is not None and bool(np.all(np.abs(q - self._q) <= HELD_DISTANCE))
        return self._effort if there and not self._load_changed else None

    def observe(
        self, robot: RobotDynamics, observed: Observed, supervisor: CommandSupervisor, *, touched: bool
    ) -> None:
        """Take a state with the newest command, which has proved to hold the arm; without one the measured effort.

        Nothing is remembered where the arm is `touched`: others may carry a part of it then.

        Zeros where the arm was held by something are not believed: drivers send them where they do not measure.
        """
        measured = observed.state.measured
        self._motion.observe(observed.now, measured.q)
        if touched or supervisor.escalated:
            return
        if not self._motion.at_rest(STILL_DISTANCE, STILL_TIME):
            return
        effort = supervisor.last
        if effort is None and measured.effort is not None and (any(measured.effort) or self._q is None):
            effort = robot.exerted(measured, observed.terms, np.array(observed.terms.gravity))
        if effort is not None and np.isfinite(effort).all():
            self._remember(observed.now, np.array(measured.q), effort)

    def _remember(self, now: float, q: Array, effort: Array) -> None:
        """Take positions and efforts of an arm that stands still at a time, s."""
        known = self._effort
        if known is None or self._q is None or not (np.abs(q - self._q) < STILL_DISTANCE).all():
            self._q, self._effort = q, effort
        else:
            self._effort = known + min((now - self._at) / AVERAGING_TIME, 1.0) * (effort - known)
        self._at, self._load_changed = now, False
