# SPDX-License-Identifier: Apache-2.0
"""What holds an arm that rested when it is commanded from now on, until it is known which effort does.

The first command is what the joints are measured to exert, or what the model says. A sensor that is off, a mount that
leans, or a controller with a dead band would let the arm take off. Therefore it is held as after a stop.
"""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.gravity_compensation import STOP_DAMPING
from ros2_dyn.control.stop.law import MAX_STRETCH, Hold
from ros2_dyn.control.stop.machine import PROOF_TIME, REST_DISTANCE, REST_SPEED, STOP_TIME, WINDOW
from ros2_dyn.control.stop.motion import ArmMotion
from ros2_dyn.model.spatial import Array


class EntryHold:
    """Springs and dampers at the joints, and the sum of their efforts, for the time of a stop at most."""

    def __init__(self, q: Array, now: float) -> None:
        """Hold the joints at positions, rad or m, shape (n,), from a time on, s."""
        self._hold, self._motion = Hold(), ArmMotion(PROOF_TIME)
        self._hold.rest(q)
        self._from, self._begun, self._at = q, now, now
        self._led = False
        self.found: Array | None = None
        """What holds the arm, which rests, or is slow at the end, N m or N, shape (n,); None: not known."""

    def is_over(self, now: float) -> bool:
        """Return whether the arm is to be let go at a time, s: it has rested, is led, or a joint does not obey."""
        return self.found is not None or self._led or now - self._begun > STOP_TIME

    def efforts(self, arm: Arm, walls: Array) -> tuple[Array, Array]:
        """Return what holds the arm at a state, and what damps it; each N m or N, shape (n,).

        Args:
            arm: the state.
            walls: what soft walls exert, N m or N, shape (n,): no spring holds a joint against them.
        """
        state, dt, self._at = arm.state, min(max(arm.now - self._at, 0.0), WINDOW), arm.now
        self._motion.add(arm.now - arm.age, state.q)
        self._led = bool((np.abs(state.q - self._from) > MAX_STRETCH).any())
        speed = self._motion.speed(WINDOW)
        speed = np.abs(state.qd) if speed is None else speed
        rate, against = arm.loop.rate(STOP_DAMPING), self._hold.pulls_against(walls, state.q)
        moves = speed > REST_SPEED
        gravity = arm.robot.as_commanded(state.gravity, state.gravity)
        spring = self._hold.spring(
            state, rate, arm.limits, gravity=gravity, speed=speed, loose=against, moves=moves, dt=dt
        )
        held = self._hold.carrying(spring)
        slow = arm.now - self._begun > STOP_TIME - PROOF_TIME and bool((speed < REST_SPEED).all())
        if slow or self._motion.at_rest(REST_DISTANCE, PROOF_TIME):
            self.found = held
        return held, -rate * state.momentum
