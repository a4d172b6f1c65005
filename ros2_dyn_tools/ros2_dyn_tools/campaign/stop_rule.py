# SPDX-License-Identifier: Apache-2.0
"""The rule for stops: a stopped arm rests soon and nearby, where the permitted efforts can brake it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.motion_rules import (
    REST_SPEED,
    REST_TIME,
    RUNS_AWAY,
    STILL_MOVES,
    TRAVELS,
    Finding,
    Instant,
)

MAX_TRAVEL = 0.3
"""Longest way of a joint after a stop, rad or m."""
STOP_WINDOW = 3.0
"""Time after a stop during which it is judged, s."""
NOTICE_TIME = 0.2
"""Time within which a stopped arm's model has to be noticed that is or becomes wrong, s."""
SPEED_UP = 0.1
"""Largest growth of a joint's speed from then on, rad/s or m/s."""


@dataclass
class _Stop:
    """A stop that is judged."""

    t: float
    q: Array
    qd: Array
    wrong_at: float = inf
    judged: bool = False
    speed_when_noticed: float = inf
    speeds_up_at: float = inf
    found: set[str] = field(default_factory=set)


class StopRule:
    """After a stop the arm is at rest within `REST_TIME`, and no joint travels more than `MAX_TRAVEL`.

    Not judged are stops from a speed that the permitted efforts cannot brake in this time and way. Where the model is
    or becomes wrong, and from `NOTICE_TIME` later on a joint becomes faster, this has to be noticed within
    `NOTICE_TIME` (`clear`). A stop is judged for `STOP_WINDOW`, or until another motion is commanded, something
    else moves the arm, or states are unusable.
    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        self.judged = 0
        """Number of stops that were judged up to rest."""
        self._names = joint_names
        self._stops: list[_Stop] = []

    def begin(self, t: float, q: Array, qd: Array) -> None:
        """Judge a stop at a time, s, at positions and velocities, rad or m and s, each (n,)."""
        self._stops.append(_Stop(t, q.copy(), qd.copy()))

    def clear(self) -> None:
        """Judge no stop any more."""
        self._stops.clear()

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        if not self._stops:
            return []
        if not (now.alone and now.states_usable):
            self.clear()
            return []
        self._stops = [stop for stop in self._stops if now.t - stop.t <= STOP_WINDOW]
        found: dict[str, Finding] = {}
        for stop in self._stops:
            found |= {finding.kind: finding for finding in self._judge(stop, now) if finding.kind not in stop.found}
        for stop in self._stops:  # one stop may follow another: what is found counts once
            stop.found.update(found)
        return list(found.values())

    def _judge(self, stop: _Stop, now: Instant) -> list[Finding]:
        since, speeds = now.t - stop.t, np.abs(now.qd)
        fastest = int(np.argmax(speeds))
        speed = float(speeds[fastest])
        found = []
        if not now.model_right:
            stop.wrong_at = min(stop.wrong_at, now.t)
        if stop.wrong_at < inf:
            if now.t - stop.wrong_at >= NOTICE_TIME:
                stop.speed_when_noticed = min(stop.speed_when_noticed, speed)
                grows = speed > stop.speed_when_noticed + SPEED_UP
                stop.speeds_up_at = min(stop.speeds_up_at, now.t) if grows else inf
                if now.t - stop.speeds_up_at >= NOTICE_TIME:
                    found.append(Finding(RUNS_AWAY, self._names[fastest], speed, stop.speed_when_noticed + SPEED_UP))
        else:
            travel = np.abs(np.asarray(now.q) - stop.q)
            farthest = int(np.argmax(travel))
            if travel[farthest] > MAX_TRAVEL:
                found.append(Finding(TRAVELS, self._names[farthest], float(travel[farthest]), MAX_TRAVEL))
            if since >= REST_TIME and not stop.judged:
                stop.judged, self.judged = True, self.judged + 1
            if since >= REST_TIME and speed >= REST_SPEED:
                found.append(Finding(STILL_MOVES, self._names[fastest], speed, REST_SPEED))
        return found


def can_brake(
    qd: Array, effort: Array, gravity: Array, limit: Array, slew_rate: Array, inertia: Array, damping: float = inf
) -> bool:
    """Return whether damping within the limits can stop each joint in half of `REST_TIME` and `MAX_TRAVEL`.

    Args:
        qd: velocities, rad/s or m/s, shape (n,).
        effort: present commands, N m or N, shape (n,).
        gravity: efforts that carry the arm, N m or N, shape (n,).
        limit: largest efforts, N m or N, shape (n,).
        slew_rate: largest rate of change of the efforts, N m/s or N/s, shape (n,).
        inertia: inertia of each joint with the others at rest, kg m^2 or kg, shape (n,).
        damping: rate at which the arm is damped, 1/s.
    """
    speed = np.abs(qd)
    driving = np.maximum(0.0, np.sign(qd) * (effort - gravity))
    turning = driving / slew_rate
    speed = speed + 0.5 * driving * turning / inertia
    braking = np.maximum(limit - np.abs(gravity), 1e-6) / inertia
    linear, damped = speed / braking, np.log(np.maximum(speed / REST_SPEED, 1.0)) / damping
    time, way = turning + np.maximum(linear, damped), speed * (turning + np.maximum(0.5 * linear, 1.0 / damping))
    return bool(np.all((time < REST_TIME / 2) & (way < MAX_TRAVEL / 2)))
