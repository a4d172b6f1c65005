# SPDX-License-Identifier: Apache-2.0
"""The stage "believe": positions against velocities, ranges, and numbers that repeat amid a motion."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, inf, nan
from typing import NamedTuple

from ros2_dyn.control.turns import nearest_turn

DISBELIEF_COUNT, DISBELIEF_TIME = 3, 1.0
"""With so many states that do not fit within this time, s, no mode goes on, and joints that stepped are not held."""
RATE_TIME = 0.01
"""Time constant of the rates of positions, s."""
SLIP_TIME = 10.0
"""Time over which small steps of a position add up, s."""


class Finding(NamedTuple):
    """What does not fit in a state."""

    problem: str = ""
    """Why the state is not believed; empty where it is."""
    velocity_problem: str = ""
    """Why no mode may go on with it, though its velocities, or `rates`, brake the arm; empty where one may."""
    rates: Sequence[float] = ()
    """What brakes the arm: filtered differences of the positions where these fit, rad/s or m/s, shape (n,)."""
    misplaced: Sequence[bool] = ()
    """Which of its positions are in doubt, so that nothing is held there, shape (n,); empty: none."""


@dataclass(frozen=True)
class PlausibilityLimits:
    """What joints may do; lists are in the model's order."""

    joint_names: Sequence[str]
    lower: Sequence[float]
    """Position limits, rad or m, shape (n,)."""
    upper: Sequence[float]
    continuous: Sequence[bool]
    """Which joints are continuous: drivers may tell their positions within one turn."""
    tolerance: float = 0.05
    """Maximum disagreement of positions and velocities within some 0.1 s, rad or m."""
    timeout: float = 0.1
    """Time, s, after which the next position is not compared with the one before."""
    detect_frozen: bool = True
    """Whether numbers that repeat amid a motion do not fit."""
    velocity_lag: float = 0.0
    """Lag of velocities that are estimated from the positions, s; 0: they are measured."""


class StatePlausibility:
    """Decides whether a measured state fits the ones before it.

    A position has to change by as much as the velocity says, within a tolerance. A position that does not fit is
    ignored, so that the next one is compared with the last that did: a single outlier costs one state. A stream with
    several of them ends a mode, as with two drivers that publish the same joints, and its velocities brake the arm.

    A position that does not fit is believed when such positions have been told for `timeout` without a pause as long: a
    driver that is restarted may begin with zeros.

    Positions that have changed smoothly for 0.1 s, and not as the velocities say, are believed: their rates replace the
    velocities, so that an arm whose driver tells wrong velocities can be braked; those of the other joints stay. Steps
    within the tolerance add up, those to and fro while they come fast: two drivers tell of arms that stand nearly
    alike. An encoder that slips again and again tells right velocities, which brake the arm, and
    positions that are to hold nothing; those of other joints hold these, unless velocities are wrong.

    Every state shows a speed, too: no velocity hides a motion that the positions prove, however small the lie is.
    """

    def __init__(self, limits: PlausibilityLimits) -> None:
        self.limits, self._smooth = limits, 0.2 * limits.tolerance
        n = len(limits.joint_names)
        ranges = zip(limits.lower, limits.upper)
        self._ranges = [_widened(a, b) for a, b in ranges]
        self._q, self._qd = [nan] * n, [nan] * n
        self.restart()

    def go_on_from(self, before: StatePlausibility) -> None:
        """Count the turns of the same joints on."""
        self._q = before._q[:]

    def restart(self) -> None:
        """Compare with nothing from before, but that numbers do not repeat."""
        n = len(self._q)
        self._stamps = [-inf] * n
        self._error = [0.0] * n
        self._slipped, self._jumped = [0.0] * n, [0.0] * n
        self._rough = [0.0] * n
        self._repeated_qd = [0.0] * n
        self._problems = [""] * n
        self._misfits: deque[float] = deque(maxlen=DISBELIEF_COUNT)
        self._last_misfit = ""
        self._rates, self._rate_error = [0.0] * n, [inf] * n
        self._wrong_velocity, self._wrong_velocity_at = "", -inf
        self._slip, self._slip_at = "", -inf
        self._stepped_at = [-inf] * n
        self._told_at, self._doubted_at, self._elsewhere_at = [-inf] * n, [-inf] * n, [-inf] * n

    def unwrapped(self, q: list[float]) -> list[float]:
        """Return positions, rad or m, shape (n,), with the turns of continuous joints that go on from what fitted."""
        continuous = self.limits.continuous
        return nearest_turn(q, self._q, continuous) if any(continuous) else q

    def shown(self, qd: Sequence[float]) -> list[float]:
        """Return the velocities nearest to those told that the positions checked last allow; each rad/s or m/s, (n,).

        A step of a position that its rate did not foretell shifts the rate by what it makes of it: by so much may it be
        wrong for as long as the step counts.
        """
        bounds = zip(qd, self._rates, self._rate_error)
        return [min(max(v, rate - error), rate + error) for v, rate, error in bounds]

    def check(self, joints: Sequence[int], stamp: int, q: Sequence[float], qd: Sequence[float], now: float) -> Finding:
        """Take a state; return what does not fit.

        Args:
            joints: those that were measured anew.
            stamp: when, ns.
            q: positions of all joints, rad or m, shape (n,), `unwrapped`.
            qd: velocities of all joints, rad/s or m/s, shape (n,).
            now: time, s.
        """
        frozen = self._frozen(joints, q, qd) if self.limits.detect_frozen else ""
        misfit = ""
        for i in joints:
            problem = self._compare(i, stamp, q[i], qd[i], now)
            self._problems[i] = problem or frozen
            misfit = misfit or problem
            self._stepped_at[i] = now if problem else self._stepped_at[i]
        if misfit:
            self._misfits.append(now)
            self._last_misfit = misfit
        if any(self._problems):
            return Finding(next(filter(None, self._problems)))
        disbelieved, slips = self._disbelieves(now), now - self._slip_at < DISBELIEF_TIME
        if now - self._wrong_velocity_at < DISBELIEF_TIME:
            misplaced = (True,) * len(qd) if disbelieved or slips else ()
            return Finding("", self._wrong_velocity, self._smooth_rates(qd), misplaced)
        misplaced = tuple(now - at < DISBELIEF_TIME for at in self._stepped_at)
        if disbelieved:
            count, time = DISBELIEF_COUNT, DISBELIEF_TIME
            text = f"{count} states of the last {time:g} s do not fit, the last: {self._last_misfit}"
            return Finding("", text, qd, misplaced)
        return Finding("", self._slip, qd, misplaced) if slips else Finding()

    def _smooth_rates(self, qd: Sequence[float]) -> tuple[float, ...]:
        """Return the rates of positions that changed smoothly, and velocities of the others, rad/s or m/s, (n,)."""
        parts = zip(self._rates, self._rough, qd)
        return tuple(rate if rough <= self._smooth else told for rate, rough, told in parts)

    def _disbelieves(self, now: float) -> bool:
        return len(self._misfits) == DISBELIEF_COUNT and now - self._misfits[0] < DISBELIEF_TIME

    def _compare(self, i: int, stamp: int, q: float, qd: float, now: float) -> str:
        """Return why a joint's position does not fit; keep it where it does, or where the one before is too old."""
        limits, dt = self.limits, 1e-9 * (stamp - self._stamps[i])
        if not self._problems[i] or not self._lately(stamp, self._told_at[i]):
            self._doubted_at[i] = stamp  # since when what came without a pause does not fit, if this does not
        self._told_at[i] = stamp
        if not self._lately(stamp, self._stamps[i]):
            return self._begin_anew(i, stamp, q, qd, dt)
        moved, qd_before, rate = q - self._q[i], self._qd[i], self._rates[i]
        step = moved - 0.5 * (qd + qd_before) * dt
        error = self._error[i] * 0.1 / (0.1 + dt) + step  # forgotten within 0.1 s
        tolerance, bend = limits.tolerance, 0.5 * 20.0 * dt * dt  # by an acceleration between two states
        bent = 0.5 * dt * abs(qd - qd_before) + bend
        fits = abs(error) <= tolerance + bent
        rough = min(max(abs(moved - rate * dt) - bend, self._rough[i] * 0.1 / (0.1 + dt)), tolerance)
        self._rough[i], smooth = rough, rough <= self._smooth  # a single step of noise is, by chance
        if not fits or (smooth and abs(error) > tolerance + bend):  # a velocity jumps, and the position goes on
            name = limits.joint_names[i]
            text = f"'{name}' moved by {moved:.4g} rad or m within {dt:.4f} s, with a velocity of {qd:.4g}"
            if not smooth:
                return text
            self._wrong_velocity, self._wrong_velocity_at = text, now
        slipped, unexplained = self._slipped[i] * (1 - dt / SLIP_TIME), abs(step) - bent
        self._jumped[i] *= 0.1 / (0.1 + dt)
        if not smooth and unexplained > self._smooth:
            slipped += copysign(unexplained, step)
            self._jumped[i] += unexplained
            if abs(slipped) > tolerance or self._jumped[i] > DISBELIEF_COUNT * tolerance:
                steps = f"by {slipped:.4g} within {SLIP_TIME:g} s, {self._jumped[i]:.4g} to and fro within 0.1 s"
                self._slip = f"'{limits.joint_names[i]}' slipped in small steps, rad or m: {steps}"
                self._slip_at = self._stepped_at[i] = now
        # velocities that did not fit are doubted until they have fitted for a while
        bound = tolerance if fits else 2 * tolerance
        self._keep(i, stamp, q, qd, error=min(max(error, -bound), bound), slipped=slipped)
        if dt > 0:
            self._rates[i] = rate + (moved - rate * dt) / (dt + RATE_TIME)
            self._rate_error[i] = rough / (dt + RATE_TIME)
        return self._elsewhere(i, stamp)

    def _begin_anew(self, i: int, stamp: int, q: float, qd: float, dt: float) -> str:
        """Keep a joint's position where the one before is too old, or missing; return why it is not believed yet."""
        low, high = self._ranges[i]
        if not low <= q <= high:  # an arm that was seen on its way there is there: a hand may push it
            return f"'{self.limits.joint_names[i]}' is at {q:.4g}, far beyond its limits: is its unit rad or m?"
        problem = ""
        if 0 < dt < inf:
            problem = self._problems[i]
            unexplained = abs(q - self._q[i] - 0.5 * (qd + self._qd[i]) * dt) - 0.5 * abs(qd - self._qd[i]) * dt
            if unexplained > self.limits.tolerance:  # whatever the velocity was between
                self._elsewhere_at[i] = self._doubted_at[i]
                problem = self._elsewhere(i, stamp)
        self._keep(i, stamp, q, qd, error=0.0, slipped=0.0)
        self._rates[i] = qd if abs(qd) < 100.0 else 0.0  # rad/s or m/s, which no joint has
        self._rate_error[i] = inf
        return problem

    def _elsewhere(self, i: int, stamp: int) -> str:
        """Return why the position of a joint is not believed that is elsewhere since it is seen again; empty: it is."""
        if not self._lately(stamp, self._elsewhere_at[i]):
            return ""
        return f"'{self.limits.joint_names[i]}' is elsewhere since it is seen again, and no velocity tells why"

    def _lately(self, stamp: int, at: float) -> bool:
        """Return whether something was within `timeout` before a stamp, ns; stamps ahead of the clock are not."""
        return 0 <= 1e-9 * (stamp - at) <= self.limits.timeout

    def _keep(self, i: int, stamp: int, q: float, qd: float, *, error: float, slipped: float) -> None:
        if q != self._q[i]:
            self._repeated_qd[i] = qd
        self._stamps[i], self._q[i], self._qd[i] = stamp, q, qd
        self._error[i], self._slipped[i] = error, slipped

    def _frozen(self, joints: Sequence[int], q: Sequence[float], qd: Sequence[float]) -> str:
        """Return why the numbers of the joints cannot be new; empty where one of them changes or none moves."""
        if any(q[i] != self._q[i] for i in joints):
            return ""
        # Simulated arms without noise settle at less than 1e-7 rad/s, and never at 0.
        if all(qd[i] == self._qd[i] for i in joints) and any(abs(qd[i]) > 1e-7 for i in joints):
            return "it repeats the same numbers, though with velocities"
        lag = self.limits.velocity_lag
        # No joint comes to rest with more than 30 rad/s^2.
        if lag > 0 and any(abs(self._repeated_qd[i]) > 30.0 * lag for i in joints):
            return "it repeats the same positions amid a motion"
        return ""


def _widened(lower: float, upper: float) -> tuple[float, float]:
    """Return a range with half as much again on either side; infinite where there is none."""
    margin = 0.5 * (upper - lower)
    return (lower - margin, upper + margin) if margin > 0 else (-inf, inf)
