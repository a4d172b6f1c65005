# SPDX-License-Identifier: Apache-2.0
"""The phase of the commands, and whether the motion of a stopped arm leads to another one."""

from __future__ import annotations

from typing import NamedTuple, get_args

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.stop.law import FAST, MAX_TRAVEL, Hold
from ros2_dyn.control.stop.motion import ArmMotion, EffortResponse
from ros2_dyn.control.stop.phases import TRANSITIONS, Phase, Signal
from ros2_dyn.control.stop.seen import BrakeInput, SeenState
from ros2_dyn.model.spatial import Array

STOP_TIME = 1.0
"""Time within which a stop has to bring the arm to rest, s: promised in docs/safety.md."""
WINDOW = 0.06
"""Time over which speeds are measured, s: three states at 50 Hz."""
REST_DISTANCE = 0.003
"""Range of a joint at rest, rad or m: in `WINDOW` at 0.05 rad/s, and twice the step of a coarse encoder."""
REST_SPEED = REST_DISTANCE / WINDOW
GROWTH = 1.2
"""A joint may be as fast after a stop as `GROWTH` times its speed at the stop plus `FAST`: an error of the model drives
it until the springs know. The speed at the stop is that when the efforts that drove it have turned. From then on, what
is allowed falls to `FAST`."""
PATIENCE = 0.15
"""Time for which a joint may be faster than `GROWTH` times its speed at the stop plus twice `FAST`, s, and after
`STOP_TIME` than twice `FAST`: a bump makes one as fast for less time, and what lasts longer may be an error of the
model."""
PROOF_TIME = 0.3
"""Time for which an effort in which commands end has to have held the arm, s: that of a fall by 0.4 m."""

NEXT: dict[tuple[Phase, Signal], Phase] = {(each.before, each.signal): each.after for each in TRANSITIONS}


class StopFailure(NamedTuple):
    """Why a stop failed."""

    text: str
    """What the arm did, in words."""
    joints: Array
    """Which joints did it, shape (n,), bool."""


class StopFindings(NamedTuple):
    """Where a stop stands and what it has found, for another process that goes on with it."""

    phase: Phase = "silent"
    anchor: Array | None = None
    """See `Hold`."""
    correction: Array | None = None
    """See `Hold`: the model may have proved wrong, and who goes on must not begin with it again."""
    released: Array | None = None
    """Which joints are left without effort, shape (n,), bool; None: none."""

    @property
    def escalated(self) -> bool:
        """Whether the stop has failed."""
        return self.phase in ("failed", "released")

    def numbers(self, n: int) -> Array:
        """Return it as numbers, shape (1 + 3 n,), for n joints."""
        unknown = np.full(n, np.nan)
        phase = float(get_args(Phase).index(self.phase))
        return np.concatenate([[phase], *(unknown if each is None else each for each in self[1:])])

    @classmethod
    def of(cls, numbers: Array) -> StopFindings:
        """Return what `numbers` has made of it."""
        parts = [None if np.isnan(each[0]) else each for each in np.reshape(numbers[1:], (3, -1))]
        anchor, correction, released = parts
        released = None if released is None else released != 0
        return cls(get_args(Phase)[int(numbers[0])], anchor, correction, released)


NOTHING_FOUND = StopFindings()
"""Before any stop."""


class Stop:
    """The phase of the commands of one arm, and what its stop has found out."""

    def __init__(self) -> None:
        self.phase: Phase = "silent"
        self.hold = Hold()
        self._released: Array | None = None
        self._since: float | None = None
        self._judged_from = 0.0
        self._turned = False
        self._at = 0.0
        self._reference: Array | None = None
        self._at_stop: float | None = None
        self._allowed_at = 0.0
        self._rested_at: Array | None = None
        self._response = EffortResponse(PROOF_TIME)

    def take(self, signal: Signal) -> None:
        """Go where a signal leads; the arm is judged anew from then on."""
        before = self.phase
        self.phase = "silent" if signal == "aborted" else NEXT.get((self.phase, signal), self.phase)
        if signal == "entered":
            self.hold, self._released = Hold(), None
        if signal in ("stopped", "unseen"):  # nobody may see where the arm goes now
            self.hold.forget()
        if signal not in ("rests", "ends"):
            self._since = None
            self._at_stop = 0.0 if before == "ending" else None  # it rested until then
        if signal in ("stopped", "left"):
            self._response = EffortResponse(PROOF_TIME)

    @property
    def may_enter(self) -> bool:
        """Whether a mode may begin."""
        return (self.phase, "entered") in NEXT

    @property
    def found(self) -> StopFindings:
        """Where it stands."""
        return StopFindings(self.phase, self.hold.anchor, self.hold.correction, self._released)

    def go_on(self, found: StopFindings) -> None:
        """Go on where the stop of another process was."""
        self.hold.anchor, self.hold.correction, self._released = found.anchor, found.correction, found.released
        if self.phase == "braking" and found.escalated:
            self.phase = found.phase

    def without(self, effort: Array) -> Array:
        """Return an effort without that of the joints which no effort could stop, N m or N, shape (n,)."""
        return effort if self._released is None else np.where(self._released, 0.0, effort)

    def spring(
        self, seen: SeenState, given: BrakeInput, limits: CommandLimits, *, loose: Array, speed: Array, last: Array
    ) -> Array:
        """Return the efforts of the springs that brake and hold the arm, N m or N, shape (n,); learn from them.

        Args:
            seen: the state.
            given: what brakes and holds the arm there.
            limits: of the joints.
            loose: joints without springs, shape (n,), bool: those whose commands act late would swing.
            speed: of the joints lately, by their positions, rad/s or m/s, shape (n,). One that friction holds learns
                nothing.
            last: the newest command, N m or N, shape (n,).
        """
        arm, at = given.state, seen.at
        dt, self._at = min(max(at - self._at, 0.0), WINDOW), at
        self._response.observe(arm, last, dt)
        moves = speed >= REST_SPEED
        return self.hold.spring(
            arm,
            given.rate,
            limits,
            gravity=given.gravity,
            speed=speed,
            loose=loose,
            moves=moves,
            dt=dt,
            anew=given.misplaced | given.unanswered,
        )

    def judge(
        self, motion: ArmMotion, seen: SeenState, given: BrakeInput, *, turning: float, driving: Array
    ) -> StopFailure | None:
        """Take a state: return why the motion since the stop is a failure, or go where it leads; see `TRANSITIONS`.

        An arm that something outside drives, and that obeys, is judged anew when that ends: a person who bumps it makes
        no stop fail as long as no joint runs away.

        Args:
            motion: of the arm.
            seen: the state. One that was measured before the stop, and waited for its turn, says nothing.
            given: what brakes and holds the arm there.
            turning: time that an effort needs to be built up, s. As long as it drives the arm, that is not judged.
            driving: the newest command without what carries the arm as far as limits allow, N m or N, shape (n,).
        """
        arm, at, obeyed = given.state, seen.at, given.obeyed
        settling = min(2 * turning + 6 / max(given.rate, 6.0), STOP_TIME)  # time that it needs to brake the arm then
        if seen.inert:  # they may obey later
            self._response = EffortResponse(PROOF_TIME)
        if self._since is None:
            self._since = self._judged_from = self._allowed_at = seen.now
            self._reference, self._turned = None, False
        since, told = at - self._since, np.abs(arm.qd)
        if since < 0:
            return None
        speed = motion.speed(WINDOW)
        speed = None if speed is None else np.where(given.misplaced, told, speed)  # an encoder that slips moves no arm
        fastest = float(np.max(told if speed is None else np.maximum(speed, told)))
        pushed = given.pushed and bool(obeyed.all())
        self._await_calm(arm, driving, at, fastest, late=since > turning, pushed=pushed)
        since = at - self._judged_from
        if speed is None:
            return None
        if self._runs_away(speed, at, pushed):
            text = f"{np.max(speed):.2g} rad/s or m/s for {PATIENCE:g} s, {self._at_stop:.2g} at the stop"
            return StopFailure(text, speed > 2 * FAST)
        if self.phase == "holding":
            return self._leaves_rest(given, pushed)
        if self._comes_to_rest(motion, at):
            self._rested_at = arm.q
            if not pushed:  # by a hand that bears a part of the arm
                self.hold.rest(arm.q)
            self.take("rests")
            return None
        return self._exceeds(speed, given, since, settling)

    def _comes_to_rest(self, motion: ArmMotion, at: float) -> bool:
        """Return whether the arm has come to rest; one that rested when it was stopped may begin to fall then."""
        assert self._since is not None
        proved = self.phase == "leaving" or (self.phase == "braking" and at - self._since >= PROOF_TIME)
        return proved and motion.at_rest(REST_DISTANCE, PROOF_TIME)

    def _exceeds(self, speed: Array, given: BrakeInput, since: float, settling: float) -> StopFailure | None:
        """Return what a stop that succeeds does not do, a time after it, s, where it takes another one, s."""
        qd = np.abs(given.state.qd)
        turned = self._response.turned_over(given.state, REST_SPEED, given.rate) & ~given.obeyed
        turned &= np.maximum(speed, qd) > FAST
        assert self._reference is not None
        if self.phase in ("braking", "leaving"):
            allowed = GROWTH * self._reference * max(1 - since / settling, 0.0) + FAST
            fails = (speed > allowed) | (turned & (qd > self._reference))
        else:
            fails = turned & (self.phase == "failed")
        if not fails.any():
            return None
        text = f"{np.max(speed):.2g} rad/s or m/s {since:.2g} s after the stop, {np.max(self._reference):.2g} before"
        return StopFailure(text, fails)

    def _await_calm(
        self, arm: ArmState, driving: Array, at: float, fastest: float, *, late: bool, pushed: bool
    ) -> None:
        """Judge the arm from when no efforts of before the stop drive it, and no push, by the speed that these made."""
        if self._reference is None:
            self._reference = np.full_like(arm.qd, fastest)
            self._at_stop = fastest if self._at_stop is None else self._at_stop
        self._turned = self._turned or late or float(driving @ arm.qd) <= 0
        if not self._turned:
            gain = np.maximum(np.linalg.solve(arm.M, driving) * np.sign(arm.qd), 0.0)
            self._judged_from, self._reference = at, self._reference + gain * max(at - self._judged_from, 0.0)
        if pushed and self.phase in ("braking", "leaving"):
            self._judged_from, self._reference = at, np.maximum(self._reference, fastest)

    def _runs_away(self, speed: Array, at: float, pushed: bool) -> bool:
        """Return whether a joint has been faster for `PATIENCE` than any may be, whatever drives it.

        A hand may move an arm that rests.
        """
        assert self._at_stop is not None
        assert self._since is not None
        rests = self.phase == "holding"
        allowed = 2 * FAST + (0.0 if rests or at - self._since > STOP_TIME else GROWTH * self._at_stop)
        if (rests and pushed) or self.phase not in ("braking", "leaving", "holding") or np.all(speed <= allowed):
            self._allowed_at = at
        return at - self._allowed_at > PATIENCE

    def release(self, joints: Array) -> None:
        """Leave joints without effort, shape (n,), bool."""
        self._released = joints

    def _leaves_rest(self, given: BrakeInput, pushed: bool) -> StopFailure | None:
        assert self._rested_at is not None
        self._rested_at = np.where(given.misplaced, given.state.q, self._rested_at)
        travel = np.abs(given.state.q - self._rested_at)
        if np.all(travel <= MAX_TRAVEL):
            return None
        if pushed:
            self.take("moves")
            return None
        text = f"a joint moved by {np.max(travel):.2g} rad or m after the arm had come to rest"
        return StopFailure(text, travel > MAX_TRAVEL)
