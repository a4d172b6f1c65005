# SPDX-License-Identifier: Apache-2.0
"""Stages 5 and 6, decide and limit: what is commanded at each state, and how modes are entered and left."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_supervisor import BrakeInput, CommandSupervisor
from ros2_dyn.control.events import Event
from ros2_dyn.control.force_control import tip_mobility
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.mode_conditions import GuardInput
from ros2_dyn.control.mode_settings import HandGuidingSettings
from ros2_dyn.control.model_doubt import CONTROLLER_DOES_NOT_FOLLOW
from ros2_dyn.control.modes import WALLED_MODES, Mode
from ros2_dyn.control.position_limits import WallPlacement
from ros2_dyn.control.sampled_stability import limit_rate_to_sampling
from ros2_dyn.control.state_freshness import COMMAND_AGE_FRACTION
from ros2_dyn.errors import InputError, ModeRefused
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.control_laws import ControlLaws, least_free_speed, walls
from ros2_dyn.runtime.control_policy import command_limits, position_limits, supervisor_policy
from ros2_dyn.runtime.effort_convention import commanded_effort, total_effort
from ros2_dyn.runtime.gain_ramp import GainRamp
from ros2_dyn.runtime.guard_input import guard_input, state_age
from ros2_dyn.runtime.handover_hold import HandoverHold
from ros2_dyn.runtime.handover_protocol import ArmView, HandoverStep
from ros2_dyn.runtime.inputs import CommandLink
from ros2_dyn.runtime.law_input import LawInput
from ros2_dyn.runtime.loop_observer import LoopObserver, LoopReport
from ros2_dyn.runtime.mode_entry_checks import (
    check_controller_connected,
    check_delay,
    check_description,
    check_enabled,
    check_limits,
    check_margins,
    check_model,
    check_motion,
    check_positions,
    check_state_stream,
    check_target,
)
from ros2_dyn.runtime.model_monitor import ModelDifference, ModelMonitor
from ros2_dyn.runtime.payload_check import check_payload
from ros2_dyn.runtime.rest_holding import RestHolding
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_pipeline import Observed
from ros2_dyn.runtime.target_hybrid import TargetHybrid
from ros2_dyn.runtime.target_pose import TargetPose
from ros2_dyn.runtime.target_wrench import TargetWrench
from ros2_dyn.runtime.update import Command, FailsafeConfig, LastCommand

COMMAND_HOLD_TIME = 0.5
"""For this time after a command, s, assume that the controller applies it; measured efforts lag behind."""
YIELD_TIME = 1.0
"""Time for which the arm is braked before another commander has it alone, s."""


class ModeManager:
    """The modes of one arm."""

    def __init__(self) -> None:
        self._link = CommandLink()
        self._target: TargetWrench | TargetHybrid | None = None
        self._target_pose: TargetPose | None = None
        self._laws = ControlLaws()
        self._rest = RestHolding()
        self._gains = GainRamp()
        self._walls = WallPlacement()
        self._enabled_at = -inf
        self._walls_at: float | None = None
        self._monitor = ModelMonitor()
        self._events: list[Event] = []
        self._robot: RobotDynamics | None = None
        self._supervisor: CommandSupervisor | None = None
        self._latest: Observed | None = None
        self._loop = LoopObserver()
        self._hold: Array | None = None
        self._sent: Array | None = None
        self._sent_at = -inf
        self._order: list[int] = []
        self._rival_at = inf

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

    @property
    def intends_contact(self) -> bool:
        """Whether a mode commands in which a contact is no collision."""
        supervisor = self._supervisor
        if supervisor is None or not supervisor.is_active:
            return False
        return supervisor.mode not in supervisor.policy.conditions.collision_stop_modes

    @property
    def target(self) -> TargetWrench | TargetHybrid | None:
        """The desired wrench, or None before there is one."""
        return self._target

    @property
    def target_pose(self) -> TargetPose | None:
        """The desired pose of the tip, or None before there is one."""
        return self._target_pose

    @property
    def link(self) -> CommandLink:
        """The other side of the commands."""
        return self._link

    @property
    def loop(self) -> LoopReport:
        """How late the loop is, and what that costs."""
        return self._loop.report(self._laws.stiffness_share if self.mode == "impedance" else 1.0)

    def take_events(self) -> list[Event]:
        """Return what happened since the last call, and forget it."""
        events, self._events = self._events, []
        return events if self._supervisor is None else events + self._supervisor.take_events()

    # ---- the robot

    def use(self, robot: RobotDynamics, now: float) -> None:
        """Go on with another robot, or with other parameters, at a time, s; another description ends a mode."""
        before, supervisor = self._robot, self._supervisor
        model, settings = robot.model, robot.settings
        limits = command_limits(model, settings)
        self._robot = robot
        self._monitor.use(robot)
        names = settings.commands.joints or model.joint_names
        self._order = [model.joint_names.index(name) for name in names if name in model.joint_names]
        another = before is None or before.description is not robot.description
        if another:
            self._target = self._target_pose = None  # their frames may be gone
        if before is None or before.model.joint_names != model.joint_names:
            self._latest = self._sent = None
            self._rest = RestHolding()
            self._loop = LoopObserver()
        self._loop.use(settings)
        if supervisor is None or not supervisor.commands:
            reason = "" if supervisor is None else supervisor.reason
            self._supervisor = CommandSupervisor(limits, supervisor_policy(settings), reason)
        elif before is None or another:
            supervisor.replace_limits(limits)
        else:
            self._gains.change(self._gains.at(before.settings, now), settings, now)

    # ---- commands

    def on_state(self, observed: Observed) -> Command | None:
        """Return the command at a state, if any."""
        self._latest = observed
        self._monitor.add(observed)
        self._loop.on_state(observed)
        supervisor, robot = self._supervisor, self._robot
        if supervisor is None or robot is None:
            return None
        state, now, loop = observed.state, observed.now, self._loop
        self._rest.observe(robot, observed, supervisor)
        if not supervisor.commands:
            return None
        settings = self._gains.at(robot.settings, now)
        arm = robot.arm_state(state.measured, observed.terms, now, loop.lead)
        times = loop.times
        rate = limit_rate_to_sampling(settings.commands.stop_damping, *times)
        hold = self._as_commanded(arm.gravity, arm)
        assist = settings.mode(HandGuidingSettings).assist_gain > 0 and observed.seen is not None
        wrench = observed.seen.wrench.wrench if assist and observed.seen is not None else ()
        placed = self._place_walls(arm, settings, now)
        seen = LawInput(
            robot,
            settings,
            state,
            observed.terms,
            arm,
            self._target,
            self._target_pose,
            wrench,
            now,
            *times,
            placed,
            loop.gain,
        )
        measured = self._measured_effort(observed, arm)
        if measured is not None:
            loop.on_effort(measured, supervisor.limits.effort)
            if self._laws.hold is not None:
                self._laws.hold.on_effort(state.measured.measured_at, measured)
        doubt = self._monitor.check(supervisor.mode, observed, arm, self._laws.wrench)
        follows = measured is not None and (doubt is None or doubt.kind != CONTROLLER_DOES_NOT_FOLLOW)
        guard = self._guard_input(supervisor.mode, observed, arm, now)._replace(doubt=doubt)
        effort, accepted = None, supervisor.accept(guard)
        if accepted and supervisor.is_active:
            effort = supervisor.follow(self._as_commanded(self._laws.effort(supervisor.mode, seen), arm), hold, now)
        if accepted and supervisor.stops:
            obeyed = np.full(robot.model.n, bool(self._link.other_publishers))
            if follows:
                obeyed |= ~self._monitor.opposed(observed)
            damped = self._as_commanded(gravity_compensation(arm, rate) + walls(seen), arm)
            effort = supervisor.brake(guard, BrakeInput(arm, rate, hold, damped, obeyed))
        self._hold = self._hold if effort is None else supervisor.carried
        if effort is not None:
            self._observe_energy(observed, arm)
        return self._command(effort, now)

    def _place_walls(self, arm: ArmState, settings: Settings, now: float) -> tuple[Array, Array]:
        """Return the lower and upper limits that the soft walls belong to; they begin where the joints are."""
        assert self._robot is not None
        dt, self._walls_at = (None if self._walls_at is None else now - self._walls_at), now
        acting = dt if self.mode in WALLED_MODES else None
        robot, stopped = self._robot, self.mode == "stopped"
        return self._walls.place(arm.q, robot.lower, robot.upper, settings.commands.soft_limit_margin, acting, stopped)

    def on_time(self, now: float) -> Command | None:
        """Return the command where no state came for a while, if any."""
        if self._supervisor is None or self._hold is None:
            return None
        return self._command(self._supervisor.ramp_down(self._hold, now), now)

    def on_command_expired(self, now: float) -> None:
        """Take notice that the newest command was not published in time, s."""
        if self._supervisor is not None:
            self._supervisor.withdraw(now)

    def on_link(self, link: CommandLink, now: float) -> None:
        """Take what is known of the other side at a time, s; end commands that have no receiver, or a rival."""
        self._link = link
        if not link.other_publishers:
            self._rival_at = inf
        if self._supervisor is None or not self.commands:
            return
        if link.failsafe_commands:
            self._supervisor.abort("failsafe took over", ": this node was held up, and must not command beside it")
        elif link.subscribers == 0:
            self._supervisor.abort("no subscriber", f" on {link.topic}")
        elif self.failsafe_config() is not None and not link.failsafe_alive:
            self.stop("failsafe lost", ": the process that would take over has ended")
        if self.commands and link.other_publishers:
            self._yield(now)

    def _yield(self, now: float) -> None:
        """Give way to another commander, at a time, s: brake first, for it may be silent, and end commands then.

        Ending at once would leave an arbitrary effort at the controller if the other never sends one. To go on would be
        a fight that the arm shakes in.
        """
        assert self._supervisor is not None
        self._rival_at = min(self._rival_at, now)
        name = self._link.other_publishers[0]
        if now - self._rival_at >= YIELD_TIME:
            self._supervisor.abort("second commander", f": '{name}' publishes on {self._link.topic}, too")
        elif self._supervisor.is_active:
            self._supervisor.stop("second commander", f": '{name}' publishes on {self._link.topic}, too")

    def on_failsafe_armed(self) -> None:
        """Take notice that a failsafe process stands by."""
        self._link = self._link._replace(failsafe_alive=True)

    def on_target(self, target: TargetWrench | TargetPose) -> None:
        """Follow another wrench or pose, or both where it is a pose with a wrench along the free axes."""
        if isinstance(target, TargetPose):
            self._target_pose = target
        if isinstance(target, (TargetWrench, TargetHybrid)):
            self._target = target

    def on_enable(self, pressed: bool, now: float) -> None:
        """Take an enabling signal at a time, s; a release stops a mode that requires it."""
        self._enabled_at = now if pressed else -inf
        supervisor = self._supervisor
        if not pressed and supervisor is not None and supervisor.mode in supervisor.policy.conditions.require_enable:
            supervisor.stop("enable released", ": the enabling signal is released")

    def forget_collision(self) -> None:
        """Take notice that the collision was reset after the newest state."""
        if self._latest is not None:
            self._latest = self._latest._replace(collision=False)

    def on_handover(self, what: HandoverStep, now: float) -> None:
        """Hold the arm where it is during a handover, probe its controller, or let it go, at a time, s.

        Nothing is done but in mode gravity.
        """
        supervisor, robot, latest, laws = self._supervisor, self._robot, self._latest, self._laws
        if supervisor is None or robot is None or latest is None or supervisor.mode != "gravity":
            return
        if what == "hold":
            laws.hold = HandoverHold(np.array(latest.state.measured.q), now, supervisor.policy.ramp_time)
        elif laws.hold is not None and what == "probe":
            arm = robot.arm_state(latest.state.measured, latest.terms, now)
            laws.hold.begin_probe(arm, supervisor.limits.effort, self._loop.period, now)
        elif laws.hold is not None:
            laws.hold.release(now)

    def handover_view(self, now: float) -> ArmView:
        """Return what a handover sees of the arm at a time, s; without joints where there is no state."""
        supervisor, robot, latest, hold = self._supervisor, self._robot, self._latest, self._laws.hold
        if supervisor is None or robot is None or latest is None:
            return ArmView("monitor", "", True, (), np.zeros(0), None, None)
        settled = not supervisor.ramps and (hold is None or hold.settled(now))
        finding = None if hold is None or hold.probe is None or not hold.probe.ended(now) else hold.probe.finding()
        names, q = robot.model.joint_names, np.array(latest.state.measured.q)
        return ArmView(supervisor.mode, supervisor.reason, settled, names, q, supervisor.last, finding)

    def on_payload_changed(self) -> None:
        """Take notice that the robot carries something else from now on."""
        self._monitor.forget()
        self._rest.on_payload_changed()

    def model_difference(self, now: float) -> ModelDifference | None:
        """Return what the arm exerts beyond its model, or None without a state with a measured effort."""
        robot, latest = self._robot, self._latest
        if robot is None or latest is None:
            return None
        arm = robot.arm_state(latest.state.measured, latest.terms, now)
        return self._monitor.difference(latest, arm, self.mode, now)

    def stop(self, kind: str, detail: str = "") -> None:
        """Stop a mode that commands."""
        if self._supervisor is not None and self._supervisor.is_active:
            self._supervisor.stop(kind, detail)

    def _command(self, effort: Array | None, now: float) -> Command | None:
        supervisor = self._supervisor
        if effort is None or supervisor is None or self._hold is None or self._robot is None:
            return None
        q = None if self._latest is None else self._latest.state.measured.believed_q
        data = self._robot.command_conversion.data(effort, q)
        if data is None:
            return None
        self._sent, self._sent_at = effort, now
        self._monitor.command(effort, now)
        self._loop.on_command(now, effort)
        if self._laws.hold is not None:
            self._laws.hold.on_command(now, effort)
        based_at = now if supervisor.stateless else supervisor.state_at
        expires = based_at + COMMAND_AGE_FRACTION * supervisor.policy.state_timeout
        payload = tuple(self._robot.payload.at(now))
        found = supervisor.found
        return Command(effort, data[self._order], self._hold, supervisor.state_at, expires, payload, found)

    def _as_commanded(self, effort: Array, arm: ArmState) -> Array:
        """Return an effort as the controller expects it, from the whole joint effort."""
        assert self._robot is not None
        return commanded_effort(self._robot.settings.commands.command_effort, effort, arm.gravity)

    def _guard_input(self, mode: Mode, observed: Observed, arm: ArmState, now: float) -> GuardInput:
        """Return what the conditions of a mode are about, at a state."""
        assert self._robot is not None
        seen = guard_input(
            mode,
            self._robot,
            observed,
            arm,
            self._target,
            self._enabled_at,
            self._loop,
            self._laws,
            self._monitor,
            now,
        )
        if mode == self.mode:
            seen = seen._replace(tip_travel=self._laws.travel, contact_lost=self._laws.contact.lost)
        return seen

    # ---- modes

    def leave(self, now: float) -> None:
        """Return to monitor."""
        if self._supervisor is not None:
            self._supervisor.leave()

    def failsafe_config(self) -> FailsafeConfig | None:
        """Return what a failsafe process has to be armed with before a mode commands; None: none is needed."""
        supervisor = self._supervisor
        if supervisor is None or supervisor.policy.stop_behaviour == "none":
            return None
        assert self._robot is not None
        robot = self._robot
        return FailsafeConfig(robot.description, robot.settings.of_a_stop(), robot.payload.link)

    def take_over(self, last: LastCommand, reason: str, now: float) -> Command | None:
        """Go on as `stopped` from the newest command of a node; return the first command.

        Args:
            last: the node's newest command; its age is that of now.
            reason: why the node is replaced.
            now: time, s.
        """
        robot, supervisor, latest = self._robot, self._supervisor, self._latest
        assert robot is not None
        assert supervisor is not None
        age, hold = last.age, last.hold
        if latest is not None and not latest.state.measured.problem and abs(state_age(latest, now)) <= abs(age):
            arm = robot.arm_state(latest.state.measured, latest.terms, now)
            age = state_age(latest, now)
            hold = self._as_commanded(arm.gravity, arm) + (
                0.0 if last.stop.correction is None else last.stop.correction
            )
        limit = supervisor.limits.effort
        applied = np.clip(np.nan_to_num(last.effort), -limit, limit)
        self._monitor.begin(applied, now)
        self._loop.begin(False)
        supervisor.enter("gravity", applied, age, now)
        supervisor.stop("takeover", f": {reason}")
        supervisor.go_on_stopping(last.stop)
        self._hold = hold
        return self._command(supervisor.last, now)

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
        check_description(mode, robot.findings)
        check_limits(mode, robot.model, settings.commands.joints)
        if latest is None:
            raise ModeRefused(mode, "no usable state on joint_states yet")
        arm = robot.arm_state(latest.state.measured, latest.terms, now)
        seen = self._guard_input(mode, latest, arm, now)
        check_state_stream(mode, seen.age, self._loop.period, latest.stamped, settings.states.timeout)
        if problem := seen.problem or seen.velocity_problem:
            raise ModeRefused(mode, f"joint_states cannot be believed: {problem}")
        check_target(mode, seen, supervisor.policy.conditions)
        check_positions(mode, position_limits(robot), latest.state.measured.q, settings.commands.soft_limit_margin)
        check_motion(mode, seen, supervisor.policy.conditions)
        check_controller_connected(mode, self._link)
        if mode == "force" and self._target is not None:
            target = self._target.in_base_axes(latest.state.measured.q)
            check_delay(
                mode, self._loop.longest, least_free_speed(tip_mobility(arm), target, *self._loop.times), target
            )
        applied, hold = self._applied(latest, arm, now), self._as_commanded(arm.gravity, arm)
        check_margins(mode, supervisor.limits, arm.qd, applied, hold)
        try:
            check_payload(robot, latest.state.measured.q, robot.payload.target, nearby=0.0)
        except InputError as error:
            raise ModeRefused(mode, error.problem) from error
        check_enabled(mode, seen, supervisor.policy.conditions)
        check_model(mode, self._monitor.difference(latest, arm, self.mode, now))
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
        self._monitor.begin(applied, now, afresh=not commanded)
        supervisor.enter(mode, applied, age, now)
        if self.model_difference(now) is None:
            text = "no measured effort to compare with the model: wrong payloads and signs are found in motion only"
            self._events.append(Event("model unchecked", f"mode {mode}: {text}"))
        self._hold = hold
        self._loop.begin(commanded)
        self._laws.begin(now)
        self._walls_at = None
        joints = [robot.model.joint_names[i] for i in self._order]
        return f"mode {mode}, commanding {joints} on {self._link.topic}"

    def _observe_energy(self, observed: Observed, arm: ArmState) -> None:
        """Sum what the law has fed into the arm since the state before."""
        assert self._supervisor is not None
        assert self._robot is not None
        supply = self._laws.supply if self._supervisor.is_active and not self._supervisor.ramps else None
        if supply is not None:  # with gravity at the state itself, not where it is predicted
            raw = self._robot.settings.commands.command_effort == "raw"
            supply = supply - arm.gravity + (np.array(observed.terms.gravity) if raw else 0.0)
        self._loop.observe_energy(supply)

    def _measured_effort(self, observed: Observed, arm: ArmState) -> Array | None:
        """Return the measured effort, as it would be commanded; None where it is not reported."""
        assert self._robot is not None
        measured, terms = observed.state.measured.effort, observed.terms
        if measured is None or not np.all(np.isfinite(measured)):
            return None
        total = total_effort(
            self._robot.settings.states.measured_effort, measured, terms.inverse_dynamics, terms.gravity
        )
        return self._as_commanded(np.array(total), arm)

    def _applied(self, latest: Observed, arm: ArmState, now: float) -> Array:
        """Return what the joints exert, as it would be commanded, N m or N, shape (n,).

        This is the newest command, or the measured effort. Where that is missing, or zero, it is what held the arm here
        when it was known last, which a controller may hold still; or gravity.
        """
        if self._sent is not None and now - self._sent_at < COMMAND_HOLD_TIME:
            return self._sent
        measured, held = self._measured_effort(latest, arm), self._rest.held_at(arm.q)
        if measured is None:
            return self._as_commanded(arm.gravity, arm) if held is None else held
        return measured if held is None or any(latest.state.measured.effort or ()) else held
