# SPDX-License-Identifier: Apache-2.0
"""What carries the arm after a stop that failed: the effort at rest, by the conventions of the robot."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_supervisor import CommandSupervisor
from ros2_dyn.control.rest_effort import RestEffort
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.effort_convention import commanded_effort, total_effort
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.state_pipeline import Observed

REST_MODES = ("monitor", "gravity", "feed_forward", "stopped")
"""Modes in which nobody is expected to carry a part of the arm: the effort at rest is remembered."""
HELD_DISTANCE = 0.01
"""Distance within which an effort that holds an arm holds it still, rad or m."""


class RestHolding:
    """Remembers the effort at rest, as it would be commanded."""

    def __init__(self) -> None:
        self._rest = RestEffort()
        self._load_changed = False

    @property
    def known(self) -> tuple[Array | None, Array | None]:
        """Where the arm last stood still, and the effort that held it there; None: nowhere yet."""
        return self._rest.q, self._rest.effort

    def learn(self, q: Array | None, effort: Array | None) -> None:
        """Take what another process knows, if it knows anything: it has seen its own commands hold the arm."""
        if q is not None and effort is not None:
            self._rest.q, self._rest.effort = q, effort

    def on_payload_changed(self) -> None:
        """Take notice that the robot carries something else from now on."""
        self._load_changed = True

    def held_at(self, q: Array) -> Array | None:
        """Return the effort that holds the arm at positions, rad or m, (n,); None where it has not rested there."""
        at, effort = self.known
        there = at is not None and bool(np.all(np.abs(q - at) <= HELD_DISTANCE))
        return effort if there and not self._load_changed else None

    def observe(self, robot: RobotDynamics, observed: Observed, supervisor: CommandSupervisor) -> None:
        """Take a state with the newest command, which has proved to hold the arm; without one the measured effort.

        Zeros where the arm was held by something are not believed: drivers send them where they do not measure.
        """
        measured, now = observed.state.measured, observed.now
        if not self._rest.stands_still(now, measured.q) or supervisor.mode not in REST_MODES or supervisor.escalated:
            return
        effort = supervisor.last
        if effort is None and measured.effort is not None and (any(measured.effort) or self._rest.q is None):
            terms, settings = observed.terms, robot.settings
            total = total_effort(
                settings.states.measured_effort, measured.effort, terms.inverse_dynamics, terms.gravity
            )
            effort = commanded_effort(settings.commands.command_effort, np.array(total), np.array(terms.gravity))
        if effort is not None and self._rest.observe(now, np.array(measured.q), effort):
            self._load_changed = False

    def effort(self, robot: RobotDynamics, arm: ArmState, now: float) -> Array:
        """Return the effort that carries the arm without trust in the model, as it would be commanded, N m or N, (n,).

        Args:
            robot: the robot.
            arm: its state; if it has never stood still, the model's gravity there carries it.
            now: time, s.
        """
        kind, q = robot.settings.commands.command_effort, self._rest.q
        hold = commanded_effort(kind, arm.gravity, arm.gravity)
        if q is None:
            return hold
        zero = [0.0] * robot.model.n
        gravity = np.array(robot.effort(q.tolist(), zero, zero, now))
        return self._rest.holding(hold, commanded_effort(kind, gravity, gravity), robot.model.effort_limit)
