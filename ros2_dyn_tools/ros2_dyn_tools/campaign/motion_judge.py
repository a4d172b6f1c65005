# SPDX-License-Identifier: Apache-2.0
"""The judge of the arm's motion: what a commanded arm must not do, from what the simulated arm does.

The judge knows the true arm, the messages on the command topic and the modes; it asks the runtime nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.arm_truth import ArmTruth
from ros2_dyn_tools.campaign.contact_rule import ContactRule, SpringLimits
from ros2_dyn_tools.campaign.handover_rule import HandoverRule
from ros2_dyn_tools.campaign.motion_rules import (
    FAILS,
    HELD_TIME,
    HELD_TOLERANCE,
    REST_SPEED,
    UNSAFE_HELD,
    EffortRateRule,
    EnergyRule,
    Finding,
    Instant,
    LimitRule,
    TipRule,
)
from ros2_dyn_tools.campaign.stop_rule import StopRule, can_brake

SILENCE = 0.15
"""A node whose last command is older than this, s, or than `state_timeout` if that is longer, does not command."""
MEMORY = 0.3
"""Time after a push, and after the model was wrong, during which that still explains a motion, s."""
RECOVERY_TIME = 0.2
"""Time after states were unusable from which on a stop is judged, s."""
LAST_PROCESS_TIME = 1.0
"""A node that dies or hangs within this time after its failsafe process died, s, leaves nothing that could command."""
SETTLE_TIME = 0.3
"""Time after the ramp into a mode, or after a push, from which the energy is judged, s."""


class MotionJudge:
    """Judges what the arm does; see `motion_rules` for the rules.

    A stop is: mode stopped, the end of a mode by request, the death of the node, the end of its commands, or the end of
    a push in mode stopped. It is judged unless

    - something else moves the arm (`suspend`): a hand, a force, a wall, another controller or commander, or commands
      that do not reach the controller;
    - another mode is entered;
    - `stop_behaviour` is not hold_gravity: a robot without brakes then falls, as declared;
    - the permitted efforts and slew rates cannot brake the arm: see `can_brake`;
    - states are unusable (`blind`): nothing is known then that could brake the arm. The stop is judged anew later.

    Where the model is wrong (`ArmTruth.model_fits`, or the wiring) and a stopped arm speeds up, the robot's stop
    service has to be called: no effort brakes a joint whose commands reach another one, or with another sign. The other
    rules are not applied. The stop is judged anew when the model is right. The service may not be called where nothing
    explains that the stop fails, not even a model that dry friction does not correct. Where something does, the brakes
    have the arm from the call on, until the next mode.
    """

    def __init__(
        self,
        truth: ArmTruth,
        limits: CommandLimits,
        stop_behaviour: StopBehaviour,
        ramp_time: float = 0.0,
        state_timeout: float = 0.1,
        soft_limit_margin: float = 0.2,
        max_tip_speed: float = 0.25,
        compensated: bool = False,
        stop_damping: float = inf,
        spring: SpringLimits | None = None,
    ) -> None:
        """Create a judge.

        Args:
            truth: the arm, and what the node was told of it.
            limits: permitted efforts and slew rates, in the description's order.
            stop_behaviour: command after a stop.
            ramp_time: duration of the ramp into a mode, s.
            state_timeout: maximum age of a state, s.
            soft_limit_margin: distance from a joint limit at which hand-guiding pushes back, rad or m.
            max_tip_speed: speed of the tip above which hand_guiding and force stop, m/s.
            compensated: whether the robot adds gravity to its commands itself.
            stop_damping: rate at which a stopped arm is damped, 1/s.
            spring: limits of mode impedance; None: it has no spring.
        """
        arm = truth.arm
        self._truth, self._limits, self._behaviour, self._compensated = truth, limits, stop_behaviour, compensated
        self._stop_damping = stop_damping
        self._silence = max(SILENCE, 1.5 * state_timeout)
        self._to_arm = [limits.joint_names.index(name) for name in arm.joint_names]
        self._stops = StopRule(arm.joint_names)
        soft = (arm.lower + soft_limit_margin, arm.upper - soft_limit_margin)
        self._energy = EnergyRule(ramp_time + SETTLE_TIME, soft)
        self._rate = EffortRateRule(limits)
        self._tip, self.contact = TipRule(max_tip_speed), ContactRule(truth.tip_mass, spring)
        self.handover = HandoverRule(arm.joint_names)
        self._rules = (
            self._stops,
            self._energy,
            self._tip,
            self.contact,
            self.handover,
            LimitRule(arm.joint_names, arm.lower, arm.upper),
        )
        self._suspended: dict[str, int] = {}
        self._miswired = self._blind = 0
        self._stoppable = self._was_free = True
        self._called = self._braked = False
        """Whether the stop service was called for a reason since the mode was entered."""
        self._failsafe_commands = self._lets_go = False
        self._mode = ""
        self._last: list[float] | None = None
        self._last_at = self._pushed_at = self._wrong_at = self._blind_at = -inf
        self._failsafe_lost_at = self._free_since = -inf
        self._held_at: list[float] = []
        self._silent = self._held_judged = True
        self._follows = False
        """Whether the next command is of a process that knows the last one."""
        self._disturbed = False
        """Whether since our last command something else has set what the controller holds, or what it has to hold."""

    @property
    def judged_stops(self) -> int:
        """Number of stops that were judged up to rest."""
        return self._stops.judged

    # ---- what happens

    def suspend(self, why: str, active: bool) -> None:
        """Note that something else moves the arm, from now on or no longer; it sets what is held after the commands."""
        self._disturbed = self._disturbed or active
        self.handover.clear()
        self._suspended[why] = self._suspended.get(why, 0) + (1 if active else -1)

    def miswire(self, active: bool) -> None:
        """Note that commands reach other joints than told, or with another sign, from now on or no longer."""
        self._miswired += 1 if active else -1
        self._disturbed = self._disturbed or active

    def on_load_changed(self) -> None:
        """Note that the arm carries something else: what was held does not fit any more, and a stop is judged anew."""
        self._disturbed = True
        self._stops.clear()
        self._was_free = False

    def blind(self, active: bool) -> None:
        """Note that states do not come, or that no command may be based on them, from now on or no longer."""
        self._blind += 1 if active else -1

    def on_mode(self, mode: str, now: float, q: Array, qd: Array) -> None:
        """Take note of a mode of the node at a time, s; empty where the node is dead."""
        before, self._mode = self._mode, mode
        self._rate.on_mode()
        if mode in ("stopped", "monitor", ""):
            if before not in ("monitor", ""):
                self._begin_stop(now, q, qd)
        else:
            self._stops.clear()
            self._braked = False

    def on_failsafe(self, commands: bool, now: float, q: Array, qd: Array) -> None:
        """Take note of a failsafe process that takes over, which is a stop, or ends, at a time, s."""
        self._failsafe_commands = commands
        if commands:
            self._stops.clear()
            self._begin_stop(now, q, qd)

    def on_failsafe_lost(self, now: float) -> None:
        """Take note of the death of the failsafe process at a time, s; if it commands, nothing is left that does."""
        self._failsafe_lost_at = now
        if self._failsafe_commands:
            self._stops.clear()
            self._held_judged = self._silent = True
        self._failsafe_commands = False

    def on_stop_called(self) -> None:
        """Take note of a call of the robot's stop service, before the next instant."""
        self._called = True

    def on_brakes(self) -> None:
        """Take note that the brakes have the arm, for a reason, until the next mode."""
        self._braked = True
        self.handover.clear()

    def on_node_lost(self, now: float) -> None:
        """Take note of a node that dies or hangs at a time, s; where nothing is left, the held effort is not judged."""
        if now - self._failsafe_lost_at < LAST_PROCESS_TIME:
            self._held_judged = True

    def on_placed(self, now: float) -> None:
        """Take note of an arm that was placed somewhere else at a time, s."""
        self._stops.clear()
        self._pushed_at = now
        self._held_judged = True

    def begin_sequence(self) -> None:
        """Take the next command as the first of a process that knows none before: how it changes is not judged."""
        self._follows = False

    def on_command(self, effort: Sequence[float], now: float, q: Array) -> list[Finding]:
        """Return what is wrong with a command of the node or its failsafe process.

        Args:
            effort: in the description's order, N m or N.
            now: time, s.
            q: true joint positions in the arm's order, rad or m, shape (n,).
        """
        found = []
        if self._follows and self._last is not None and now - self._last_at < self._silence:
            found = self._rate.on_change(np.subtract(effort, self._last), now - self._last_at)
        else:
            self._rate.restart()
        self._lets_go = self._behaviour == "zero_effort" and self._falls(effort, now)
        self._last, self._last_at, self._held_at = list(effort), now, q.tolist()
        self._silent = self._held_judged = False
        self._follows = True
        self._disturbed = any(self._suspended.values()) or self._miswired > 0
        return found

    def _falls(self, effort: Sequence[float], now: float) -> bool:
        """Return whether a command goes to zero in all joints, and in one of them as fast as it may."""
        left = np.abs(effort)
        if self._last is None or not np.any(left):
            return not np.any(left)
        change = np.abs(self._last) - left
        step = self._limits.slew_rate * min(max(now - self._last_at, 1e-3), MAX_SLEW_STEP)
        return bool(np.all(change >= 0) and np.any(change >= 0.5 * step))

    # ---- instants

    def see(self, t: float, q: Array, qd: Array, tip_speed: float, contact_force: float, pushed: bool) -> list[Finding]:
        """Return what is found at an instant.

        Args:
            t: time, s.
            q: joint positions in the arm's order, rad or m, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,).
            tip_speed: m/s.
            contact_force: resultant of all contacts, N.
            pushed: whether a hand or a force acts.
        """
        if pushed or self._lets_go:
            self._pushed_at = t
        found = []
        if not self._silent and t - self._last_at > self._silence:
            self._silent = True
            self._begin_stop(t, q, qd)
        if self._silent and self._disturbed:
            self._stops.clear()
        if not self._held_judged and t - self._last_at >= HELD_TIME:
            self._held_judged = True
            found += [] if self._disturbed or self._braked else self._judge_held()
        positions, velocities = q.tolist(), qd.tolist()
        terms = self._truth.terms(positions, velocities)
        pushed = t - self._pushed_at < MEMORY
        overruled = any(self._suspended.values()) or self._braked
        if self._miswired or not self._truth.model_fits(terms):
            self._wrong_at = t
        if self._blind:
            self._blind_at = t
        right, sees = t - self._wrong_at >= MEMORY, t - self._blind_at >= RECOVERY_TIME
        mode = "stopped" if self._failsafe_commands or self._lets_go else self._mode
        mode = "" if self._silent else mode
        stoppable = self._stoppable and not self._lets_go
        now = Instant(
            t, positions, velocities, tip_speed, mode, contact_force, pushed, overruled, right, sees, stoppable, terms
        )
        if self._called:
            self._called = False
            found += self._judge_call(now)
        free = now.alone and right and sees
        self._free_since = self._free_since if free else t
        if free and not self._was_free and mode == "stopped":
            self._begin_stop(t, q, qd)
        self._was_free = free
        for rule in self._rules:
            found += rule.see(now)
        return found

    def _judge_call(self, now: Instant) -> list[Finding]:
        """Return what is wrong with a call of the stop service; where it has a reason, the brakes have the arm."""
        lately = now.t - self._free_since < MEMORY
        if lately or not (now.informed and now.stoppable) or self._behaviour != "hold_gravity":
            self.on_brakes()
            return []
        if not self._truth.friction_holds(now.terms):
            return []
        return [Finding(FAILS, "", float(np.max(np.abs(now.qd))), REST_SPEED)]

    def _begin_stop(self, t: float, q: Array, qd: Array) -> None:
        if self._braked or self._behaviour != "hold_gravity" or self._last is None:
            self._stoppable = self._behaviour == "hold_gravity"
            return
        order, truth = self._to_arm, self._truth
        gravity = np.array(truth.terms(q.tolist(), qd.tolist()).gravity)
        effort = np.array(self._last)[order] + (gravity if self._compensated else 0.0)
        limit, slew_rate = self._limits.effort[order], self._limits.slew_rate[order]
        self._stoppable = can_brake(qd, effort, gravity, limit, slew_rate, truth.inertias(q), self._stop_damping)
        if self._stoppable:
            self._stops.begin(t, q, qd)

    def _judge_held(self) -> list[Finding]:
        """Return the joint whose held effort is farthest from the declared safe one, if dry friction does not hold it.

        Gravity is that of the told model or the true one, or between them, because the node may have refused what it
        was told.
        """
        if self._behaviour == "none" or self._last is None:
            return []
        told = true = np.zeros(len(self._last))
        if self._behaviour == "hold_gravity":
            told, true = map(np.array, self._truth.gravities(self._held_at))
        if self._compensated:
            told, true = np.zeros(len(told)), true - told
        limit = self._limits.effort
        low, high = np.clip(np.minimum(told, true), -limit, limit), np.clip(np.maximum(told, true), -limit, limit)
        errors = np.maximum(0.0, np.maximum(low - self._last, self._last - high))
        allowed = HELD_TOLERANCE * limit + self._truth.held_by_friction()
        i = int(np.argmax(errors / allowed))
        if errors[i] <= allowed[i]:
            return []
        return [Finding(UNSAFE_HELD, self._limits.joint_names[i], float(errors[i]), float(allowed[i]))]
