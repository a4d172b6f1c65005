"""Rules for the motion of a commanded arm. Each rule is an object that looks at one instant after the other.

A rule returns what it found once for each occurrence, not once for each instant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.control.modes import ACTIVE_MODES
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.arm_truth import ArmTerms

STILL_MOVES = "still moves after a stop"
TRAVELS = "travels after a stop"
RUNS_AWAY = "speeds up after a stop with a wrong model"
FEEDS_ENERGY = "feeds energy"
TIP_FAST = "tip too fast"
PRESSES = "contact force"
BEYOND_LIMIT = "beyond a joint limit"
EFFORT_RATE = "effort rate"
UNSAFE_HELD = "unsafe effort held"
MOTION_RULES = (
    STILL_MOVES,
    TRAVELS,
    RUNS_AWAY,
    FEEDS_ENERGY,
    TIP_FAST,
    PRESSES,
    BEYOND_LIMIT,
    EFFORT_RATE,
    UNSAFE_HELD,
)
"""Kinds of violations."""

REST_SPEED = 0.05
"""Joint speed below which an arm is at rest, rad/s or m/s."""
REST_TIME = 1.0
"""Time after a stop from which the arm has to be at rest, s."""
MAX_TRAVEL = 0.3
"""Longest way of a joint after a stop, rad or m."""
STOP_WINDOW = 3.0
"""Time after a stop during which it is judged, s."""
NOTICE_TIME = 0.2
"""Time within which a stopped arm's model has to be noticed that is or becomes wrong, s."""
SPEED_UP = 0.1
"""Largest growth of a joint's speed from then on, rad/s or m/s."""

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
TIP_MODES = ("hand_guiding", "force")

FORCE_MARGIN = 1.5
"""The force on a wall may exceed what was asked by this factor."""
FORCE_TOLERANCE = 5.0
"""It may exceed it by this as well, N."""
REBOUND_TIME = 0.5
"""Touches with shorter gaps, s, belong to one impact."""
FORCE_MEMORY = 0.5
"""The largest force that was asked during this time counts, s."""

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


@dataclass(frozen=True)
class Instant:
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
        seen = np.nan_to_num(self._ahead / MAX_SLEW_STEP, nan=inf, posinf=inf)
        i = int(np.argmax(seen / self._rate))
        if seen[i] <= (1 + RATE_TOLERANCE) * self._rate[i]:
            return []
        self.restart()
        if self._told:
            return []
        self._told = True
        return [Finding(EFFORT_RATE, self._names[i], float(seen[i]), float(self._rate[i]))]


class EnergyRule:
    """Modes without a target feed no energy: the arm's kinetic energy does not grow, unless something pushes it.

    What errors of the told gravity and friction can do along the way is allowed `ENERGY_MARGIN` times.
    """

    MODES = ("gravity", "hand_guiding", "stopped")

    def __init__(self, settle: float, soft_limits: tuple[Array, Array]) -> None:
        """Begin to judge this long after a mode was entered or a push has ended, s; not beyond the soft limits."""
        self._settle, self._limits = settle, soft_limits
        self._mode, self._since, self._at = "", -inf, -inf
        self._budget = inf
        self._told = False

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        explained = not (now.alone and now.informed and (now.stoppable or now.mode != "stopped"))
        if now.mode != self._mode or explained or self._near_limit(now):
            self._mode, self._since, self._budget, self._told = now.mode, now.t, inf, False
        period, self._at = min(now.t - self._at, 0.1), now.t
        if now.mode not in self.MODES or now.t - self._since < self._settle:
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
        terms, guided = now.terms, GUIDED_FRICTION if now.mode == "hand_guiding" else 0.0
        power = 0.0
        for v, g, told, f, told_f in zip(
            now.qd, terms.gravity, terms.told_gravity, terms.friction, terms.told_friction
        ):
            power += abs(v) * (abs(g - told) + max(0.0, guided * abs(told_f) - abs(f)))
        return power

    def _near_limit(self, now: Instant) -> bool:
        """Return whether a joint is where a soft wall may push it."""
        lower, upper = self._limits
        return now.mode == "hand_guiding" and bool(np.any((now.q < lower) | (now.q > upper)))


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
        if now.mode not in TIP_MODES or now.overruled or now.tip_speed <= allowed:
            self._since, self._told, self._was_fast = inf, False, now.tip_speed > allowed
            return []
        self._since = min(self._since, now.t)
        explained = now.pushed or self._was_fast or not now.model_right
        if self._told or (explained and now.t - self._since < TIP_TIME):
            return []
        self._told = True
        return [Finding(TIP_FAST, "tip", now.tip_speed, allowed)]


class ContactRule:
    """In mode force, a wall is pressed with `FORCE_MARGIN` times what was asked, and what the impact speed explains.

    A tip of mass m that meets a wall of stiffness k with speed v presses it with ``v sqrt(k m)`` at most. Of an impact
    with rebounds the first speed counts, so that a tip that hits ever harder is found. A wall that was pressed before
    the mode began is judged when it has once been pressed as little.
    """

    def __init__(self, tip_mass: Callable[[Array], float]) -> None:
        """Take a function that returns the apparent mass of the tip, kg, at positions, rad or m, (n,)."""
        self._tip_mass = tip_mass
        self._asked: deque[tuple[float, float]] = deque()
        self._speeds: deque[tuple[float, float]] = deque(maxlen=6)
        self._touched_at = -inf
        self._impact = 0.0
        self._ignored = self._told = self._pressed_before = False
        self._placed_at, self._stiffness = -inf, 0.0

    def on_asked(self, t: float, force: float) -> None:
        """Take note of a desired force, N, at a time, s; one that is not finite asks for nothing."""
        while self._asked and self._asked[0][0] < t - FORCE_MEMORY:
            self._asked.popleft()
        self._asked.append((t, force if isfinite(force) else 0.0))

    def on_wall(self, t: float, stiffness: float) -> None:
        """Take note of a wall that was placed, N/m."""
        self._placed_at, self._stiffness = t, max(self._stiffness, stiffness)

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        if now.contact_force <= 0 or now.pushed or now.mode != "force" or not now.model_right:
            self._speeds.append((now.t, now.tip_speed))
            self._pressed_before = now.contact_force > 0
            return []
        if now.t - self._touched_at > REBOUND_TIME:
            speed = max((v for _, v in self._speeds), default=now.tip_speed)
            self._impact = speed * sqrt(self._stiffness * self._tip_mass(np.asarray(now.q)))
            self._ignored = now.t - self._placed_at < 0.03  # the wall was placed where the tip was
            self._told = False
        self._touched_at = now.t
        asked = max((force for _, force in self._asked), default=0.0)
        allowed = FORCE_MARGIN * asked + self._impact + FORCE_TOLERANCE
        self._pressed_before = self._pressed_before and now.contact_force > allowed
        if self._ignored or self._pressed_before or self._told or now.contact_force <= allowed:
            return []
        self._told = True
        return [Finding(PRESSES, "tip", now.contact_force, allowed)]


class LimitRule:
    """No joint is moved beyond its limits by our commands; each excursion counts once."""

    def __init__(self, joint_names: Sequence[str], lower: Array, upper: Array) -> None:
        self._names = joint_names
        self._lower, self._upper = (lower - LIMIT_TOLERANCE).tolist(), (upper + LIMIT_TOLERANCE).tolist()
        self._told: set[int] = set()

    def see(self, now: Instant) -> list[Finding]:
        """Return what is found at an instant."""
        found = []
        for i, (x, v, low, high) in enumerate(zip(now.q, now.qd, self._lower, self._upper)):
            if low <= x <= high:
                self._told.discard(i)
            elif i not in self._told:
                outward = (v > REST_SPEED and x > high) or (v < -REST_SPEED and x < low)
                explained = not (now.alone and now.informed and (now.stoppable or now.mode in ACTIVE_MODES))
                if outward and now.mode and not explained:
                    found.append(Finding(BEYOND_LIMIT, self._names[i], x, high if x > high else low))
                self._told.add(i)
        return found
