# SPDX-License-Identifier: Apache-2.0
"""Rules for the motion of a commanded arm. Each rule is an object that looks at one instant after the other.

A rule returns what it found once for each occurrence, not once for each instant. The rules for stops, contacts and
handovers have files of their own: `stop_rule`, `contact_rule` and `handover_rule`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.control.modes import MODES, STOPPED, Needs
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.arm_truth import ArmTerms

STILL_MOVES = "still moves after a stop"
TRAVELS = "travels after a stop"
RUNS_AWAY = "speeds up after a stop with a wrong model"
FAILS = "stop fails with a right model"
FEEDS_ENERGY = "feeds energy"
TIP_FAST = "tip too fast"
PRESSES = "contact force"
BEYOND_LIMIT = "beyond a joint limit"
EFFORT_RATE = "effort rate"
UNSAFE_HELD = "unsafe effort held"
HANDOVER_MOVES = "moves in a handover"
LETS_GO = "not held after a handover"
MOTION_RULES = (
    STILL_MOVES,
    TRAVELS,
    RUNS_AWAY,
    FAILS,
    FEEDS_ENERGY,
    TIP_FAST,
    PRESSES,
    BEYOND_LIMIT,
    EFFORT_RATE,
    UNSAFE_HELD,
    HANDOVER_MOVES,
    LETS_GO,
)
"""Kinds of violations."""

REST_SPEED = 0.05
"""Joint speed below which an arm is at rest, rad/s or m/s."""
REST_TIME = 1.0
"""Time after a stop from which the arm has to be at rest, s."""

ENERGY_TOLERANCE, ENERGY_FRACTION = 0.05, 0.05
"""Kinetic energy that may come from noise, J, and as a fraction of the kinetic energy."""
ENERGY_MARGIN = 1.5
"""The work that errors of the model can do is allowed this many times."""
GUIDED_FRICTION = 0.8
"""Fraction of the told friction that hand-guiding compensates."""

TIP_MARGIN = 1.2
"""The tip may exceed the declared limit of its speed by this factor."""
TIP_TIME = 0.1
"""Time within which the mode of a tip that is pushed beyond its limit ends, s."""

LIMIT_TOLERANCE = 0.02
"""Way beyond a joint limit that is ignored, rad or m."""
RATE_TOLERANCE = 1e-6
"""Relative tolerance of the rate of change of an effort."""
HELD_TIME = 1.0
"""Time after the last command at which the effort that is held is judged, s."""
HELD_TOLERANCE = 0.05
"""Largest difference of that effort from the safe one beyond the dry friction, as a fraction of the joint's limit."""


class Finding(NamedTuple):
    """A violation of a rule."""

    kind: str
    """One of `MOTION_RULES`."""
    joint: str
    """The joint; "tip", or empty where it is the whole arm."""
    value: float
    """What was seen, in SI units."""
    allowed: float
    """What the rule allows."""


class Instant(NamedTuple):
    """What the arm does at one instant. Joints are in the arm's order."""

    t: float
    """Time, s."""
    q: Sequence[float]
    """Positions, rad or m."""
    qd: Sequence[float]
    """Velocities, rad/s or m/s."""
    tip_speed: float
    """m/s."""
    mode: str
    """The mode; empty where no command has left for a while."""
    contact_force: float
    """Resultant of all contacts, N."""
    pushed: bool
    """Whether a hand or a force acts, or has acted shortly before."""
    overruled: bool
    """Whether something else commands the arm, or our commands do not reach it; see `MotionJudge.suspend`."""
    model_right: bool
    """Whether the wiring is as told, and the node was told the true payload and gravity within tolerance."""
    states_usable: bool
    """Whether the node has had states, for a while, that a command may be based on."""
    stoppable: bool
    """Whether the permitted efforts could brake the arm when it stopped last; see `can_brake`."""
    terms: ArmTerms

    @property
    def alone(self) -> bool:
        """Whether nothing but gravity, friction and our commands moves the arm."""
        return not (self.pushed or self.overruled or self.contact_force > 0)

    @property
    def informed(self) -> bool:
        """Whether the node knows where the arm is, and what it weighs."""
        return self.model_right and self.states_usable


class EffortRateRule:
    """The efforts change no faster than declared.

    What a joint's commands change in any time may exceed the declared rate times this time by the change of one
    command, which is that of `MAX_SLEW_STEP` at most. Each of a burst of commands may be small; their sum counts.
    """

    def __init__(self, limits: CommandLimits) -> None:
        self._names, self._rate = limits.joint_names, limits.slew_rate
        self._told = False
        self.restart()

    def restart(self) -> None:
        """Go on after a gap: the change up to the next command is not judged."""
        self._ahead = np.zeros(len(self._rate))

    def on_mode(self) -> None:
        """Go on in another mode: each mode may be found once."""
        self._told = False

    def on_change(self, change: Array, elapsed: float) -> list[Finding]:
        """Return what is wrong with a change of the efforts, N m or N, shape (n,), after a time, s."""
        self._ahead = np.maximum(0.0, self._ahead + np.abs(change) - self._rate * elapsed)
        seen = self._ahead / MAX_SLEW_STEP
        if (seen <= (1 + RATE_TOLERANCE) * self._rate).all():
            return []
        seen = np.nan_to_num(seen, nan=inf, posinf=inf)
        i = int(np.argmax(seen / self._rate))
        self.restart()
        if self._told:
            return []
        self._told = True
        return [Finding(EFFORT_RATE, self._names[i], float(seen[i]), float(self._rate[i]))]


def needs_of(mode: str) -> Needs:
    """Return what a mode needs; nothing where none commands."""
    return MODES[mode].needs if mode in MODES else Needs()


def _follows_nothing(mode: str) -> bool:
    """Return whether a mode, or a stopped arm, follows no target."""
    return mode == STOPPED or (mode in MODES and not needs_of(mode).follows)


class EnergyRule:
    """Modes without a target feed no energy: the arm's kinetic energy does not grow, unless something pushes it.

    What errors of the told gravity and friction can do along the way is allowed `ENERGY_MARGIN` times.
    """

    def __init__(self, settle: float, soft_limits: tuple[Array, Array]) -> None:
        """Begin to judge this long after a mode was entered or a push has ended, s; not beyond the soft limits."""
        self._settle, self._limits = settle, soft_limits
        self._mode, self._since, self._at = "", -inf, -inf
        self._budget = inf
        self._told = False

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        explained = not (now.alone and now.informed and (now.stoppable or now.mode != STOPPED))
        if now.mode != self._mode or explained or self._near_limit(now):
            self._mode, self._since, self._budget, self._told = now.mode, now.t, inf, False
        period, self._at = min(now.t - self._at, 0.1), now.t
        if not _follows_nothing(now.mode) or now.t - self._since < self._settle:
            return []
        energy = now.terms.kinetic_energy
        allowed = (1 + ENERGY_FRACTION) * energy + ENERGY_TOLERANCE
        self._budget = min(self._budget + ENERGY_MARGIN * period * self._power(now), allowed)
        if energy <= self._budget or self._told:
            return []
        self._told = True
        return [Finding(FEEDS_ENERGY, "", energy, self._budget)]

    def _power(self, now: Instant) -> float:
        """Return the power that errors of the told model can feed, W."""
        terms, guided = now.terms, GUIDED_FRICTION if needs_of(now.mode).contact else 0.0
        power = 0.0
        for v, g, told, f, told_f in zip(
            now.qd, terms.gravity, terms.told_gravity, terms.friction, terms.told_friction
        ):
            power += abs(v) * (abs(g - told) + max(0.0, guided * abs(told_f) - abs(f)))
        return power

    def _near_limit(self, now: Instant) -> bool:
        """Return whether a joint is where a soft wall may push it."""
        lower, upper = self._limits
        return needs_of(now.mode).begins_behind_walls and bool(np.any((now.q < lower) | (now.q > upper)))


class TipRule:
    """The tip is not faster than its limit.

    A mode in which a push or a wrong model makes it so, or that is entered so, ends in `TIP_TIME`.
    """

    def __init__(self, max_tip_speed: float) -> None:
        """Judge by the declared limit, m/s."""
        self._limit = max_tip_speed
        self._since = inf
        self._told = self._was_fast = False

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        allowed = self._limit * TIP_MARGIN
        judged = needs_of(now.mode).contact and now.states_usable and not now.overruled
        if not judged or now.tip_speed <= allowed:
            self._since, self._told, self._was_fast = inf, False, now.tip_speed > allowed
            return []
        self._since = min(self._since, now.t)
        explained = now.pushed or self._was_fast or not now.model_right
        if self._told or (explained and now.t - self._since < TIP_TIME):
            return []
        self._told = True
        return [Finding(TIP_FAST, "tip", now.tip_speed, allowed)]


class LimitRule:
    """No joint is moved beyond its limits by our commands; each excursion counts once.

    An arm that was in motion for another reason may need `REST_TIME` to be stopped.
    """

    def __init__(self, joint_names: Sequence[str], lower: Array, upper: Array) -> None:
        self._names = joint_names
        self._explained_at = -inf
        self._lower, self._upper = (lower - LIMIT_TOLERANCE).tolist(), (upper + LIMIT_TOLERANCE).tolist()
        self._told: set[int] = set()

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        found = []
        if not (now.alone and now.informed and (now.stoppable or now.mode in MODES)):
            self._explained_at = now.t
        explained = now.t - self._explained_at < REST_TIME
        for i, (x, v, low, high) in enumerate(zip(now.q, now.qd, self._lower, self._upper)):
            if low <= x <= high:
                self._told.discard(i)
            elif i not in self._told:
                outward = (v > REST_SPEED and x > high) or (v < -REST_SPEED and x < low)
                if outward and now.mode and not explained:
                    found.append(Finding(BEYOND_LIMIT, self._names[i], x, high if x > high else low))
                self._told.add(i)
        return found
