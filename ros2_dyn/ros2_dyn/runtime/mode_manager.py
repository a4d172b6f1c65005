# SPDX-License-Identifier: Apache-2.0
"""The stage "decide": what is commanded at each state, and how modes are entered and left."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.command_supervisor import CommandSupervisor, SupervisorPolicy
from ros2_dyn.control.conditions import find_violation
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.events import Event
from ros2_dyn.control.gravity_compensation import STOP_DAMPING, gravity_compensation
from ros2_dyn.control.modes import MODES, STOPPED, AnyMode
from ros2_dyn.control.ramp import Ramp
from ros2_dyn.control.soft_limits import soft_walls, softened
from ros2_dyn.control.state_freshness import max_command_age
from ros2_dyn.control.stop.machine import StopFindings
from ros2_dyn.control.stop.seen import BrakeInput, SeenState
from ros2_dyn.control.turns import continuous_joints, nearest_turn
from ros2_dyn.control.unmodelled_effort import UnmodelledEffort
from ros2_dyn.errors import ModeRefused
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.arm_observer import ArmObserver
from ros2_dyn.runtime.command_interface import Sent
from ros2_dyn.runtime.handover_protocol import ArmView
from ros2_dyn.runtime.inputs import ClockJump, CommandExpired, CommandLink, HandoverInput
from ros2_dyn.runtime.mode_entry_checks import Entry, description_problem, entry_problem, limits_problem
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.state_pipeline import Observed
from ros2_dyn.runtime.update import Command, FailsafeConfig, LastCommand


class ModeManager:
    """The modes of one arm: at most one of `control/modes` at a time, which is made when it is entered."""

    def __init__(self, observer: ArmObserver) -> None:
        """Create it for the arm that is observed."""
        no_joints = CommandLimits((), np.zeros(0), np.zeros(0), np.zeros(0))
        self._observer = observer
        self._supervisor = CommandSupervisor(no_joints, SupervisorPolicy())
        self._entered: AnyMode | None = None
        self.link = CommandLink()
        """The other side of the commands."""
        self._unmodelled = UnmodelledEffort(np.zeros(0), np.zeros(0))
        self._rival_at = inf
        self._sent: Sent | None = None
        self._braked: Arm | None = None
        self._order: list[int] = []
        self._events: list[Event] = []

    # ---- what is told of it

    @property
    def mode(self) -> str:
        """The name of the mode, `MONITOR` or `STOPPED`."""
        return self._supervisor.mode

    @property
    def commanding(self) -> str:
        """The name of the mode while commands leave; empty: none do."""
        return self.mode if self.commands else ""

    @property
    def active(self) -> AnyMode | None:
        """The mode whose law determines the commands; None: none does."""
        return self._entered if self._supervisor.is_active else None

    @property
    def reason(self) -> str:
        """Why the last mode ended, where it did not end by request."""
        return self._supervisor.reason

    @property
    def commands(self) -> bool:
        """Whether commands leave."""
        return self._supervisor.commands

    @property
    def intends_contact(self) -> bool:
        """Whether a mode commands in which a contact is no collision."""
        return self.active is not None and self.active.needs.contact

    def take_events(self) -> list[Event]:
        """Return what happened since the last call, and forget it."""
        events, self._events = self._events, []
        return events + self._supervisor.take_events()

    # ---- a tick

    def on_state(self, observed: Observed) -> Command | None:
        """Return the command at a state, if any."""
        observer, supervisor, mode, now = self._observer, self._supervisor, self.active, observed.now
        robot, effort, supply = observer.robot, None, None
        assert robot is not None  # whose state it is
        robot.payload.wait(not supervisor.may_enter, now)  # or what brakes the arm would change amid a stop
        observer.on_state(observed, supervisor.last, alone=not (self.intends_contact or supervisor.found.escalated))
        if not supervisor.commands:
            return None
        # what the arm does, and whether the mode goes on
        arm = observer.at_tick(mode, stopped=supervisor.stops)
        state, seen = arm.state, SeenState(now, arm.age, arm.state.q, arm.state.qd, arm.problem, arm.inert)
        if not supervisor.accept(seen):
            return None
        if mode is not None and (violation := find_violation(mode, arm)) is not None:
            supervisor.stop(violation.kind, violation.detail)
        # what is commanded
        gravity = robot.as_commanded(state.gravity, state.gravity)
        if mode is not None and supervisor.is_active:
            law = mode.step(arm)
            if law.found is not None:
                self._unmodelled = self._unmodelled.plus(law.found)
            unmodelled = self._unmodelled.at(state.q, now)
            wanted = robot.as_commanded(law.effort, state.gravity) + unmodelled
            effort = supervisor.follow(wanted, gravity, now, unmodelled)
            supply = None if supervisor.ramps or law.supply is None else law.supply + unmodelled
        if supervisor.stops:
            assert supervisor.last is not None
            assert supervisor.carried is not None
            arm = observer.at_stop(arm, pushing=supervisor.last - supervisor.carried)
            rate = arm.loop._replace(gain=1.0).rate(STOP_DAMPING)
            damped = robot.as_commanded(gravity_compensation(state, rate), state.gravity)
            rivals = bool(self.link.other_publishers)
            misplaced = np.array(observed.state.measured.misplaced or [False] * len(state.q))
            given = BrakeInput(
                state,
                rate,
                gravity,
                damped,
                soft_walls(arm),
                observer.obeying(arm) | rivals,
                softened=0.0 if self._braked is None else softened(arm, self._braked),
                unloaded=robot.unloaded(state.q, arm.now if self._braked is None else self._braked.now, arm.now),
                pushed=not rivals and observer.is_pushed(arm),
                misplaced=misplaced,
                doubtful=bool(arm.velocity_problem) and not misplaced.any(),
                unanswered=observer.unanswered | (rivals and arm.doubt is not None),
                exerted=None if rivals else arm.exerted,
            )
            effort = supervisor.brake(seen, given)
        self._braked = arm if supervisor.stops else None
        if effort is not None:
            observer.observe_energy(supply, state)
        return self._command(effort, now)

    def on_time(self, now: float) -> Command | None:
        """Return the command where no state came for a while, if any."""
        return self._command(self._supervisor.ramp_down(now, self._observer.loop.sampled().longest), now)

    def _command(self, effort: Array | None, now: float) -> Command | None:
        observer, supervisor, robot, mode = self._observer, self._supervisor, self._observer.robot, self.active
        if effort is None or robot is None or supervisor.carried is None:
            return None
        q = None if observer.latest is None else observer.latest.state.measured.believed_q
        data = robot.command_conversion.data(effort, q, self._sent, now)
        if data is None:
            return None
        self._sent = Sent(now, data)
        observer.history.add(now, effort)
        if mode is not None and mode.handover is not None:
            mode.handover.on_command(now, effort)
        based_at = now if supervisor.stateless else supervisor.state_at
        return Command(
            effort=effort,
            data=data[self._order],
            hold=supervisor.carried,
            state_at=supervisor.state_at,
            expires=based_at + max_command_age(supervisor.policy.state_timeout),
            payload=tuple(robot.payload.at(now)),
            stop=supervisor.found,
        )

    # ---- modes

    def check_entry(self, name: str, now: float) -> Entry:
        """Return a mode that may be entered, with where it begins.

        Raises:
            ModeRefused: a condition does not hold.
        """
        observer, robot = self._observer, self._observer.robot
        if robot is None:
            raise ModeRefused(name, "no robot_description has been received")
        if problem := description_problem(robot) or limits_problem(robot):
            raise ModeRefused(name, problem)
        if observer.latest is None:
            raise ModeRefused(name, "no usable state on joint_states yet")
        kind = MODES[name]
        mode = kind(robot.settings.mode(kind.Parameters), now)
        arm = observer.before(mode, now, stopped=self._supervisor.stops)
        alone, held = not (self.intends_contact or mode.needs.contact), observer.held(arm.state, self._supervisor.held)
        entry = Entry(
            mode=mode,
            arm=arm,
            robot=robot,
            link=self.link,
            stamped=observer.latest.stamped,
            applied=observer.applied(arm.state, self._commanded(arm.state.q, now)),
            gravity=robot.as_commanded(arm.state.gravity, arm.state.gravity),
            brakes=not self._supervisor.may_enter or (alone and self._supervisor.moves),
            difference=observer.model_difference(now, contact_expected=self.intends_contact),
            held=held if alone else None,
            before=self._unmodelled if alone and self._supervisor.keeps else None,
        )
        if problem := entry_problem(entry):
            raise ModeRefused(name, problem)
        return entry

    def _commanded(self, q: Array, now: float) -> Array | None:
        """Return what the newest command makes the joints exert at positions, (n,), and a time, s; None: it is old."""
        sent, robot = self._sent, self._observer.robot
        if sent is None or robot is None or now - sent.at >= 0.5:  # s
            return None
        return robot.command_conversion.exerted(sent.data, q)

    def enter(self, name: str, now: float) -> str:
        """Enter a mode; return what is commanded, in words.

        Raises:
            ModeRefused: a condition does not hold.
        """
        entry = self.check_entry(name, now)
        if not self._observer.watched:  # while a failsafe process starts, it is
            raise ModeRefused(name, "joint_states have not told for 0.1 s whether the arm rests: request it again")
        held = not self.commands and not self._observer.moves and entry.mode.holds_at_first(entry.arm)
        self._begin(entry.first, now, afresh=not self.commands)
        unmodelled = entry.unmodelled
        self._supervisor.enter(
            name,
            applied=entry.first,
            gravity=entry.gravity,
            age=entry.arm.age,
            now=now,
            unmodelled=unmodelled.effort,
            at_once=held and entry.goes_on,
        )
        if entry.difference is None:
            text = "no measured effort to compare with the model: wrong payloads and signs are found in motion only"
            self._events.append(Event("model unchecked", f"mode {name}: {text}"))
        if problem := self._observer.loop.delay.clock_problem:
            text = f"{problem}: do the clocks agree? The loop counts as later by that"
            self._events.append(Event("stamps ahead", text))
        self._entered, self._unmodelled = entry.mode, unmodelled
        return f"mode {name}, commanding {[entry.robot.model.joint_names[i] for i in self._order]} on {self.link.topic}"

    def _begin(self, applied: Array, now: float, *, afresh: bool) -> None:
        """Take notice that commands begin, or go on; see `ArmObserver.begin`."""
        self._braked = None
        self._sent = None if afresh else self._sent
        self._observer.begin(applied, now, afresh=afresh)

    def leave(self) -> None:
        """Return to monitor."""
        self._supervisor.leave()

    def stop(self, kind: str, detail: str = "") -> None:
        """Stop a mode that commands."""
        if self._supervisor.is_active:
            self._supervisor.stop(kind, detail)

    def failsafe_config(self) -> FailsafeConfig | None:
        """Return what a failsafe process has to be armed with before a mode commands; None: none is needed."""
        robot = self._observer.robot
        if robot is None or robot.settings.commands.stop_behaviour == "none":
            return None
        return FailsafeConfig(robot.description, robot.settings.of_a_stop(), robot.payload.link)

    def take_over(self, last: LastCommand, reason: str, now: float) -> Command | None:
        """Go on as `STOPPED` from the newest command of a node; return the first command.

        Args:
            last: the node's newest command; its age is that of now.
            reason: why the node is replaced.
            now: time, s.
        """
        observer, supervisor, robot = self._observer, self._supervisor, self._observer.robot
        assert robot is not None
        latest, age, hold = observer.latest, last.age, last.hold
        fits = latest is not None and not (latest.state.measured.problem or latest.state.measured.misplaced)
        if fits and abs(observer.age(now)) <= abs(age):
            state, age = observer.before(None, now).state, observer.age(now)
            correction = 0.0 if last.stop.correction is None else last.stop.correction
            hold = robot.as_commanded(state.gravity, state.gravity) + correction
        limit = robot.limits.effort
        applied = np.clip(np.nan_to_num(last.effort), -limit, limit)
        self._begin(applied, now, afresh=True)
        supervisor.enter(STOPPED, applied=applied, gravity=hold, age=age, now=now)
        supervisor.stop("takeover", f": {reason}")
        supervisor.go_on_stopping(last.stop if latest is None else self._on_the_turns_of(latest, last.stop))
        return self._command(supervisor.last, now)

    def _on_the_turns_of(self, latest: Observed, stop: StopFindings) -> StopFindings:
        """Return the stop of another process, which may have counted other turns of continuous joints."""
        assert self._observer.robot is not None
        if stop.anchor is None:
            return stop
        continuous = continuous_joints(self._observer.robot.model)
        return stop._replace(anchor=np.array(nearest_turn(stop.anchor.tolist(), latest.state.measured.q, continuous)))

    # ---- what changes meanwhile

    def use(self, robot: RobotDynamics, now: float) -> None:
        """Go on with another robot, or with other parameters, at a time, s; another description ends a mode."""
        before, supervisor, mode, settings = self._observer.robot, self._supervisor, self.active, robot.settings
        self._observer.use(robot)
        if before is not None and before.model.joint_names != robot.model.joint_names:
            self._sent = None
        names = settings.robot.joints or robot.model.joint_names
        self._order = [robot.model.joint_names.index(name) for name in names if name in robot.model.joint_names]
        if not supervisor.commands:
            commands = settings.commands
            policy = SupervisorPolicy(commands.ramp_time, settings.states.timeout, commands.stop_behaviour)
            self._supervisor = CommandSupervisor(robot.limits, policy, self.reason)
        elif before is None or before.description is not robot.description:
            supervisor.replace_limits(robot.limits)
        elif mode is not None:
            mode.use(settings.mode(mode.Parameters), Ramp(now, settings.commands.ramp_time))

    def on_payload_changed(self) -> None:
        """Take notice that the model changes, by the ramp of the payload: what it lacked may be a part of it now."""
        if self._observer.robot is not None:
            self._unmodelled = self._unmodelled.fading(self._observer.robot.payload.ramp)

    def on_command_expired(self, _: CommandExpired, now: float) -> None:
        """Take notice that the newest command was not published in time, s."""
        self._supervisor.withdraw(now)

    def on_clock_jump(self, jump: ClockJump, _: float) -> None:
        """Stop a mode: the times of its states are not what they were."""
        self.stop("clock jumped", f": {jump.detail}")

    def on_link(self, link: CommandLink, now: float) -> None:
        """Take what is known of the other side at a time, s; end commands that have no receiver, or a rival."""
        self.link = link
        if not link.other_publishers:
            self._rival_at = inf
        if not self.commands:
            return
        if link.failsafe_commands:
            self._supervisor.abort("failsafe took over", ": this node was held up, and must not command beside it")
        elif link.subscribers == 0:
            self._supervisor.abort("no subscriber", f" on {link.topic}")
        elif self.failsafe_config() is not None and not link.failsafe_alive:
            self.stop("failsafe lost", ": the process that would take over has ended")
        if self.commands and link.other_publishers:
            self._yield(now)
        if self._supervisor.last is None:  # something else holds the arm, and not by the newest command
            self._observer.history.clear()
            self._sent = None

    def _yield(self, now: float) -> None:
        """Give way to another commander, at a time, s: brake first, for it may be silent, and end commands then.

        Ending at once would leave an arbitrary effort at the controller if the other never sends one. To go on would be
        a fight that the arm shakes in.
        """
        self._rival_at = min(self._rival_at, now)
        rival = "second commander", f": '{self.link.other_publishers[0]}' publishes on {self.link.topic}, too"
        if now - self._rival_at >= 1.0:  # s
            self._supervisor.abort(*rival)
        else:
            self.stop(*rival)

    def on_failsafe_armed(self) -> None:
        """Take notice that a failsafe process stands by."""
        self.link = self.link._replace(failsafe_alive=True)

    # ---- a handover

    def on_handover(self, given: HandoverInput, now: float) -> None:
        """Hold the arm where it is during a handover, probe its controller, or let it go, at a time, s.

        Nothing of that is done but in a mode that holds the arm during a handover. Where others hold it, commands end
        whatever the mode is: nobody receives them, and what the arm does next is no failure of theirs.
        """
        if given.step == "leave":
            self._supervisor.leave(at_once=True)
        elif (mode := self.active) is not None and self._observer.latest is not None:
            mode.hand_over(given.step, self._observer.before(mode, now))

    def handover_view(self, now: float) -> ArmView:
        """Return what a handover sees of the arm at a time, s; without joints where there is no state."""
        supervisor, robot, latest, mode = self._supervisor, self._observer.robot, self._observer.latest, self.active
        if robot is None or latest is None:
            return ArmView()
        hold = None if mode is None else mode.handover
        probe = None if hold is None else hold.probe
        return ArmView(
            mode=supervisor.mode,
            holds=mode is not None and mode.needs.handover,
            reason=supervisor.reason,
            settled=not supervisor.ramps and (hold is None or hold.settled(now)),
            joint_names=robot.model.joint_names,
            q=np.array(latest.state.measured.q),
            told_q=np.array(latest.state.measured.believed_q or latest.state.measured.q),
            command=supervisor.last,
            probe=probe.finding() if probe is not None and probe.ended(now) else None,
        )
