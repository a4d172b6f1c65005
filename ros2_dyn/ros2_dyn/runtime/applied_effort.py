# SPDX-License-Identifier: Apache-2.0
"""What the joints exert, as it would be commanded: the effort that the first command of a mode starts from."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.stop.machine import REST_DISTANCE
from ros2_dyn.control.stop.motion import ArmMotion
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.state_pipeline import Observed

STILL_TIME = 0.1
"""Time for which all joints have to be at rest before their efforts are remembered, s."""


class AppliedEffort:
    """Where the arm last stood still, and the average of the efforts that held it there."""

    def __init__(self) -> None:
        """Know nothing yet of an arm."""
        self._motion = ArmMotion(STILL_TIME)
        self._q: Array | None = None
        self._held: Array | None = None
        self._since = self._at = 0.0
        self._commanded = False

    def on_weight_changed(self) -> None:
        """Take notice that the robot carries something else from now on, or is mounted in another way."""
        self._held = None

    def observe(self, robot: RobotDynamics, observed: Observed, command: Array | None, *, proves: bool) -> None:
        """Take a state, with what holds the arm there: the command, or the measured effort without one.

        Zeros are not believed: drivers send them where they do not measure. Nor is more than the motors may exert.

        Args:
            robot: the robot.
            observed: the state.
            command: what is commanded, N m or N, shape (n,); None: nothing.
            proves: whether an arm that rests proves that the effort holds it: nobody else carries a part of it.
        """
        measured, seen = observed.state.measured, self._motion.times
        q = np.array(measured.q)
        if len(seen) and observed.now - seen[-1] > robot.settings.states.timeout:
            self._motion.clear()  # where it was before nobody looked says nothing of how it moves now
        self._motion.add(observed.now, q)
        if self._held is not None and not self._is_there(q):
            self._held = None  # whatever moved it exerts something else from then on
        if robot.payload.share(observed.now) < 1:
            self._held = None  # what holds the arm meanwhile is another one at each state
        if not proves or not self._motion.at_rest(REST_DISTANCE, STILL_TIME):
            return
        effort = command
        if effort is None and measured.effort is not None and any(measured.effort):
            effort = robot.exerted(measured, observed.terms, np.array(observed.terms.gravity))
        if effort is not None and (np.abs(effort) <= robot.model.effort_limit).all():
            self._remember(observed.now, q, effort, commanded=command is not None)

    def at(self, robot: RobotDynamics, latest: Observed, state: ArmState, commanded: Array | None) -> Array:
        """Return what the joints exert at the newest state, as it would be commanded, N m or N, shape (n,).

        This is what the newest command makes them exert, or the measured effort: of an arm that rests, the average of
        what held it here, for a single one may be noise. Where it is missing, or zero, it is what held the arm here
        when it was known last, which a controller may hold still; or gravity.

        Args:
            robot: the robot.
            latest: the newest state.
            state: the state of the arm there.
            commanded: what the newest command makes them exert, N m or N, shape (n,); None: it holds the arm no more.
        """
        if commanded is not None:
            return commanded  # measured efforts lag behind
        exerted = robot.exerted(latest.state.measured, latest.terms, state.gravity)
        held, told = self.held_at(state.q), exerted is not None and any(latest.state.measured.effort or ())
        if held is not None and not (told and self.moves):
            return held
        return robot.as_commanded(state.gravity, state.gravity) if exerted is None else exerted

    @property
    def watched(self) -> bool:
        """Whether states have come for long enough to tell whether the arm rests."""
        return self._motion.speed(STILL_TIME) is not None

    @property
    def moves(self) -> bool:
        """Whether a joint is known to move."""
        return self.watched and not self._motion.at_rest(REST_DISTANCE, STILL_TIME)

    def held_at(self, q: Array) -> Array | None:
        """Return the effort that holds the arm at positions, rad or m, (n,); None where it has not rested there."""
        return self._held if self._is_there(q) else None

    def _is_there(self, q: Array) -> bool:
        """Return whether positions, rad or m, shape (n,), are those where the arm last stood still."""
        return self._q is not None and bool((np.abs(q - self._q) <= 0.01).all())  # rad or m

    def _remember(self, now: float, q: Array, effort: Array, *, commanded: bool) -> None:
        """Take positions and efforts of an arm that stands still at a time, s.

        What was commanded is no part of the average of what is measured: no controller may have taken it.
        """
        known = self._held if commanded == self._commanded else None
        if known is None or self._q is None or not (np.abs(q - self._q) < REST_DISTANCE).all():
            self._q, self._held, self._since, self._commanded = q, effort, now, commanded
        else:
            span = min(now - self._since, 1.0)  # s, over which it is averaged
            dt = min(now - self._at, STILL_TIME)  # one state after a pause is no average
            self._held = known + (dt / span if span > 0 else 0.0) * (effort - known)
        self._at = now
