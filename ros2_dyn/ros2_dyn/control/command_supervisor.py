"""The supervisor of all commands: conditions of the mode, freshness of the state, limits of the effort."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.effort_limiter import CommandLimits, EffortLimiter
from ros2_dyn.control.events import Event
from ros2_dyn.control.mode_conditions import GuardInput, ModeConditions, find_violation
from ros2_dyn.control.mode_state_machine import ModeStateMachine
from ros2_dyn.control.modes import Mode, StopBehaviour
from ros2_dyn.control.state_freshness import StateFreshness
from ros2_dyn.model.spatial import Array

RAMP_DOWN_PERIOD = 0.01
"""Period with which `CommandSupervisor.ramp_down` has to be called, s."""


@dataclass(frozen=True)
class SupervisorPolicy:
    """Parameters of the supervisor: when commands end, and how."""

    ramp_time: float = 0.5
    """Duration of the ramp when a mode is entered or left, s."""
    state_timeout: float = 0.1
    """Maximum age of a state that a command may be based on, s."""
    detect_frozen: bool = True
    """Whether a state that repeats the one before, with velocities other than zero, is ignored."""
    stop_behaviour: StopBehaviour = "hold_gravity"
    """Command after a stop."""
    conditions: ModeConditions = field(default_factory=ModeConditions)
    """Conditions under which a mode continues."""


class CommandSupervisor:
    """Limits and ramps the output of the active control law, and ends the mode when a condition fails.

    A stop takes effect with the same state: the command slews to the safe effort (`stop_behaviour`). Without usable
    states, `ramp_down` moves the command there while the last state is young enough. Then commands end, because no
    command may be based on a state that is too old. A mode that ended has to be entered again.
    """

    def __init__(self, limits: CommandLimits, policy: SupervisorPolicy) -> None:
        self.policy = policy
        self.modes = ModeStateMachine()
        self._limiter = EffortLimiter(limits)
        self._freshness = StateFreshness(policy.state_timeout, policy.detect_frozen)
        self._events: list[Event] = []
        self._logged: set[str] = set()

    @property
    def mode(self) -> Mode:
        """The current mode."""
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

    def take_events(self) -> list[Event]:
        """Return the events since the last call, and clear them."""
        events, self._events = self._events, []
        return events

    # ---- modes

    def enter(
        self, mode: Mode, applied: ArrayLike, age: float, now: float, numbers: tuple[Array, Array] | None = None
    ) -> None:
        """Enter a mode; the first command starts from the efforts that the joints exert now.

        Args:
            mode: one of `ACTIVE_MODES`.
            applied: efforts of the joints, N m or N, shape (n,), within the limits; unused while the arm is commanded.
            age: age of the newest state, s.
            now: time, s.
            numbers: positions and velocities of the newest state, each (n,); a state that repeats them is frozen.
        """
        if not self.commands:
            self._limiter.start(applied, now)
            self._freshness.restart(now, age, numbers)
        self.modes.enter(mode)
        self._logged.clear()
        self._limiter.ramp(now, self.policy.ramp_time)

    def leave(self, now: float) -> None:
        """Ramp to the hold effort over the ramp time, then end commands."""
        self.modes.leave()
        if not self.commands or self.policy.stop_behaviour == "none":
            self._silence()
        else:
            self._limiter.ramp(now, self.policy.ramp_time)

    def stop(self, kind: str, detail: str = "") -> None:
        """Stop the mode: commands slew to the safe effort."""
        self._report(kind, f"stopped: {kind}{detail}")
        self.modes.stop(kind + detail)
        self._limiter.end_ramp()
        if self.policy.stop_behaviour == "none":
            self._silence()

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

    def supervise(
        self, seen: GuardInput, control_effort: Callable[[Mode], Array], safe: Array, hold: Array
    ) -> Array | None:
        """Return the command at a state, N m or N, shape (n,), or None if there is no command.

        Args:
            seen: input of the conditions.
            control_effort: control law of the active modes; it returns an effort, N m or N, shape (n,).
            safe: effort that compensates gravity and brakes the arm, N m or N, shape (n,).
            hold: effort that only compensates gravity, N m or N, shape (n,); a controller may hold it.
        """
        if not self._accept(seen):
            return None
        if self.modes.is_active:
            violation = find_violation(self.mode, seen, self.limits, self.policy.conditions)
            if violation is not None:
                self.stop(*violation)
        effort = self._control_effort(control_effort)
        if effort is not None:
            command, interventions = self._limiter.limit(effort, seen.now)
            for each in interventions:
                self._report(*each)
            return command
        return self._approach(hold if self.modes.leaving else safe, seen.now) if self.commands else None

    def ramp_down(self, hold: Array, now: float) -> Array | None:
        """Return the ramp-down command if states are late, or None; to be called every `RAMP_DOWN_PERIOD`.

        Args:
            hold: effort that compensates gravity at the last state, N m or N, shape (n,).
            now: time, s.
        """
        if not self._check_fresh(now) or not self._freshness.is_late(now) or self.policy.stop_behaviour == "none":
            return None
        age = now - self.state_at
        self._report("state late", f"no state for {1e3 * age:.0f} ms: commands ramp to the safe effort")
        return self._limiter.slew(self._limiter.saturate(self._safe_effort(hold)), now)

    def check_current(self, now: float) -> bool:
        """Return whether the newest command is still based on a fresh state; end commands if not."""
        if self.commands and self._freshness.is_stale(now):
            self.abort("state stale", ": too old when its command was ready")
        return self.commands

    def _accept(self, seen: GuardInput) -> bool:
        if not self._check_fresh(seen.now):
            return False
        return self._freshness.accept(seen.now, seen.age, seen.q, seen.qd)

    def _check_fresh(self, now: float) -> bool:
        """Return whether the arm is commanded; end commands if the newest accepted state is too old."""
        if self.commands and self._freshness.is_stale(now):
            self.abort("state stale", f": {self._freshness.why_stale(now)}")
        return self.commands

    def _control_effort(self, control_effort: Callable[[Mode], Array]) -> Array | None:
        """Return the effort of the control law; None without an active mode, or if it is not finite."""
        if not self.modes.is_active:
            return None
        effort = np.asarray(control_effort(self.mode), dtype=float)
        if not np.all(np.isfinite(effort)):
            self.stop("effort not finite")
            return None
        return effort

    def _safe_effort(self, effort: Array) -> Array:
        return np.zeros_like(effort) if self.policy.stop_behaviour == "zero_effort" else effort

    def _approach(self, safe: Array, now: float) -> Array:
        """Return the next command on the way to the safe effort; end commands there if the mode requires it."""
        target = self._limiter.saturate(self._safe_effort(safe))
        effort, _ = self._limiter.limit(target, now)
        arrived = not self._limiter.ramps and np.array_equal(effort, target)
        if arrived and (self.modes.leaving or self.policy.stop_behaviour == "zero_effort"):
            self._silence()
        return effort

    def _report(self, kind: str, text: str) -> None:
        self._events.append(Event(kind, text, logged=kind not in self._logged))
        self._logged.add(kind)
