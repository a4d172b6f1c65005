"""Stages 5 and 6, decide and limit: what is commanded at each state, and how modes are entered and left."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_supervisor import CommandSupervisor, SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.events import Event
from ros2_dyn.control.force_control import tip_mobility
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.mode_conditions import GuardInput, ModeConditions
from ros2_dyn.control.modes import Mode
from ros2_dyn.control.sampled_stability import limit_rate_to_sampling, longest_delay
from ros2_dyn.control.state_freshness import COMMAND_AGE_FRACTION, repeats
from ros2_dyn.dynamics import singular_values
from ros2_dyn.errors import ModeRefused
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.control_laws import ControlLaws, LawInput, least_free_speed
from ros2_dyn.runtime.effort_convention import total_effort
from ros2_dyn.runtime.loop_observer import LoopObserver
from ros2_dyn.runtime.mode_entry_checks import (
    check_controller_connected,
    check_delay,
    check_limits,
    check_margins,
    check_state_stream,
    check_target,
)
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.samples import CommandLink
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_pipeline import Observed
from ros2_dyn.runtime.target_wrench import TargetWrench
from ros2_dyn.runtime.update import Command, FailsafeConfig

COMMAND_HOLD_TIME = 0.5
"""For this time after a command, s, assume that the controller applies it; measured efforts lag behind."""


class ModeManager:
    """The modes of one arm."""

    def __init__(self) -> None:
        self.link = CommandLink()
        """The other side of the commands."""
        self.armed: FailsafeConfig | None = None
        """What the failsafe process is armed with."""
        self.target: TargetWrench | None = None
        """What mode force follows."""
        self._laws = ControlLaws()
        self._robot: RobotDynamics | None = None
        self._supervisor: CommandSupervisor | None = None
        self._latest: Observed | None = None
        self._before: Observed | None = None
        self._loop = LoopObserver()
        self._hold: Array | None = None
        self._sent: Array | None = None
        self._sent_at = -inf
        self._order: list[int] = []

    @property
    def mode(self) -> Mode:
        """The mode."""
        return "monitor" if self._supervisor is None else self._supervisor.mode

    @property
    def reason(self) -> str:
        """Why the last mode ended, where it did not end by request."""
        return "" if self._supervisor is None else self._supervisor.reason

    @property
    def commands(self) -> bool:
        """Whether commands leave."""
        return self._supervisor is not None and self._supervisor.commands

    def take_events(self) -> list[Event]:
        """Return what happened since the last call, and forget it."""
        return [] if self._supervisor is None else self._supervisor.take_events()

    # ---- the robot

    def use(self, robot: RobotDynamics) -> None:
        """Go on with another robot, or the same with other parameters; another description ends a mode."""
        before, supervisor = self._robot, self._supervisor
        model, settings = robot.model, robot.settings
        limits = command_limits(model, settings)
        self._robot = robot
        names = settings.command_joints or model.joint_names
        self._order = [model.joint_names.index(name) for name in names if name in model.joint_names]
        another = before is None or before.description is not robot.description
        if another:
            self.target = None  # its frame may be gone
        if before is None or before.model.joint_names != model.joint_names:
            self._before = self._latest = self._sent = None
            self._loop = LoopObserver()
        self._loop.use(settings)
        if supervisor is None or not supervisor.commands:
            self._supervisor = CommandSupervisor(limits, supervisor_policy(settings))
            if supervisor is not None:
                self._supervisor.modes.reason = supervisor.reason
        elif another:
            supervisor.replace_limits(limits)

    # ---- commands

    def on_state(self, observed: Observed) -> Command | None:
        """Return the command at a state, if any."""
        self._before, self._latest = self._latest, observed
        self._loop.on_state(observed)
        supervisor, robot = self._supervisor, self._robot
        if supervisor is None or robot is None or not supervisor.commands:
            return None
        state, now, settings = observed.state, observed.now, robot.settings
        loop = self._loop
        arm = robot.arm_state(state.measured, observed.terms, now, loop.lead)
        safe = gravity_compensation(arm, limit_rate_to_sampling(settings.stop_damping, *loop.times))
        hold = self._as_commanded(arm.gravity, arm)
        assist = settings.guiding_assist_gain > 0 and observed.seen is not None
        wrench = observed.seen.wrench.wrench if assist and observed.seen is not None else ()
        seen = LawInput(robot, state, observed.terms, arm, self.target, wrench, now, *loop.times, loop.gain)
        measured = self._measured_effort(observed, arm)
        if measured is not None:
            loop.on_effort(measured, supervisor.limits.effort)
        effort = supervisor.supervise(
            self._guard_input(supervisor.mode, observed, arm, now),
            lambda mode: self._as_commanded(self._laws.effort(mode, seen), arm),
            self._as_commanded(safe, arm),
            hold,
        )
        self._hold = self._hold if effort is None else hold
        if effort is not None:
            self._observe_energy(observed, arm)
        return self._command(effort, now)

    def on_time(self, now: float) -> Command | None:
        """Return the command where no state came for a while, if any."""
        if self._supervisor is None or self._hold is None:
            return None
        return self._command(self._supervisor.ramp_down(self._hold, now), now)

    def on_command_expired(self, now: float) -> None:
        """End commands where the newest was not published in time, s."""
        if self._supervisor is not None:
            self._supervisor.check_current(now)

    def on_link(self, link: CommandLink) -> None:
        """Take what is known of the other side; end commands without a receiver or without a failsafe process."""
        self.link = link
        if self._supervisor is None or not self.commands:
            return
        if link.subscribers == 0:
            self._supervisor.abort("no subscriber", f" on {link.topic}")
        elif self.failsafe_config() is not None and not link.failsafe_alive:
            self._supervisor.stop("failsafe lost", ": the process that would ramp to a safe effort has ended")

    def forget_collision(self) -> None:
        """Take notice that the collision was reset after the newest state."""
        if self._latest is not None:
            self._latest = self._latest._replace(collision=False)

    def stop(self, kind: str, detail: str = "") -> None:
        """Stop a mode that commands."""
        if self._supervisor is not None and self._supervisor.modes.is_active:
            self._supervisor.stop(kind, detail)

    def _command(self, effort: Array | None, now: float) -> Command | None:
        supervisor = self._supervisor
        if effort is None or supervisor is None or self._hold is None or self._robot is None:
            return None
        self._sent, self._sent_at = effort, now
        self._loop.on_command(now, effort)
        expires = supervisor.state_at + COMMAND_AGE_FRACTION * supervisor.policy.state_timeout
        return Command(effort, effort[self._order], self._hold, supervisor.state_at, expires)

    def _as_commanded(self, effort: Array, arm: ArmState) -> Array:
        """Return an effort as the controller expects it, from the whole joint effort."""
        assert self._robot is not None
        return effort - arm.gravity if self._robot.settings.command_effort == "gravity_compensated" else effort

    def _guard_input(self, mode: Mode, observed: Observed, arm: ArmState, now: float) -> GuardInput:
        desired, target_age, distance, sigma = observed.state.desired, 0.0, 0.0, inf
        if mode == "force":
            target_age = inf if self.target is None else now - self.target.received_at
            sigma = float(singular_values(arm.J)[-1])
        elif mode == "feed_forward":
            target_age = inf if desired is None else now - observed.state.desired_at
            distance = float(np.max(np.abs(arm.q - desired.q))) if desired is not None and desired.q else 0.0
        age = _age(observed, now)
        known = now, age, arm.q, arm.qd, target_age, distance, observed.collision, sigma
        return GuardInput(*known, self._loop.fed_energy, longest_delay(*self._loop.times), self._laws.reduced_for)

    # ---- modes

    def leave(self, now: float) -> None:
        """Return to monitor."""
        if self._supervisor is not None:
            self._supervisor.leave(now)

    def failsafe_config(self) -> FailsafeConfig | None:
        """Return what a failsafe process has to be armed with before a mode commands; None: none is needed."""
        supervisor = self._supervisor
        if supervisor is None or supervisor.policy.stop_behaviour == "none":
            return None
        policy, slew_rate = supervisor.policy, tuple(supervisor.limits.slew_rate.tolist())
        return FailsafeConfig(tuple(self._order), slew_rate, policy.state_timeout, policy.stop_behaviour)

    def check_entry(self, mode: Mode, now: float) -> tuple[Array, float, Array]:
        """Check whether a mode can be entered.

        Returns:
            what the joints exert, as it would be commanded, N m or N, shape (n,); the age of the newest state, s; and
            what carries the arm, as it would be commanded.

        Raises:
            ModeRefused: a condition does not hold.
        """
        robot, supervisor, latest = self._robot, self._supervisor, self._latest
        if robot is None or supervisor is None:
            raise ModeRefused(mode, "no robot_description has been received")
        settings = robot.settings
        check_limits(mode, robot.model, settings.command_joints)
        if latest is None:
            raise ModeRefused(mode, "no usable state on joint_states yet")
        arm = robot.arm_state(latest.state.measured, latest.terms, now)
        seen = self._guard_input(mode, latest, arm, now)
        check_state_stream(mode, seen.age, self._loop.period, latest.stamped, settings.state_timeout)
        if settings.detect_frozen and self._before is not None and repeats(_numbers(self._before), _numbers(latest)):
            raise ModeRefused(mode, "joint_states repeats the same numbers with velocities: the driver is frozen")
        check_target(mode, seen, supervisor.policy.conditions)
        if mode == "force" and self.target is not None:
            target = self.target.in_base_axes(latest.state.measured.q)
            check_delay(
                mode, self._loop.longest, least_free_speed(tip_mobility(arm), target, *self._loop.times), target
            )
        applied, hold = self._applied(latest, arm, now), self._as_commanded(arm.gravity, arm)
        check_margins(mode, supervisor.limits, arm.qd, applied, hold)
        check_controller_connected(mode, self.link)
        return applied, seen.age, hold

    def enter(self, mode: Mode, now: float) -> str:
        """Enter a mode; return what is commanded, in words.

        Raises:
            ModeRefused: a condition does not hold.
        """
        applied, age, hold = self.check_entry(mode, now)
        supervisor, robot = self._supervisor, self._robot
        assert supervisor is not None
        assert robot is not None
        assert self._latest is not None
        commanded = supervisor.commands
        supervisor.enter(mode, applied, age, now, _numbers(self._latest))
        self._hold = hold
        self._loop.begin(commanded)
        self._laws.begin(now)
        joints = [robot.model.joint_names[i] for i in self._order]
        return f"mode {mode}, commanding {joints} on {self.link.topic}"

    def _observe_energy(self, observed: Observed, arm: ArmState) -> None:
        """Sum what the law has fed into the arm since the state before."""
        assert self._supervisor is not None
        assert self._robot is not None
        supply = self._laws.supply if self._supervisor.modes.is_active and not self._supervisor.ramps else None
        if supply is not None:  # with gravity at the state itself, not where it is predicted
            raw = self._robot.settings.command_effort == "raw"
            supply = supply - arm.gravity + (np.array(observed.terms.gravity) if raw else 0.0)
        self._loop.observe_energy(supply)

    def _measured_effort(self, observed: Observed, arm: ArmState) -> Array | None:
        """Return the measured effort, as it would be commanded; None where it is not reported."""
        assert self._robot is not None
        measured, terms = observed.state.measured.effort, observed.terms
        if measured is None or not np.all(np.isfinite(measured)):
            return None
        total = total_effort(self._robot.settings.measured_effort, measured, terms.inverse_dynamics, terms.gravity)
        return self._as_commanded(np.array(total), arm)

    def _applied(self, latest: Observed, arm: ArmState, now: float) -> Array:
        """Return what the joints exert, as it would be commanded: the newest command, measured effort or gravity."""
        if self._sent is not None and now - self._sent_at < COMMAND_HOLD_TIME:
            return self._sent
        measured = self._measured_effort(latest, arm)
        return self._as_commanded(arm.gravity, arm) if measured is None else measured


def _age(observed: Observed, now: float) -> float:
    """Return the age of a state, s; negative where its stamp was ahead of the clock when it arrived.

    Such a state does not become usable by waiting: its age is how far ahead it was, or the time since then.
    """
    age = observed.now - observed.state.measured.measured_at if observed.stamped else inf
    since_arrival = now - observed.now
    if age >= 0:
        return age + since_arrival
    return since_arrival if since_arrival > -age else age


def _numbers(observed: Observed) -> tuple[Array, Array]:
    """Return the positions and velocities of a state."""
    measured = observed.state.measured
    return np.array(measured.q), np.array(measured.qd)


def command_limits(model: RobotModel, settings: Settings) -> CommandLimits:
    """Return what commands may be: fractions of the URDF's limits."""
    effort = settings.effort_scale * model.effort_limit
    velocity = settings.velocity_scale * model.velocity_limit
    return CommandLimits(model.joint_names, effort, settings.slew_rate * effort, velocity)


def supervisor_policy(settings: Settings) -> SupervisorPolicy:
    """Return when commands end, and how."""
    conditions = ModeConditions(
        settings.target_timeout,
        settings.tracking_tolerance,
        settings.collision_stop_modes,
        settings.singularity_threshold,
        settings.energy_budget,
    )
    return SupervisorPolicy(
        settings.ramp_time, settings.state_timeout, settings.detect_frozen, settings.stop_behaviour, conditions
    )
