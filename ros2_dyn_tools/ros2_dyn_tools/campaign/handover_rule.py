# SPDX-License-Identifier: Apache-2.0
"""The rule for handovers: an arm that changes hands stays where it is, and is held by whoever is said to hold it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_dyn.control.modes import MODES
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.motion_rules import HANDOVER_MOVES, LETS_GO, REST_SPEED, Finding, Instant

WATCHED_TIME = 1.0
"""Time after a switch during which the arm has to stay where it is, and after a handover after which it rests, s."""
MAX_HANDOVER_MOTION = 0.05
"""Largest motion after a switch between controllers that work, rad or m: one of 0.02 is answered by switching back."""


class HandoverRule:
    """Judges a handover unless something else moves the arm, or explains that it moves.

    A controller that is switched on and does not work may let the arm move, but not for long. Where the node holds the
    arm, the rules for its modes apply: in mode gravity it may float.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._names = joint_names
        self.clear()

    def clear(self) -> None:
        """Judge nothing of what has happened so far."""
        self._switched_at = self._ended_at = -inf
        self._q: Array = np.zeros(len(self._names))

    def on_switch(self, t: float, q: Array, qd: Array) -> None:
        """Take note of a switch to a controller that works.

        Args:
            t: time, s.
            q: positions, rad or m, shape (n,).
            qd: velocities, rad/s or m/s, shape (n,); an arm that moves is not judged.
        """
        if np.max(np.abs(qd)) < REST_SPEED:
            self._switched_at, self._q = t, q.copy()

    def on_end(self, t: float) -> None:
        """Take note of a handover that ended at a time, s, with a controller that works and is said to hold the arm."""
        self._ended_at = t

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        other_mode = now.mode in MODES and not MODES[now.mode].needs.handover
        if now.pushed or now.contact_force > 0 or not now.informed or other_mode:
            self.clear()
        found = []
        if now.t - self._switched_at <= WATCHED_TIME:
            travel = np.abs(now.q - self._q)
            i = int(np.argmax(travel))
            if travel[i] > MAX_HANDOVER_MOTION:
                self._switched_at = -inf
                found.append(Finding(HANDOVER_MOVES, self._names[i], float(travel[i]), MAX_HANDOVER_MOTION))
        if self._ended_at > -inf and now.t - self._ended_at >= WATCHED_TIME:
            self._ended_at = -inf
            speeds = np.abs(now.qd)
            i = int(np.argmax(speeds))
            if speeds[i] >= REST_SPEED:
                found.append(Finding(LETS_GO, self._names[i], float(speeds[i]), REST_SPEED))
        return found
