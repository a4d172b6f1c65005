# SPDX-License-Identifier: Apache-2.0
"""The supervisor of all commands: conditions of the mode, freshness of the state, limits of the effort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.effort_limiter import CommandLimits, EffortLimiter
from ros2_dyn.control.events import Event
from ros2_dyn.control.failsafe_ramp import SafeEffortRamp, safe_effort
from ros2_dyn.control.mode_state_machine import ModeStateMachine
from ros2_dyn.control.rest_effort import position_hold
from ros2_dyn.control.state_freshness import StateFreshness
from ros2_dyn.control.stop_supervision import StopFailure, StopSupervision
from ros2_dyn.model.spatial import Array

RAMP_DOWN_PERIOD = 0.01
"""Period with which `CommandSupervisor.ramp_down` has to be called, s."""
STOP_FAILED = "stop failed"
"""Kind of the event of a stop that does not stop the arm."""
SETTLED = 0.05
"""A command has reached the braking effort when it differs by less than this fraction of the limit."""
MAX_WAIT = 2.0
"""Time without usable states, s, after which a mode that is left ends."""
SPRING_TIME = 0.1
"""Time in which the slew rate can build up the efforts that draw a stopped arm back, s: stronger ones make it swing."""
PROOF_TIME = 0.3
"""Time for which an arm that is left has to stay at rest under the effort in which commands end, s."""
PROOF_DISTANCE = 0.003
"""Distance within which it rests, rad or m: an effort under which it moves farther is replaced."""


class SeenState(NamedTuple):
    """What the supervisor sees of a state."""

    now: float
    """Time, s."""
    age: float
    """Age of the state by its stamp, s."""
    q: Array
    """Joint positions, rad or m, shape (n,)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (n,)."""
    problem: str = ""
    """Why no command may be based on the state; empty where it fits the states before."""
    inert: bool = False
    """Whether the joints are measured to exert nothing, although efforts are commanded."""


class BrakeInput(NamedTuple):
    """What brakes and holds the arm at a state; efforts as they would be commanded, N m or N, shape (n,)."""

    arm: ArmState
    """State of the arm."""
    rate: float
    """Rate of the damping, 1/s."""
    gravity: Array
    """Effort that carries the arm by its model."""
    damped: Array
    """The same with damping and soft walls."""
    at_rest: Array
    """What replaces the model's gravity after a stop that failed: the effort at rest."""
    obeyed: bool = False
    """Whether commands are known to act on their joints; what moves these in spite of them is then a push or another
    commander."""


@dataclass(frozen=True)
class SupervisorPolicy:
    """Parameters of the supervisor: when commands end, and how."""

    ramp_time: float = 0.5
    """Duration of the ramp when a mode is entered or left, s."""
    state_timeout: float = 0.1
    """Maximum age of a state that a command may be based on, s."""
    stop_behaviour: StopBehaviour = "hold_gravity"
    """Command after a stop."""


class CommandSupervisor:
    """Limits and ramps the output of the active control law, and ends the mode when a condition fails.

    At each state `accept` comes first. Then `follow` is called where a mode is active, and `brake` where one was
    stopped or is left.

    - A stop takes effect with the same state: the command slews to the safe effort (`stop_behaviour`), which brakes. An
      arm that has come to rest is held where it is. `StopSupervision` judges by the motion of the arm.
    - A mode that is left brakes first, too. Its commands end when the last effort has been seen to hold the arm.
    - A stop that fails is escalated: the effort at rest carries the arm instead of the model's gravity. Joints that
      this accelerates, and whose controller may not obey, are left without effort.
    - Without usable states, `ramp_down` moves the command to the safe effort, and repeats it there until states come
      again. Where the mode is left, commands end after `MAX_WAIT`.
    - A mode that ended has to be entered again.
    """

    def __init__(self, limits: CommandLimits, policy: SupervisorPolicy) -> None:
        self.policy = policy
        self.modes = ModeStateMachine()
        self._limiter = EffortLimiter(limits)
        self._freshness = StateFreshness(policy.state_timeout)
        self._stop = StopSupervision()
        self._ramp = SafeEffortRamp(self._limiter)
        self.stateless = False
        """Whether commands end for want of states."""
        self.carried: Array | None = None
        """Effort that carries the arm at the newest state, N m or N, shape (n,): what a controller may hold."""
        self._leaves_now = False
        self._proof: tuple[float, Array, Array] | None = None
        """Since when, where and with which constant effort an arm that is left has been seen to rest."""
        self._events: list[Event] = []
        self._logged: set[str] = set()

    @property
    def mode(self) -> str:
        """The name of the mode, `MONITOR` or `STOPPED`."""
        return self.modes.mode

    @property
    def reason(self) -> str:
        """Reason for the end of the last mode; empty if it ended by request."""
        return self.modes.reason

    @property
    def commands(self) -> bool:
        """Whether the arm is commanded."""
        return self._limiter.last is not None

    @property
    def is_active(self) -> bool:
        """Whether a control law determines the commands."""
        return self.modes.is_active

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
    def escalated(self) -> bool:
        """Whether the last stop failed, so that the model's gravity does not carry the arm."""
        return self._stop.stage > 0

    @property
    def stop_found(self) -> tuple[int, Array | None, Array | None]:
        """What the escalations of a stop have led to, see `StopSupervision.found`."""
        return self._stop.found

    def take_events(self) -> list[Event]:
        """Return the events since the last call, and clear them."""
        events, self._events = self._events, []
        return events

    # ---- modes

    def enter(self, mode: str, applied: ArrayLike, age: float, now: float) -> None:
        """Enter a mode; the first command starts from the efforts that the joints exert now.

        Args:
            mode: its name.
            applied: efforts of the joints, N m or N, shape (n,), within the limits; unused while the arm is commanded.
            age: age of the newest state, s.
            now: time, s.
        """
        if not self.commands:
            self._limiter.start(applied, now)
            self._freshness.restart(now, age)
            self._stop.restart()
        self.stateless = False
        self.modes.enter(mode)
        self._stop.reset()
        self._logged.clear()
        self._limiter.ramp(now, self.policy.ramp_time)

    def leave(self, now: float) -> None:
        """Brake until the arm is at rest, ramp to the hold effort over the ramp time, then end commands."""
        self.modes.leave()
        self._stop.request()
        self._leaves_now = False
        self._limiter.end_ramp()
        if not self.commands or self.policy.stop_behaviour == "none":
            self._silence()

    def stop(self, kind: str, detail: str = "") -> None:
        """Stop the mode: commands slew to the safe effort."""
        self._report(kind, f"stopped: {kind}{detail}")
        self.modes.stop(kind + detail)
        self._stop.request()
        self._limiter.end_ramp()
        if self.policy.stop_behaviour == "none":
            self._silence()

    def go_on_stopping(self, stage: int, anchor: Array | None, withdrawn: Array | None) -> None:
        """Go on with a stop of another process, with its `stop_found`; one that failed is reported again."""
        self._stop.go_on(stage, anchor, withdrawn)
        if self.escalated:  # who reported it may have died before anybody was called
            text = "the stop had failed before: the model's gravity does not carry the arm"
            self._events.append(Event(STOP_FAILED, text, "error"))

    def abort(self, kind: str, detail: str = "") -> None:
        """End the mode and all commands at once."""
        self._report(kind, f"commands end: {kind}{detail}")
        self.modes.abort(kind + detail)
        self._limiter.clear()

    def replace_limits(self, limits: CommandLimits) -> None:
        """Use the limits of another robot: stop the mode, or abort it if the newest command exceeds them."""
        last = self._limiter.last
        fits = limits.joint_names == self.limits.joint_names
        if fits and last is not None and np.all(np.abs(last) <= limits.effort):
            self._limiter.limits = limits
            self.stop("robot changed")
        else:
            self.abort("robot changed")
            self._limiter.limits = limits

    def _silence(self) -> None:
        self.modes.silence()
        self._limiter.clear()

    # ---- commands

    def accept(self, seen: SeenState) -> bool:
        """Return whether a command is to be based on a state."""
        if not self._check_fresh(seen.now) or not self._freshness.accept(seen.now, seen.age, seen.problem):
            return False
        self.stateless = False
        self._stop.observe(seen.now - max(seen.age, 0.0), seen.q)  # states that were late come in bursts
        return True

    def follow(self, effort: ArrayLike, gravity: Array, now: float) -> Array | None:
        """Return the command of an active mode at a state, N m or N, shape (n,); None if it has to stop.

        Args:
            effort: of its control law, N m or N, shape (n,).
            gravity: effort that carries the arm by its model, as it would be commanded, N m or N, shape (n,).
            now: time, s.
        """
        wanted, self.carried = np.asarray(effort, dtype=float), gravity
        if not np.isfinite(wanted).all():
            self.stop("effort not finite")
            return None
        command, interventions = self._limiter.limit(wanted, now)
        for each in interventions:
            self._report(*each)
        return command

    def brake(self, seen: SeenState, given: BrakeInput) -> Array:
        """Return the command after a stop, or of a mode that is being left; end commands where they have to end."""
        hold, self.carried = given.gravity, given.gravity
        if self.policy.stop_behaviour == "zero_effort" and not self.modes.leaving:
            return self._approach(np.zeros_like(hold), seen.now)
        carried, spring = given.at_rest if self.escalated else hold, np.zeros_like(hold)
        if self._stop.anchor is not None:
            most = SPRING_TIME * self.limits.slew_rate
            spring = np.clip(position_hold(given.arm, self._stop.anchor, given.rate), -most, most)
        at_rest = self._stop.at_rest
        self.carried = self._stop.withdraw(carried + spring if at_rest else carried)
        braking = self._limiter.saturate(self._stop.withdraw(given.damped + (carried - hold) + spring))
        self._supervise_stop(seen, braking, given.obeyed)
        if self.modes.leaving and at_rest:
            return self._leave_at_rest(seen)
        self._limiter.end_ramp()
        self._leaves_now = False
        return self._limiter.slew(braking, seen.now)

    def ramp_down(self, hold: Array, now: float) -> Array | None:
        """Return the ramp-down command if states are late or have ended; to be called every `RAMP_DOWN_PERIOD`.

        Args:
            hold: effort that compensates gravity at the last state, N m or N, shape (n,).
            now: time, s.
        """
        if not self._check_fresh(now) or not self._freshness.is_late(now) or self.policy.stop_behaviour == "none":
            return None
        age = now - self.state_at
        self._report("state late", f"no state for {1e3 * age:.0f} ms: commands ramp to the safe effort")
        effort = self._ramp.step(safe_effort(self.policy.stop_behaviour, hold), now)
        gone = age >= MAX_WAIT and self.modes.leaving
        if self.stateless and self._ramp.ended and (gone or self.policy.stop_behaviour == "zero_effort"):
            self._silence()
        return effort

    def withdraw(self, now: float) -> None:
        """Take notice that the newest command was not published in time, s."""
        if self.commands:
            self._limiter.withdraw(now)
            self._check_fresh(now)

    def _check_fresh(self, now: float) -> bool:
        """Return whether the arm is commanded; stop the mode if the newest accepted state is too old."""
        if self.commands and self._freshness.is_stale(now) and not self.stateless:
            self.stateless = True
            self._ramp.restart()
            self._on_stale(f": {self._freshness.why_stale(now)}")
        return self.commands

    def _on_stale(self, detail: str) -> None:
        """Stop the mode for want of states; one that is left already is left when states come again."""
        if self.modes.leaving:
            self._report("state stale", f"still braked: state stale{detail}")
            self._stop.request()
        else:
            self.stop("state stale", detail)

    def _supervise_stop(self, seen: SeenState, braking: Array, obeyed: bool) -> None:
        """Escalate a stop that does not stop the arm; the command follows with the next state."""
        assert self._limiter.last is not None
        settled = bool((np.abs(self._limiter.last - braking) <= SETTLED * self.limits.effort).all())
        failure = self._stop.judge(seen.qd, settled, obeyed, seen.inert, max(seen.age, 0.0))
        if failure is not None:
            self._escalate(failure)

    def _escalate(self, failure: StopFailure) -> None:
        names = [name for name, failed in zip(self.limits.joint_names, failure.joints) if failed]
        text = f"the stop failed, {', '.join(names)}: {failure.text}; is the model right, and its payload and gravity?"
        self._events.append(Event(STOP_FAILED, text, "error"))
        if self.modes.leaving:
            self.modes.stop(f"{STOP_FAILED}: {failure.text}")

    def _leave_at_rest(self, seen: SeenState) -> Array:
        """Return the next command of a mode that is left: end in an effort that has been seen to hold the arm."""
        assert self.carried is not None
        if not self._leaves_now:
            self._leaves_now, self._proof = True, None
            self._limiter.ramp(seen.now, self.policy.ramp_time)
        if self.policy.stop_behaviour == "zero_effort":
            return self._approach(np.zeros_like(self.carried), seen.now)
        if self._proof is not None:
            since, q, proven = self._proof
            if np.all(np.abs(seen.q - q) <= PROOF_DISTANCE):
                effort = self._limiter.slew(proven, seen.now)
                if seen.now - since >= PROOF_TIME and np.array_equal(effort, proven):
                    self._silence()
                return effort
        target = self._limiter.saturate(self.carried)
        effort, _ = self._limiter.limit(target, seen.now)
        arrived = not self._limiter.ramps and np.array_equal(effort, target)
        self._proof = (seen.now, seen.q, effort) if arrived else None
        return effort

    def _approach(self, safe: Array, now: float) -> Array:
        """Return the next command on the way to the effort in which commands end; end them there."""
        effort, _ = self._limiter.limit(safe, now)
        if not self._limiter.ramps and np.array_equal(effort, safe):
            self._silence()
        return effort

    def _report(self, kind: str, text: str) -> None:
        self._events.append(Event(kind, text, logged=kind not in self._logged))
        self._logged.add(kind)
