"""The guard that every command passes: what it lets through is finite, bounded, without steps, and of a fresh state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array

Mode = Literal["monitor", "gravity", "hand_guiding", "feed_forward", "force", "stopped"]
COMMANDING: tuple[Mode, ...] = ("gravity", "hand_guiding", "feed_forward", "force")
"""Modes that can be entered and command. `monitor` commands nothing; `stopped` is what a stop leads to."""
WITH_TARGET: tuple[Mode, ...] = ("feed_forward", "force")
"""Modes that follow a target, and stop without one."""
StopBehaviour = Literal["gravity", "zero", "cease"]
LONGEST_STEP = 0.02
"""Time, s, that one command may use of the slew rate at most, however long ago the last one was."""
EASE_PERIOD = 0.01
"""How often `EffortGuard.ease` is to be called, s."""
YOUNG = 0.8
"""Share of the state timeout that a state's age may be where a command is made of it: it has to get out, too."""
EASING = 0.4
"""Share of the state timeout after which, without a state, commands pass to the safe effort while they still may."""


@dataclass(frozen=True)
class Limits:
    """What the joints bear; arrays of shape (n,)."""

    joint_names: tuple[str, ...]
    effort: Array
    """N m or N."""
    slew: Array
    """N m/s or N/s."""
    velocity: Array
    """rad/s or m/s."""


@dataclass(frozen=True)
class GuardPolicy:
    """When commands end, and how."""

    ramp_time: float = 0.5
    """Over which a mode that is entered or left passes to its efforts, s."""
    state_timeout: float = 0.1
    """Age of a state beyond which no command is sent on it, s."""
    target_timeout: float = 0.1
    """Age of a target beyond which a mode that follows one stops, s."""
    detect_frozen: bool = True
    """Whether a state that repeats the numbers of the one before, with velocities other than zero, is no new state."""
    tracking_tolerance: float = 0.3
    """Distance from the target beyond which a mode that follows one stops, rad or m."""
    stop_behaviour: StopBehaviour = "gravity"
    """What a stop leads to: gravity compensation; no effort, and silence; or silence at once."""
    collision_modes: tuple[str, ...] = ("gravity", "feed_forward")
    """Modes that a collision stops: in the others contact is what they are for."""
    singularity_threshold: float = 0.02
    """Smallest singular value of the Jacobian below which the force mode stops."""


class View(NamedTuple):
    """What the guard is told with each state."""

    now: float
    """Time of a steady clock, s."""
    age: float
    """Of the state, by its stamp and the clock it is of, s."""
    q: Array
    """Shape (n,)."""
    qd: Array
    """Shape (n,)."""
    target_age: float = 0.0
    """s; inf: there is none."""
    target_distance: float = 0.0
    """Of the joint that is farthest from it, rad or m."""
    collision: bool = False
    """Whether one is latched."""
    min_singular_value: float = inf
    """Of the tip's Jacobian."""


class EffortGuard:
    """Passes on what the laws of the modes command, shaped, or ends the mode.

    A stop takes effect at once: from the same state on the command slews to the safe effort (`stop_behaviour`). Without
    new states, and where stamps and the clock do not agree, `ease` goes there while the last state is young enough;
    then there is silence, because no command is to be made of a state that is too old. Neither ends by itself: a mode
    has to be entered again.
    """

    def __init__(self, limits: Limits, policy: GuardPolicy) -> None:
        self.limits, self.policy = limits, policy
        self.mode: Mode = "monitor"
        self.reason = ""
        """Why the last mode ended, where it did not end by request."""
        self.count: Counter[str] = Counter()
        """Interventions by kind."""
        self.news: list[str] = []
        """What is to be logged: each kind once in a mode."""
        self.last: Array | None = None
        """The newest command, N m or N, shape (n,); None: nothing is commanded."""
        self._last_at = 0.0
        self.state_at = -inf
        """When the newest state that was used was measured, s."""
        self._said: set[str] = set()
        self._from: Array | None = None
        self._begun = 0.0
        self._leaves = False
        self._trouble = ""
        """What is wrong with the states that came since."""
        self._numbers: tuple[Array, Array] | None = None

    # ---- modes

    @property
    def commands(self) -> bool:
        """Whether commands leave."""
        return self.last is not None

    def enter(self, mode: Mode, applied: ArrayLike, age: float, now: float) -> None:
        """Begin to command, from what the joints exert now.

        Args:
            mode: one of `COMMANDING`.
            applied: efforts, N m or N, shape (n,), within the limits; not used where commands leave already.
            age: of the newest state, s.
            now: time of a steady clock, s.
        """
        if self.last is None:
            self.last = np.array(applied, dtype=float)
            self._last_at, self.state_at = now, now - age
            self._trouble, self._numbers = "", None
        self._set(mode, "")
        self._said.clear()
        self._ramp(now)

    def go_on_from(self, last: Array, last_at: float, state_at: float) -> None:
        """Take over from another guard that commanded: its newest command, and when that and its state were, s."""
        self.last, self._last_at, self.state_at = last, last_at, state_at

    def leave(self, now: float) -> None:
        """Pass to the safe effort over the ramp time, and command nothing from then on."""
        self.reason = ""
        if self.last is None or self.policy.stop_behaviour == "cease":
            self._fall_silent()
        else:
            self.mode, self._leaves = "monitor", True
            self._ramp(now)

    def stop(self, kind: str, detail: str = "") -> None:
        """End the mode for a reason; `lose`, where that is no state to go on with."""
        self._note(kind, f"stopped: {kind}{detail}")
        self._set("stopped", kind + detail)
        if self.policy.stop_behaviour == "cease":
            self._fall_silent()

    def end_with(self, limits: Limits) -> None:
        """The robot has become another: stop, or fall silent where the command does not fit it."""
        fits = limits.joint_names == self.limits.joint_names
        if fits and self.last is not None and np.all(np.abs(self.last) <= limits.effort):
            self.limits = limits
            self.stop("robot changed")
        else:
            self.lose("robot changed")
            self.limits = limits

    def lose(self, kind: str, detail: str = "") -> None:
        """End the mode in silence."""
        self._note(kind, f"commands end: {kind}{detail}")
        self.reason = kind + detail
        self._fall_silent()

    def _set(self, mode: Mode, reason: str) -> None:
        self.mode, self.reason, self._from, self._leaves = mode, reason, None, False

    def _fall_silent(self) -> None:
        self.mode, self.last, self._from, self._leaves = "monitor", None, None, False

    def _ramp(self, now: float) -> None:
        self._from, self._begun = self.last, now

    # ---- commands

    def command(self, view: View, law: Callable[[Mode], Array], safe: Array, held: Array) -> Array | None:
        """What to send at a state, N m or N, shape (n,); None: nothing.

        Args:
            view: of the state.
            law: gives the effort of a mode that commands, N m or N, shape (n,).
            safe: effort that carries and brakes the arm, N m or N, shape (n,).
            held: effort that only carries it: what a controller may go on with.
        """
        if not (self.commands and self._usable(view)):
            return None
        if self.mode in COMMANDING:
            self._check_mode(view)
        effort = self._lawful(law)
        if effort is not None:
            return self._shape(effort, view.now)
        return self._safely(held if self._leaves else safe, view.now) if self.commands else None

    def ease(self, held: Array, now: float) -> Array | None:
        """What to send where no state came for a while; None: nothing. To be called every `EASE_PERIOD`.

        Args:
            held: effort that only carries the arm at the last state, N m or N, shape (n,).
            now: time of a steady clock, s.
        """
        if self.last is None:
            return None
        age = now - self.state_at
        if self._stale(age) or age < EASING * self.policy.state_timeout or self.policy.stop_behaviour == "cease":
            return None
        self._note("state late", f"no state for {1e3 * age:.0f} ms: passing to the safe effort")
        return self._slew(self._bounded(self._safe(held)), now, note=False)

    def fresh(self, age: float) -> bool:
        """Whether a command may be made of a state of an age, s."""
        return abs(age) <= YOUNG * self.policy.state_timeout

    def _lawful(self, law: Callable[[Mode], Array]) -> Array | None:
        """What the law of the mode commands; None: nothing, or nothing that makes sense."""
        if self.mode not in COMMANDING:
            return None
        effort = np.asarray(law(self.mode), dtype=float)
        if not np.all(np.isfinite(effort)):
            self.stop("effort not finite")
            return None
        return effort

    def _usable(self, view: View) -> bool:
        """Whether a state is a new one, and young enough; if not, it is as if it had not come."""
        if self._stale(view.now - self.state_at):
            return False
        side = "behind" if view.age > 0 else "ahead of"
        if not self.fresh(view.age):
            self._trouble = f": its stamp is {abs(view.age):.3f} s {side} the clock"
        elif self.policy.detect_frozen and self._repeats(view):
            self._trouble = ": it repeats the same numbers, though with velocities"
        else:
            self._trouble, self.state_at = "", view.now - max(view.age, 0.0)
        return not self._trouble

    def _stale(self, age: float) -> bool:
        """Whether the newest state that was used has become too old, s: then there is silence."""
        if not self.fresh(age):
            self.lose("state stale", self._trouble or f": none for {age:.3f} s")
        return not self.commands

    def _repeats(self, view: View) -> bool:
        """Whether an arm with velocities reports the numbers that it reported before."""
        same = self._numbers is not None and all(map(np.array_equal, self._numbers, (view.q, view.qd)))
        self._numbers = (view.q, view.qd)
        return same and bool(np.any(view.qd))

    def _check_mode(self, view: View) -> None:
        """Stop where the mode may not go on."""
        policy = self.policy
        fast = np.flatnonzero(np.abs(view.qd) > self.limits.velocity)
        if fast.size:
            i = int(fast[0])
            allowed = f"{self.limits.velocity[i]:.3g} rad/s or m/s are allowed"
            self.stop("too fast", f": '{self.limits.joint_names[i]}' moves with {view.qd[i]:.3g}, {allowed}")
        elif view.collision and self.mode in policy.collision_modes:
            self.stop("collision")
        elif self.mode in WITH_TARGET and not view.target_age <= policy.target_timeout:
            self.stop("target stale", f": {view.target_age:.3f} s old")
        elif self.mode in WITH_TARGET and not view.target_distance <= policy.tracking_tolerance:
            self.stop("target far", f": {view.target_distance:.3g} rad or m from it")
        elif self.mode == "force" and view.min_singular_value < policy.singularity_threshold:
            self.stop("singularity", f": smallest singular value {view.min_singular_value:.3g}")

    # ---- shaping

    def _safe(self, safe: Array) -> Array:
        return np.zeros_like(safe) if self.policy.stop_behaviour == "zero" else safe

    def _safely(self, safe: Array, now: float) -> Array:
        """On the way to the safe effort; silent from the next time on where it has arrived and is to be."""
        target = self._bounded(self._safe(safe))
        effort = self._slew(self._blended(target, now), now, note=False)
        arrived = self._from is None and np.array_equal(effort, target)
        if arrived and (self._leaves or self.policy.stop_behaviour == "zero"):
            self._fall_silent()
        return effort

    def _shape(self, effort: Array, now: float) -> Array:
        bounded = self._bounded(effort)
        self._note_change("effort limit", effort, bounded)
        return self._slew(self._blended(bounded, now), now, note=True)

    def _bounded(self, effort: Array) -> Array:
        return np.clip(np.nan_to_num(effort), -self.limits.effort, self.limits.effort)

    def _blended(self, effort: Array, now: float) -> Array:
        """Between where the ramp began and an effort."""
        if self._from is None:
            return effort
        s = (now - self._begun) / self.policy.ramp_time if self.policy.ramp_time > 0 else 1.0
        if s >= 1:
            self._from = None
            return effort
        return self._from + max(s, 0.0) * (effort - self._from)

    def _slew(self, effort: Array, now: float, note: bool) -> Array:
        assert self.last is not None  # who calls this commands
        step = self.limits.slew * min(max(now - self._last_at, 0.0), LONGEST_STEP)
        slewed = np.clip(effort, self.last - step, self.last + step)
        if note:
            self._note_change("slew limit", effort, slewed)
        self.last, self._last_at = slewed, now
        return slewed

    def _note_change(self, kind: str, wanted: Array, given: Array) -> None:
        changed = np.flatnonzero(wanted != given)
        if changed.size:
            i = int(changed[0])
            self._note(kind, f"{kind} of '{self.limits.joint_names[i]}': {given[i]:.4g} for {wanted[i]:.4g} N m or N")

    def _note(self, kind: str, text: str) -> None:
        self.count[kind] += 1
        if kind not in self._said:
            self._said.add(kind)
            self.news.append(text)
