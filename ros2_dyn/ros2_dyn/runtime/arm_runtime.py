# SPDX-License-Identifier: Apache-2.0
"""One arm, step by step: every decision of the node as a function of inputs and time, without ROS, thread or clock.

A measured state passes through a pipeline, one file a stage:

    JointSample -> assemble -> synchronise -> compute -> observe -> decide -> limit -> Update
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import inf
from typing import TypeVar

from ros2_dyn.control.command_supervisor import STOP_FAILED
from ros2_dyn.control.events import Event, rejection
from ros2_dyn.control.modes import ACTIVE_MODES, Mode
from ros2_dyn.errors import InputError, MessageError, ModeRefused, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.calibration_run import CalibrationRun
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.handover_protocol import ArmView, HandoverStep
from ros2_dyn.runtime.loop_observer import LoopReport
from ros2_dyn.runtime.mode_manager import ModeManager
from ros2_dyn.runtime.model_monitor import ModelDifference
from ros2_dyn.runtime.payload_check import MIN_RAMP_TIME, check_payload
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.payload_run import PayloadRuns
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, checked_model
from ros2_dyn.runtime.robot_loader import RobotLoader
from ros2_dyn.runtime.samples import (
    CommandLink,
    DesiredSample,
    HybridSample,
    JointSample,
    PayloadQuestion,
    PayloadRequest,
    PoseSample,
    TrajectorySample,
    WrenchSample,
)
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_pipeline import Passed, StatePipeline
from ros2_dyn.runtime.state_sources import StateSources
from ros2_dyn.runtime.states import MeasuredState, SynchronizedState
from ros2_dyn.runtime.target_hybrid import TargetHybrid, check_hybrid
from ros2_dyn.runtime.target_pose import TargetPose, check_pose
from ros2_dyn.runtime.target_wrench import TargetTime, TargetWrench, check_ceiling, check_wrench
from ros2_dyn.runtime.trajectory_effort import TrajectoryTask
from ros2_dyn.runtime.update import Command, FailsafeConfig, LastCommand, Reply, Step, Update, Work, WorkDone

Sample = TypeVar("Sample", WrenchSample, PoseSample, HybridSample)
Target = TypeVar("Target", bound=TargetWrench | TargetPose)
REARM_PERIOD = 2.0
"""Time after the start of a failsafe process, s, from which on another one is started if it is lost amid commands."""


class ArmRuntime:
    """The runtime of one arm.

    Each method takes one input at a time `now`, s, which never decreases, and returns all that it leads to. Requests
    may name themselves (`request`), so that their `Reply` can be told from others.
    """

    def __init__(self, model: RobotModel | None = None, settings: Settings | None = None) -> None:
        """Create it, and compile the kernels of a model in this thread.

        Args:
            model: the robot; None: it comes later, through `use_description`.
            settings: all parameters; the defaults for None.

        Raises:
            ModelError: a joint is planar or floating.
            InputError: the robot has not the joints or the tip link that the settings name.
        """
        self.settings = settings or Settings()
        self.warnings: list[str] = []
        """What looks wrong in the robot description."""
        self._pipeline: StatePipeline | None = None
        self._modes = ModeManager()
        self._loader = RobotLoader(self._on_loaded)
        self._description: RobotModel | str | None = None
        self._calibration: CalibrationRun | None = None
        self._payload_runs = PayloadRuns()
        self._sources = StateSources()
        self._sources_problem = ""
        self._entering: list[tuple[Mode, Hashable]] = []
        self._rearms, self._armed_at = False, -inf
        self._events: list[Event] = []
        if model is not None:
            self._install(RobotDynamics(model, self.settings), 0.0)

    # ---- what services and diagnostics read

    @property
    def robot(self) -> RobotDynamics | None:
        """The robot; None before there is one."""
        return None if self._pipeline is None else self._pipeline.robot

    @property
    def state(self) -> MeasuredState | None:
        """The newest measured state."""
        return None if self._pipeline is None else self._pipeline.state

    @property
    def collision(self) -> CollisionUpdate | None:
        """The newest external efforts."""
        return None if self._pipeline is None else self._pipeline.collision

    @property
    def collision_latched(self) -> bool:
        """Whether there was a collision that was not reset."""
        return self._pipeline is not None and self._pipeline.monitor is not None and self._pipeline.monitor.collision

    @property
    def detector_blind(self) -> bool:
        """Whether collisions are to be detected, and states come without usable efforts."""
        return self._pipeline is not None and self._pipeline.blind

    @property
    def mode(self) -> Mode:
        """The mode."""
        return self._modes.mode

    @property
    def commands(self) -> bool:
        """Whether commands leave."""
        return self._modes.commands

    @property
    def reason(self) -> str:
        """Why the last mode ended, where it did not end by request."""
        return self._modes.reason

    @property
    def loop(self) -> LoopReport:
        """How late the loop is, and what that costs."""
        return self._modes.loop

    @property
    def waits_for_desired(self) -> bool:
        """Whether a measured state waits for its desired state."""
        return self._pipeline is not None and self._pipeline.synchronizer.waits

    def require_robot(self, field: str) -> RobotDynamics:
        """Return the robot.

        Raises:
            MessageError: there is none yet.
        """
        if self._pipeline is None:
            raise MessageError(field, "no robot yet", "no robot_description has been received")
        return self._pipeline.robot

    def requested_state(self, sample: JointSample) -> MeasuredState:
        """Return the state that a request gives, or the newest measured one where it names no joints.

        Raises:
            MessageError: there is none, or as `JointOrder.state`.
        """
        self.require_robot("state")
        assert self._pipeline is not None
        if sample.names:
            return self._pipeline.order.state(sample)
        if self._pipeline.state is None:
            raise MessageError("state", "empty", "no usable message has been received on joint_states either")
        return self._pipeline.state

    # ---- measured and desired states

    def on_joint_state(self, sample: JointSample, now: float) -> Update:
        """Take a message of joint states."""
        self._sources.note(sample.names, now)
        if self._pipeline is None:
            return self._update()
        self._pipeline.contact_intended = self._modes.intends_contact
        return self._take(self._pipeline.on_joint_state(sample, now, self.commands))

    def hear(self, sample: JointSample, now: float) -> list[SynchronizedState]:
        """Take a message of joint states that is judged now, and computed where `observe` takes what it returns."""
        if self._pipeline is None:
            return []
        states = self._pipeline.hear(sample, now)
        self._pipeline.observe((), now)  # nobody is told of rejections
        return states

    def observe(self, states: Sequence[SynchronizedState], now: float) -> Update:
        """Take states of `hear`, at the time when they came."""
        assert self._pipeline is not None
        self._pipeline.state = states[-1].measured
        return self._take(self._pipeline.observe(states, now))

    def on_desired(self, sample: DesiredSample, now: float) -> Update:
        """Take a desired state."""
        if self._pipeline is None:
            return self._update()
        self._pipeline.contact_intended = self._modes.intends_contact
        return self._take(self._pipeline.on_desired(sample, now))

    def _take(self, passed: Passed) -> Update:
        """Decide what is commanded at the states that came out of the pipeline."""
        command: Command | None = None
        for observed in passed.observed:
            if self._calibration is not None and observed.seen is not None:
                self._calibration.update(observed.seen)
            self._payload_runs.add(observed.state.measured)
            if observed.newest:
                command = self._modes.on_state(observed)
        steps = tuple(Step(observed.state.measured, observed.terms, observed.seen) for observed in passed.observed)
        return self._update(*passed.events, steps=steps, command=command)

    def on_time(self, now: float) -> Update:
        """Let time pass: to be called every `RAMP_DOWN_PERIOD` while commands leave, and now and then otherwise."""
        command = self._modes.on_time(now)
        work = self._payload_runs.finish(now, lambda reply: self._update(replies=(reply,)))
        return self._update(command=command, replies=self._finish_calibration(now), work=work)

    def on_command_expired(self, now: float) -> Update:
        """Take notice that the newest command was not published before it expired."""
        self._modes.on_command_expired(now)
        return self._update()

    def on_clock_jump(self, detail: str, now: float) -> Update:
        """Take notice that the clock of the stamps was set, by as much as the detail describes; modes stop."""
        self._modes.stop("clock jumped", f": {detail}")
        return self._update()

    def on_state_publishers(self, count: int, now: float) -> Update:
        """Take notice of how many nodes publish joint states."""
        self._sources.publishers = count
        before, self._sources_problem = self._sources_problem, self._sources.problem(now)
        if self._sources_problem and not before:
            self._events.append(Event("two publishers", self._sources_problem))
        return self._update()

    def model_difference(self, now: float) -> ModelDifference | None:
        """Return what the arm exerts beyond its model, or None where it is not measured."""
        return self._modes.model_difference(now)

    # ---- modes

    def on_command_link(self, link: CommandLink, now: float) -> Update:
        """Take what is known of the other side of the commands."""
        self._modes.on_link(link, now)
        lost = self.commands and self._modes.armed is not None and not link.failsafe_alive
        if lost and now - self._armed_at >= REARM_PERIOD:
            self._modes.on_failsafe_armed(None)
            self._rearms = True
        return self._update()

    def on_enable(self, pressed: bool, now: float) -> Update:
        """Take an enabling signal, which modes of `require_enable` need; its release or its silence stops them."""
        self._modes.on_enable(pressed, now)
        return self._update()

    def on_desired_wrench(self, sample: WrenchSample, now: float) -> Update:
        """Take a desired wrench."""

        def check(model: RobotModel) -> None:
            check_ceiling(sample, self.settings.max_force, self.settings.max_moment)
            check_wrench(model, sample)

        take = self._modes.on_target
        return self._on_target("~/desired_wrench", sample, TargetWrench, lambda: self._modes.target, check, take, now)

    def on_desired_pose(self, sample: PoseSample, now: float) -> Update:
        """Take a desired pose of the tip."""
        check, take = partial(check_pose, sample=sample), self._modes.on_target_pose
        return self._on_target("~/desired_pose", sample, TargetPose, lambda: self._modes.target_pose, check, take, now)

    def on_desired_hybrid(self, sample: HybridSample, now: float) -> Update:
        """Take a desired pose and a wrench along the axes along which the tip is not held."""

        def check(model: RobotModel) -> None:
            check_hybrid(model, sample, self.settings.max_force, self.settings.max_moment)

        def known() -> TargetHybrid | None:
            target = self._modes.target_pose
            return target if isinstance(target, TargetHybrid) else None

        take = self._modes.on_target_pose
        return self._on_target("~/desired_hybrid", sample, TargetHybrid, known, check, take, now)

    def _on_target(
        self,
        topic: str,
        sample: Sample,
        make: Callable[[RobotModel, Sample, float], Target],
        known: Callable[[], TargetWrench | TargetPose | None],
        check: Callable[[RobotModel], None],
        take: Callable[[Target], None],
        now: float,
    ) -> Update:
        """Take a target in the frame of a link, unless it is wrong or older than the one that is known."""
        if self._pipeline is None:
            return self._update()
        model, at, last = self._pipeline.robot.model, TargetTime.of(sample, now), known()
        try:
            if last is not None and at.is_older(last.time):
                older = f"by {1e-9 * (last.time.stamp - at.stamp):.6f} s"
                raise MessageError("header.stamp", "older than the last", older)
            check(model)
        except MessageError as error:
            return self._reject(topic, error)
        if last is not None and last.frame == sample.frame:
            take(make(model, sample, now))
            return self._update()

        def finish(done: WorkDone, later: float) -> Update:
            newest = known()
            current = self._pipeline is not None and self._pipeline.robot.model is model
            if current and (newest is None or not at.is_older(newest.time)):
                take(done.value)
            return self._update()

        # The kernel of a new frame has to be compiled.
        return self._update(work=(Work(topic, lambda: make(model, sample, now), finish),))

    def request_mode(self, mode: str, now: float, request: Hashable = None) -> Update:
        """Enter a mode, or leave it for monitor.

        Where a failsafe process is needed and not armed, the update asks for it, and the reply comes with
        `on_failsafe_armed`. A refusal is a `ModeRefused`, or an `InputError` where there is no such mode.
        """
        if mode == "monitor":
            self._modes.leave(now)
            return self._update(replies=(Reply(request),))
        if mode not in ACTIVE_MODES:
            error = InputError("mode", f"expected one of monitor, {', '.join(ACTIVE_MODES)}; got '{mode}'")
            return self._update(replies=(Reply(request, error),))
        try:
            self._check_no_load(mode)
            if problem := self._sources.problem(now):
                raise ModeRefused(mode, problem)
            self._modes.check_entry(mode, now)
        except ModeRefused as refused:
            return self._update(replies=(Reply(request, refused),))
        config = self._modes.failsafe_config()
        if config is not None and not (self._modes.armed == config and self._modes.link.failsafe_alive):
            self._entering.append((mode, request))
            return self._update(failsafe=config)
        return self._update(replies=(self._enter(mode, request, now),))

    def on_failsafe_armed(self, config: FailsafeConfig, problem: Ros2DynError | None, now: float) -> Update:
        """Take notice that a failsafe process is armed, or why not, and enter the modes that wait for it."""
        waiting, self._entering = self._entering, []
        if problem is not None:
            self._modes.on_failsafe_armed(None)
            if not waiting:  # it was for a robot that changed amid a mode
                self._modes.stop("failsafe lost", f": {problem}")
            return self._update(
                replies=tuple(Reply(request, ModeRefused(mode, str(problem))) for mode, request in waiting)
            )
        self._modes.on_failsafe_armed(config)
        self._armed_at = now
        if config != self._modes.failsafe_config():
            error = "the robot or parameters changed meanwhile: ask again"
            return self._update(replies=tuple(Reply(request, ModeRefused(mode, error)) for mode, request in waiting))
        return self._update(replies=tuple(self._enter(mode, request, now) for mode, request in waiting))

    def take_over(self, last: LastCommand, reason: str, now: float) -> Update:
        """Go on as `stopped` from the newest command of a node that is gone or held up; see `FailsafeRuntime`."""
        return self._update(command=self._modes.take_over(last, reason, now))

    def _check_no_load(self, mode: Mode) -> None:
        """Check that no robot is being made: a mode must not begin under parameters that are about to change."""
        if self._loader.busy:
            raise ModeRefused(mode, "another robot or other parameters are being prepared: ask again")

    def _enter(self, mode: Mode, request: Hashable, now: float) -> Reply:
        try:
            self._check_no_load(mode)
            self._events.append(Event("mode entered", self._modes.enter(mode, now), "info"))
        except ModeRefused as refused:
            return Reply(request, refused)
        return Reply(request)

    def on_handover(self, step: HandoverStep, now: float) -> Update:
        """Take a step of a handover to or from another controller, in mode gravity; see `runtime/handover.py`."""
        self._modes.on_handover(step, now)
        return self._update()

    def handover_view(self, now: float) -> ArmView:
        """Return what a handover sees of the arm; without joints where there is no state."""
        return self._modes.handover_view(now)

    # ---- payload, trajectories, collisions

    def set_payload(self, payload: PayloadRequest, now: float, request: Hashable = None) -> Update:
        """Change what the robot carries.

        While a mode commands, the ramp takes at least `MIN_RAMP_TIME`, and a payload that the limits cannot carry is
        refused. One on another link is refused then, too: its kernels have to be compiled.
        """
        try:
            robot = self.require_robot("link")
            link = robot.check_payload_link(payload.link, now)
            if self.commands:
                self._check_payload(robot, link, payload)
                payload = payload._replace(ramp_time=max(payload.ramp_time, MIN_RAMP_TIME))
            if link == robot.payload.link:
                robot.payload.change(payload.parameters, payload.ramp_time, now)
                self._modes.on_payload_changed()
                return self._update(replies=(Reply(request),))
            PayloadRamp(link).change(payload.parameters, payload.ramp_time, now)  # what is wrong is wrong now
        except Ros2DynError as error:
            return self._update(replies=(Reply(request, error),))

        def take(done: WorkDone, later: float) -> Update:
            pipeline = self._pipeline
            if pipeline is None or pipeline.robot is not robot:
                error = InputError("link", "the robot or parameters changed meanwhile: ask again")
                return self._update(replies=(Reply(request, error),))
            if done.error is not None:
                return self._update(replies=(Reply(request, done.error),))
            loaded: RobotDynamics = done.value
            loaded.payload.change(payload.parameters, payload.ramp_time, later)
            pipeline.robot = loaded
            self._modes.use(loaded, later)
            self._rearms = self.commands
            return self._update(replies=(Reply(request),))

        # The kernels for a payload on another link have to be compiled.
        work = Work("payload", lambda: RobotDynamics(robot.description, robot.settings, PayloadRamp(link)), take)
        return self._update(work=(work,))

    def _check_payload(self, robot: RobotDynamics, link: str, payload: PayloadRequest) -> None:
        if link != robot.payload.link:
            known = f"'{robot.payload.link}' is the payload's link"
            raise InputError("link", f"{known}, and it cannot be changed while mode {self.mode} commands")
        if self.state is not None:
            check_payload(robot, self.state.q, payload.parameters)

    def estimate_payload(self, question: PayloadQuestion, now: float, request: Hashable = None) -> Update:
        """Gather states for a time, then estimate what a link carries; the reply's value is an `EstimatedPayload`.

        One that is asked for amid another one replaces it. After a tare the reply's value is None.
        """
        try:
            return self._update(replies=self._payload_runs.begin(question, self.require_robot("link"), now, request))
        except Ros2DynError as error:
            return self._update(replies=(Reply(request, error),))

    def on_desired_trajectory(self, trajectory: TrajectorySample, now: float, request: Hashable = None) -> Update:
        """Compute the effort of every point; the reply's value has shape (m, k), see `effort_along`."""
        try:
            task = self.trajectory_task(now)
        except MessageError as error:
            return self._update(replies=(Reply(request, error),))

        def take(done: WorkDone, later: float) -> Update:
            return self._update(replies=(Reply(request, done.error, done.value),))

        return self._update(work=(Work("trajectory", lambda: task.effort(trajectory), take),))

    def trajectory_task(self, now: float) -> TrajectoryTask:
        """Return what the effort along a trajectory depends on now, for those who compute it elsewhere.

        Raises:
            MessageError: there is no robot yet.
        """
        robot = self.require_robot("joint_names")
        settings, payload = robot.settings, tuple(robot.payload.at(now))
        return TrajectoryTask(robot.model, robot.payload.link, payload, settings.gravity, settings.command_effort)

    def reset_collision(self, now: float, request: Hashable = None) -> Update:
        """Forget a collision."""
        try:
            self.watching()
        except InputError as error:
            return self._update(replies=(Reply(request, error),))
        assert self._pipeline is not None
        assert self._pipeline.monitor is not None
        self._pipeline.monitor.reset()
        self._modes.forget_collision()
        return self._update(replies=(Reply(request),))

    def watching(self) -> CollisionUpdate:
        """Return the newest external efforts.

        Raises:
            InputError: none are observed.
        """
        if self._pipeline is None or self._pipeline.monitor is None:
            raise InputError("detect_collisions", "there is no robot yet, or this parameter is false")
        if self._pipeline.collision is None:
            raise InputError("effort", "joint_states has not given an effort of all joints yet")
        return self._pipeline.collision

    def calibrate_collision(self, now: float, request: Hashable = None) -> Update:
        """Observe a free motion for `calibration_time`; the reply's value is the list of thresholds, N m or N."""
        try:
            seen = self.watching()
        except InputError as error:
            return self._update(replies=(Reply(request, error),))
        replies = self._abandon_calibration()
        deadline = now + self.settings.calibration_time
        self._calibration = CalibrationRun(seen.robot.model, seen.restarts, deadline, request)
        return self._update(replies=replies)

    def _finish_calibration(self, now: float) -> tuple[Reply, ...]:
        run = self._calibration
        if run is None or now < run.deadline:
            return ()
        self._calibration = None
        try:
            return (Reply(run.request, None, run.thresholds(self.settings.false_alarms_per_hour)),)
        except InputError as error:
            return (Reply(run.request, error),)

    def _abandon_calibration(self) -> tuple[Reply, ...]:
        run, self._calibration = self._calibration, None
        error = InputError("parameters", "the robot or parameters changed during the calibration: repeat it")
        return () if run is None else (Reply(run.request, error),)

    # ---- the robot and the parameters

    def use_description(self, description: RobotModel | str, now: float) -> Update:
        """Take another robot, or the text of its URDF. The one before stays until the newest one is ready."""
        self._description = description
        payload = None if self._pipeline is None else self._pipeline.robot.payload
        return self._update(work=(self._loader.load(description, self.settings, payload),))

    def change_settings(self, settings: Settings, now: float) -> Update:
        """Take other parameters, all or none. What needs new kernels takes effect when they are ready.

        Raises:
            Ros2DynError: the robot does not fit them, or one of them cannot be changed while a mode commands.
        """
        if self.commands:
            self.settings.check_unlocked(settings, self.mode)
        pipeline = self._pipeline
        if settings == self.settings:
            return self._update()
        if pipeline is None:
            self.settings = settings
            if self._description is None or self._loader.busy:
                return self._update()
            return self._update(work=(self._loader.load(self._description, settings, None),))  # it may fit these
        robot = pipeline.robot
        model = checked_model(robot.description, settings)
        self.settings = settings
        kernels_fit = model == robot.model and (settings.tip_link or model.default_tip) == robot.tip_link
        if self._loader.busy:
            return self._update()  # the robot that is being made is made again with these
        if kernels_fit:
            return self._update(replies=self._install(RobotDynamics(robot.description, settings, robot.payload), now))
        return self._update(work=(self._loader.load(robot.description, settings, robot.payload),))

    def on_work_done(self, done: WorkDone, now: float) -> Update:
        """Take the outcome of a piece of work that an update asked for."""
        return done.work.then(done, now)

    def _on_loaded(self, done: WorkDone, now: float) -> Update:
        loaded = self._loader.finish(done, self.robot, self.settings)
        replies = () if loaded.robot is None else self._install(loaded.robot, now)
        return self._update(*loaded.events, replies=replies, work=loaded.work)

    def _install(self, robot: RobotDynamics, now: float) -> tuple[Reply, ...]:
        """Go on with a robot at a time, s; a calibration that ran is over where the observer is another."""
        before = self._pipeline
        if before is not None and robot.payload is not before.robot.payload and any(before.robot.payload.target):
            text = "the payload is gone: no joint moves the link that carried it any more"
            self._events.append(Event("payload gone", text))
        self._pipeline = StatePipeline(robot, before)
        self._modes.use(robot, now)
        self._rearms = self.commands
        self.warnings = [str(each) for each in robot.findings if each.severity != "note"]
        names, model = ", ".join(robot.model.joint_names), robot.model.name
        text = f"using '{model}' with the joints {names}, tip link '{robot.tip_link}'"
        self._events.append(Event("robot used", text, "info"))
        if before is None or before.robot.description is not robot.description:
            self._events += [Event("robot description", f"robot description: {text}") for text in self.warnings]
        abandoned = self._payload_runs.on_robot_changed()
        same_monitor = before is not None and before.monitor is self._pipeline.monitor
        return abandoned if same_monitor else (*abandoned, *self._abandon_calibration())

    # ---- updates

    def _reject(self, topic: str, error: MessageError) -> Update:
        return self._update(rejection(topic, error))

    def _update(
        self,
        *events: Event,
        steps: tuple[Step, ...] = (),
        command: Command | None = None,
        replies: tuple[Reply, ...] = (),
        work: tuple[Work, ...] = (),
        failsafe: FailsafeConfig | None = None,
    ) -> Update:
        happened = (*self._events, *self._modes.take_events(), *events)
        self._events.clear()
        modes = self._modes
        if self._rearms and failsafe is None:  # the failsafe process must know the robot that is commanded
            self._rearms, config = False, modes.failsafe_config()
            failsafe = config if config != modes.armed else None
        failed = any(event.kind == STOP_FAILED for event in happened)
        return Update(modes.mode, modes.commands, steps, command, happened, replies, work, failed, failsafe)
