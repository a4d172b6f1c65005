# SPDX-License-Identifier: Apache-2.0
"""The supervisor of all commands: freshness of the state, limits of the effort, and what is commanded after a stop."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.effort_limiter import CommandLimits, EffortLimiter
from ros2_dyn.control.events import Event
from ros2_dyn.control.state_freshness import StateFreshness
from ros2_dyn.control.stop.machine import PROOF_TIME, REST_DISTANCE, WINDOW, Stop, StopFailure, StopFindings
from ros2_dyn.control.stop.motion import ArmMotion
from ros2_dyn.control.stop.phases import MONITOR, PHASES, Phase, Signal
from ros2_dyn.control.stop.seen import BrakeInput, SeenState
from ros2_dyn.model.spatial import Array

RAMP_DOWN_PERIOD = 0.01
"""Period with which `CommandSupervisor.ramp_down` has to be called, s."""
STOP_FAILED = "stop failed"
"""Kind of the event of a stop that does not stop the arm."""
STOPS: dict[StopBehaviour, Signal] = {"hold_gravity": "stopped", "zero_effort": "dropped", "none": "aborted"}
"""Where a stop leads."""


@dataclass(frozen=True)
class SupervisorPolicy:
    """Parameters of the supervisor: when commands end, and how."""

    ramp_time: float = 0.5
    """Duration of the ramp when a mode is entered, or ends in zero effort, s."""
    state_timeout: float = 0.1
    """Maximum age of a state that a command may be based on, s."""
    stop_behaviour: StopBehaviour = "hold_gravity"
    """Command after a stop."""


class CommandSupervisor:
    """Limits and ramps the output of the active control law, and brakes and holds the arm after it.

    At each state `accept` comes first. Then `follow` is called where a mode is active, and `brake` where one was
    stopped or is left. `control/stop/phases.py` has what is commanded, and what leads on. Without usable states,
    `ramp_down` moves the command to the safe effort, and repeats it there until states come again.

    A mode that ended has to be entered again.
    """

    def __init__(self, limits: CommandLimits, policy: SupervisorPolicy, reason: str = "") -> None:
        """Command nothing, for a reason; empty for none."""
        self.policy = policy
        self.reason = reason
        """Reason for the end of the last mode; empty if it ended by request."""
        self.stateless = False
        """Whether commands go on without states."""
        self.carried: Array | None = None
        """Effort that carries the arm at the newest state, N m or N, shape (n,): what a controller may hold."""
        self._limiter = EffortLimiter(limits)
        self._freshness = StateFreshness(policy.state_timeout)
        self._motion = ArmMotion(PROOF_TIME)
        self._stop = Stop()
        self._mode = MONITOR
        self._end: Array | None = None
        self._constant_since: float | None = None
        self._lag: Array | None = None
        self._events: list[Event] = []
        self._logged: set[str] = set()

    @property
    def phase(self) -> Phase:
        """What is commanded, see `PHASES`."""
        return self._stop.phase

    @property
    def mode(self) -> str:
        """The current mode."""
        return PHASES[self.phase].mode or self._mode

    @property
    def is_active(self) -> bool:
        """Whether a control law determines the commands."""
        return self.phase == "active"

    @property
    def commands(self) -> bool:
        """Whether the arm is commanded."""
        return self._limiter.last is not None

    @property
    def stops(self) -> bool:
        """Whether the arm is braked or held after a stop, or while a mode is left."""
        return self.phase not in ("silent", "active")

    @property
    def may_enter(self) -> bool:
        """Whether a mode may begin: not while a stop brakes."""
        return self._stop.may_enter

    @property
    def moves(self) -> bool:
        """Whether an arm that a stop holds moves: its brakes have opened, or something is hung on it."""
        return self.phase == "holding" and not self._motion.at_rest(REST_DISTANCE, PROOF_TIME)

    @property
    def keeps(self) -> bool:
        """Whether what the last mode knew of the arm holds: it commands, or only a request has ended it."""
        return self.phase in ("active", "leaving", "ending")

    @property
    def held(self) -> Array | None:
        """What holds an arm that rests after a stop, N m or N, shape (n,); None: none does."""
        return self.carried if self.phase == "holding" else None

    @property
    def ramps(self) -> bool:
        """Whether a ramp is in progress."""
        return self._limiter.ramps

    @property
    def limits(self) -> CommandLimits:
        """Limits of the joints."""
        return self._limiter.limits

    @property
    def last(self) -> Array | None:
        """The newest command, N m or N, shape (n,); None while nothing is commanded."""
        return self._limiter.last

    @property
    def state_at(self) -> float:
        """Time at which the newest accepted state was measured, s."""
        return self._freshness.state_at

    @property
    def found(self) -> StopFindings:
        """Where a stop stands, for another process that goes on with it."""
        return self._stop.found

    def take_events(self) -> list[Event]:
        """Return the events since the last call, and clear them."""
        events, self._events = self._events, []
        return events

    # ---- modes

    def enter(
        self,
        mode: str,
        *,
        applied: ArrayLike,
        gravity: Array,
        age: float,
        now: float,
        unmodelled: Array | None = None,
        at_once: bool = False,
    ) -> None:
        """Enter a mode; the first command starts from the efforts that the joints exert now.

        Args:
            mode: its name.
            applied: efforts of the joints, N m or N, shape (n,), within the limits; unused while the arm is commanded.
            gravity: effort that carries the arm by its model, as it would be commanded, N m or N, shape (n,).
            age: age of the newest state, s.
            now: time, s.
            unmodelled: what carries the arm beyond that, N m or N, shape (n,); None: nothing.
            at_once: whether the mode takes effect without a ramp.
        """
        if not self.commands:
            self._limiter.start(applied, now)
            self._freshness.restart(now, age)
            self._motion.clear()
        self._mode, self.reason, self.stateless = mode, "", False
        self._take("entered")
        self._stop.hold.correction = unmodelled  # a stop may come before the first command
        self.carried = self._stop.hold.carrying(gravity)
        self._logged.clear()
        self._limiter.ramp(now, 0.0 if at_once else self.policy.ramp_time)

    def leave(self, *, at_once: bool = False) -> None:
        """Brake until the arm rests, and end commands in an effort that holds it; or at once, where others hold it."""
        self.reason = ""
        self._limiter.end_ramp()
        ends = at_once or not self.commands or self.policy.stop_behaviour == "none"
        self._take("aborted" if ends else "left")

    def stop(self, kind: str, detail: str = "") -> None:
        """Stop the mode: commands slew to the safe effort."""
        self._report(kind, f"stopped: {kind}{detail}")
        self.reason = kind + detail
        self._limiter.end_ramp()
        self._take(STOPS[self.policy.stop_behaviour])

    def go_on_stopping(self, found: StopFindings) -> None:
        """Go on with a stop of another process; one that failed is reported again."""
        self._stop.go_on(found)
        if self.found.escalated:  # who reported it may have died before anybody was called
            self._events.append(Event(STOP_FAILED, "the stop had failed before this process took over", "error"))

    def abort(self, kind: str, detail: str = "") -> None:
        """End the mode and all commands at once."""
        self._report(kind, f"commands end: {kind}{detail}")
        self.reason = kind + detail
        self._take("aborted")

    def replace_limits(self, limits: CommandLimits) -> None:
        """Use the limits of another robot: stop the mode, or abort it if the newest command exceeds them."""
        fits = limits.joint_names == self.limits.joint_names
        if fits and self.last is not None and np.all(np.abs(self.last) <= limits.effort):
            self._limiter.limits = limits
            self.stop("robot changed")
        else:
            self.abort("robot changed")
            self._limiter.limits = limits

    def _take(self, signal: Signal) -> None:
        """Go where a signal leads."""
        self._stop.take(signal)
        self._end = self._constant_since = self._lag = None
        if self.phase == "silent":
            self._limiter.clear()

    # ---- commands

    def accept(self, seen: SeenState) -> bool:
        """Take a state; return whether a command is to be based on it. A mode without usable states is stopped."""
        if not self._end_if_stale(seen.now) or not self._freshness.accept(seen.now, seen.age, seen.problem):
            return False
        self.stateless = False
        self._motion.add(seen.at, seen.q)  # states that were late come in bursts
        return True

    def follow(self, effort: ArrayLike, gravity: Array, now: float, unmodelled: Array | None = None) -> Array | None:
        """Return the command of an active mode at a state, N m or N, shape (n,); None if it has to stop.

        Args:
            effort: wanted, N m or N, shape (n,).
            gravity: effort that carries the arm by its model, as it would be commanded, N m or N, shape (n,).
            now: time, s.
            unmodelled: what carries the arm beyond that, N m or N, shape (n,), a part of the effort; a stop begins with
                it. None: nothing.
        """
        self._stop.hold.correction = unmodelled
        wanted, self.carried = np.asarray(effort, dtype=float), self._stop.hold.carrying(gravity)
        if not np.isfinite(wanted).all():
            self.stop("effort not finite")
            return None
        command, interventions = self._limiter.limit(wanted, now)
        for each in interventions:
            self._report(*each)
        return command

    def brake(self, seen: SeenState, given: BrakeInput) -> Array:
        """Return the command at a state after a stop, or while a mode is left, N m or N, shape (n,).

        Args:
            seen: the state, which was accepted.
            given: what brakes and holds the arm there.
        """
        if self.phase == "zeroing":
            self.carried = np.zeros_like(given.gravity)
            return self._approach(self.carried, seen.now)
        stop, last = self._stop, self._limiter.last
        assert self.carried is not None
        assert last is not None
        if np.any(given.misplaced):  # what the model says there carries no arm
            stop.hold.take_up(self.carried - stop.hold.holding(given.gravity))
        else:
            stop.hold.take_up(stop.hold.at_rest(given.softened) + given.unloaded)
        lag = self._slewing(stop.hold.carrying(given.damped + given.walls)) if self._lag is None else self._lag
        if given.exerted is not None:
            stop.hold.give_up(given.unanswered, given.exerted - given.gravity)
        speed = self._motion.speed(WINDOW)
        speed = np.abs(seen.qd) if speed is None else np.where(given.misplaced, np.abs(seen.qd), speed)
        against_walls = stop.hold.pulls_against(given.walls, given.state.q)
        loose = (lag > WINDOW) | against_walls | seen.inert | given.doubtful
        spring = stop.spring(seen, given, self.limits, loose=loose, speed=speed, last=last)
        carrying = stop.hold.carrying(given.gravity)  # with what springs just lost
        damped = stop.without(stop.hold.carrying(given.damped + given.walls))
        braking = self._limiter.saturate(damped + stop.without(spring))
        turning = float(np.max(self.limits.effort / self.limits.slew_rate))
        driving = last - self._limiter.saturate(carrying)
        failure = stop.judge(self._motion, seen, given, turning=turning, driving=driving)
        if failure is not None:
            self._escalate(failure)
        holding = stop.without(carrying + stop.hold.at_rest(spring + given.walls))  # also where nothing is seen
        if self.phase == "ending":
            return self._end_at_rest(holding, seen.now)
        self.carried = holding
        command = self._limiter.slew(braking, seen.now)
        self._lag = self._slewing(braking)
        return command

    def _slewing(self, effort: Array) -> Array:
        """Return the time that each joint's command needs to become an effort, s, shape (n,)."""
        assert self._limiter.last is not None
        return np.abs(self._limiter.saturate(effort) - self._limiter.last) / self.limits.slew_rate

    def ramp_down(self, now: float, usual: float = inf) -> Array | None:
        """Return the command if states are late or have ended, N m or N, (n,); to be called every `RAMP_DOWN_PERIOD`.

        Nothing damps an arm under a command that stays: gains are such that the arm bears that for the usual time.

        Args:
            now: time, s.
            usual: time from a measurement to the end of its command until now, s; inf where it is not known.
        """
        late, last = self._freshness.lateness(now, usual), self.last
        if not self._end_if_stale(now) or last is None or late == 0 or self.policy.stop_behaviour == "none":
            return None
        assert self.carried is not None  # since the mode was entered
        age, zero = now - self.state_at, self.policy.stop_behaviour == "zero_effort"
        if self._freshness.lateness(now, inf) > 0:  # a little later than usual is nothing to be told
            self._report("state late", f"no state for {1e3 * age:.0f} ms: commands ramp to the safe effort")
        target = np.zeros_like(self.carried) if zero else self.carried
        if not self.stateless:  # the later, the more of the way: a state that is lost makes no jolt, and ends no ramp
            return self._limiter.slew(self._limiter.saturate(last + late * (target - last)), now)
        self._limiter.end_ramp()
        effort = self._approach(target, now, ends=zero)
        if age >= 2.0 and self.phase == "leaving" and self._constant_since is not None:
            self._take("ends")  # its ramp is over by then
        return effort

    def withdraw(self, now: float) -> None:
        """Take notice that the newest command was not published in time, s."""
        if self.commands:
            self._limiter.withdraw(now)
            self._end_if_stale(now)

    def _end_if_stale(self, now: float) -> bool:
        """Stop the mode if the newest accepted state is too old; return whether the arm is commanded."""
        if self.commands and self._freshness.is_stale(now) and not self.stateless:
            self.stateless = True
            detail = f": {self._freshness.why_stale(now)}"
            if self.phase in ("leaving", "ending"):
                self._report("state stale", f"still braked: state stale{detail}")
                self._take("unseen")
            else:
                self.stop("state stale", detail)
        return self.commands

    def _escalate(self, failure: StopFailure) -> None:
        """Report a stop that failed; where it fails again, leave the joints without effort that do not obey."""
        names = [name for name, failed in zip(self.limits.joint_names, failure.joints) if failed]
        text = f"the stop failed, {', '.join(names)}: {failure.text}; is the model right, and its payload and gravity?"
        self._events.append(Event(STOP_FAILED, text, "error"))
        if self.mode == MONITOR:
            self.reason = f"{STOP_FAILED}: {failure.text}"
        self._take("fails")
        if self.phase == "released":
            self._stop.release(failure.joints)

    def _end_at_rest(self, holding: Array, now: float) -> Array:
        """Return the next command of a mode that ends: a constant effort, which has to hold the arm for a while."""
        zero = self.policy.stop_behaviour == "zero_effort"
        if self._end is None:
            self.carried = self._end = np.zeros_like(holding) if zero else holding
            self._constant_since = None  # what was repeated without states was another effort
            if zero:
                self._limiter.ramp(now, self.policy.ramp_time)
        if zero:
            return self._approach(self._end, now)
        proved = self._constant_since is not None and now - self._constant_since >= PROOF_TIME
        moves = not self._motion.at_rest(REST_DISTANCE, PROOF_TIME if proved else WINDOW)
        effort = self._approach(self._end, now, ends=not moves)
        if moves:
            self._take("moves")
        return effort

    def _approach(self, target: Array, now: float, ends: bool = True) -> Array:
        """Return the next command on the way to an effort; end commands where it has been repeated long enough."""
        target = self._limiter.saturate(target)
        effort, _ = self._limiter.limit(target, now)
        if self._limiter.ramps or not np.array_equal(effort, target):
            self._constant_since = None
        elif self._constant_since is None:
            self._constant_since = now
        elif ends and now - self._constant_since >= PROOF_TIME:
            self._take("ends")
        return effort

    def _report(self, kind: str, text: str) -> None:
        self._events.append(Event(kind, text, logged=kind not in self._logged))
        self._logged.add(kind)
