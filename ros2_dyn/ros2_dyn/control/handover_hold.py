# SPDX-License-Identifier: Apache-2.0
"""What mode gravity adds while the arm passes from one controller to another: it stays where it is."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.controller_probe import ControllerProbe
from ros2_dyn.control.ramp import Ramp
from ros2_dyn.control.stop.law import position_hold
from ros2_dyn.control.stop.machine import PROOF_TIME, REST_DISTANCE
from ros2_dyn.control.stop.motion import ArmMotion
from ros2_dyn.model.spatial import Array


class HandoverHold:
    """Springs and dampers at the joints, which come and go by ramps, and a probe of the controller.

    Gravity compensation alone lets the arm drift by each error of the model, and coast after a step of the effort.
    Where no efforts are measured, only the springs know what holds the arm beyond its model.
    """

    def __init__(self, anchor: Array, now: float, ramp_time: float) -> None:
        """Begin to hold the joints at positions.

        Args:
            anchor: the positions, rad or m, shape (n,).
            now: time, s.
            ramp_time: time in which the springs grow, and vanish after `release`, s.
        """
        self._anchor, self._ramp_time = anchor, ramp_time
        self._ramp, self._held_share = Ramp(now, ramp_time), 1.0
        self._motion, self._spring, self._measured = ArmMotion(PROOF_TIME), np.zeros_like(anchor), False
        self._found: Array | None = None
        self.released = False
        """Whether the arm is let go: before, another controller may move it."""
        self.probe: ControllerProbe | None = None

    def share(self, now: float) -> float:
        """Return the share of the springs that acts at a time, s; 0 to 1."""
        return self._held_share * (1.0 - self._ramp.share(now)) if self.released else self._ramp.share(now)

    def settled(self, now: float) -> bool:
        """Return whether the springs have grown, or vanished."""
        return self._ramp.share(now) == 1.0

    def release(self, now: float) -> None:
        """Let the arm go, from a time on, s. What the springs exert at rest, where it is not measured, is found."""
        if not self._measured and self._motion.at_rest(REST_DISTANCE, PROOF_TIME):
            self._found, self._anchor = self._spring, self._motion.rows[-1].copy()
        self._held_share = self.share(now)
        self.released, self._ramp = True, Ramp(now, self._ramp_time * self._held_share)

    def take_found(self) -> Array | None:
        """Return once what was found to hold the arm beyond its model, N m or N, shape (n,); None: nothing new."""
        found, self._found = self._found, None
        return found

    def begin_probe(self, arm: ArmState, limit: Array, period: float, now: float) -> None:
        """Begin to probe the controller at a state; efforts are limited by `limit`, N m or N, shape (n,)."""
        self.probe = ControllerProbe(np.diag(np.linalg.inv(arm.M)), limit, period, now)

    def on_command(self, now: float, effort: Array) -> None:
        """Take a command at a time, s; N m or N, shape (n,)."""
        if self.probe is not None:
            self.probe.on_command(now, effort)

    def on_effort(self, t: float, effort: Array) -> None:
        """Take a measured effort of a time, s, as it would be commanded; N m or N, shape (n,)."""
        self._measured = True
        if self.probe is not None:
            self.probe.on_effort(t, effort)

    def efforts(self, arm: ArmState, rate: float, limit: Array, now: float) -> tuple[Array, Array]:
        """Return what holds the arm, and what damps it; each N m or N, shape (n,).

        Args:
            arm: state of the arm.
            rate: rate of the damping, 1/s.
            limit: effort limits, N m or N, shape (n,), of which the springs use a part.
            now: time, s.
        """
        share = self.share(now)
        self._motion.add(now, arm.q)
        self._spring = spring = share * position_hold(arm.M, arm.q - self._anchor, rate, 0.2 * limit)
        if self.probe is not None:
            spring = spring + self.probe.effort(now)
        return spring, -share * rate * arm.momentum
