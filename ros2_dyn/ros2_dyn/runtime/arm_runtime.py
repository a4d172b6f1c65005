# SPDX-License-Identifier: Apache-2.0
"""One arm, step by step: every decision of the node as a function of inputs and time, without ROS, thread or clock.

A measured state passes through a pipeline, one file a stage:

    JointSample -> assemble -> synchronise -> compute -> observe -> decide -> limit -> Update
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, cast

from ros2_dyn.control.command_supervisor import STOP_FAILED
from ros2_dyn.control.events import Event, rejection
from ros2_dyn.control.modes import ACTIVE_MODES, Mode
from ros2_dyn.errors import InputError, MessageError, ModeRefused, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.calibration_run import CalibrationRuns
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.failsafe_arming import FailsafeArming
from ros2_dyn.runtime.handover_protocol import ArmView
from ros2_dyn.runtime.inputs import (
    ClockJump,
    CollisionCalibration,
    CollisionReset,
    CommandExpired,
    CommandLink,
    Description,
    DesiredSample,
    EnableSignal,
    FailsafeArmed,
    HandoverInput,
    HybridSample,
    Input,
    JointSample,
    ModeRequest,
    PayloadQuestion,
    PayloadRequest,
    PoseSample,
    SettingsChange,
    StatePublishers,
    TakeOver,
    TimePassed,
    TrajectorySample,
    WrenchSample,
)
from ros2_dyn.runtime.loop_observer import LoopReport
from ros2_dyn.runtime.mode_manager import ModeManager
from ros2_dyn.runtime.model_monitor import ModelDifference
from ros2_dyn.runtime.payload_change import PayloadLinkWork, checked_payload
from ros2_dyn.runtime.payload_run import PayloadRuns, PayloadWork
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, checked_model
from ros2_dyn.runtime.robot_loader import RobotLoader, RobotWork
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_pipeline import Passed, StatePipeline
from ros2_dyn.runtime.state_sources import StateSources
from ros2_dyn.runtime.states import MeasuredState, SynchronizedState
from ros2_dyn.runtime.target_hybrid import TargetHybrid
from ros2_dyn.runtime.targets import TARGET_TOPICS, Target, TargetSample, TargetWork, take_target
from ros2_dyn.runtime.trajectory_effort import TrajectoryTask, TrajectoryWork
from ros2_dyn.runtime.update import Command, FailsafeConfig, Reply, Step, Update, Work, WorkDone

HISTORY = 32
"""Number of states that a runtime on standby keeps, and computes when it takes over. All are judged when they come: it
has to know which fit before the last ones do not."""


class ArmRuntime:
    """The runtime of one arm.

    `step` takes one input at a time `now`, s, which never decreases, and returns all that it leads to. Everything else
    reads, and changes nothing. Requests may name themselves (`request`), so that their `Reply` can be told from others.
    """

    def __init__(
        self, model: RobotModel | None = None, settings: Settings | None = None, *, standby: bool = False
    ) -> None:
        """Create it, and compile the kernels of a model in this thread.

        Args:
            model: the robot; None: it comes later, as a `Description`.
            settings: all parameters; the defaults for None.
            standby: whether states are only judged until a `TakeOver`, which costs little.

        Raises:
            ModelError: a joint is planar or floating.
            InputError: the robot has not the joints or the tip link that the settings name.
        """
        self.settings = settings or Settings()
        self.warnings: list[str] = []
        """What looks wrong in the robot description."""
        self._pipeline: StatePipeline | None = None
        self._modes = ModeManager()
        self._loader = RobotLoader()
        self._description: RobotModel | str | None = None
        self._calibration = CalibrationRuns()
        self._payload_runs = PayloadRuns()
        self._sources = StateSources()
        self._failsafe = FailsafeArming()
        self._events: list[Event] = []
        self._standby: deque[tuple[list[SynchronizedState], float]] | None = deque(maxlen=HISTORY) if standby else None
        self._handlers: dict[type, Callable[[Any, float], Update]] = {
            JointSample: self._on_joint_state,
            DesiredSample: self._on_desired,
            WrenchSample: self._on_target,
            PoseSample: self._on_target,
            HybridSample: self._on_target,
            TrajectorySample: self._on_trajectory,
            TimePassed: self._on_time,
            EnableSignal: self._on_enable,
            CommandLink: self._on_link,
            CommandExpired: self._on_command_expired,
            ClockJump: self._on_clock_jump,
            StatePublishers: self._on_state_publishers,
            ModeRequest: self._on_mode_request,
            FailsafeArmed: self._on_failsafe_armed,
            TakeOver: self._on_take_over,
            HandoverInput: self._on_handover,
            PayloadRequest: self._on_payload_request,
            PayloadQuestion: self._on_payload_question,
            CollisionReset: self._on_collision_reset,
            CollisionCalibration: self._on_collision_calibration,
            Description: self._on_description,
            SettingsChange: self._on_settings_change,
            WorkDone: self._on_work_done,
        }
        self._after_work: dict[type, Callable[[Any, float], Update]] = {
            RobotWork: self._on_robot_made,
            PayloadLinkWork: self._on_payload_link_made,
            TargetWork: self._on_target_made,
            PayloadWork: self._on_payload_estimated,
            TrajectoryWork: self._on_trajectory_computed,
        }
        if model is not None:
            self._install(RobotDynamics(model, self.settings), 0.0)

    def step(self, given: Input, now: float) -> Update:
        """Take one input at a time, s, and return all that it leads to."""
        return self._handlers[type(given)](given, now)

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
    def failsafe_config(self) -> FailsafeConfig | None:
        """What a failsafe process has to be armed with before a mode commands; None: none is needed."""
        return self._modes.failsafe_config()

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

    def external_efforts(self) -> CollisionUpdate:
        """Return the newest external efforts.

        Raises:
            InputError: none are observed.
        """
        if self._pipeline is None:
            raise InputError("detect_collisions", "there is no robot yet")
        return self._pipeline.external_efforts()

    def model_difference(self, now: float) -> ModelDifference | None:
        """Return what the arm exerts beyond its model, or None where it is not measured."""
        return self._modes.model_difference(now)

    def handover_view(self, now: float) -> ArmView:
        """Return what a handover sees of the arm; without joints where there is no state."""
        return self._modes.handover_view(now)

    def trajectory_task(self, now: float) -> TrajectoryTask:
        """Return what the effort along a trajectory depends on now, for those who compute it elsewhere.

        Raises:
            MessageError: there is no robot yet.
        """
        robot = self.require_robot("joint_names")
        settings, payload = robot.settings, tuple(robot.payload.at(now))
        return TrajectoryTask(robot.model, robot.payload.link, payload, settings.gravity, settings.command_effort)

    # ---- measured and desired states

    def _on_joint_state(self, sample: JointSample, now: float) -> Update:
        self._sources.note(sample.names, now)
        pipeline, modes = self._pipeline, self._modes
        if pipeline is None:
            return self._update()
        if self._standby is not None:
            if states := pipeline.judge(sample, now):
                self._standby.append((states, now))
            return self._update(*pipeline.observe((), now).events)
        intended = modes.intends_contact
        return self._decide(pipeline.on_joint_state(sample, now, commanded=modes.commands, contact_intended=intended))

    def _on_desired(self, sample: DesiredSample, now: float) -> Update:
        if self._pipeline is None:
            return self._update()
        intended = self._modes.intends_contact
        return self._decide(self._pipeline.on_desired(sample, now, contact_intended=intended))

    def _decide(self, passed: Passed) -> Update:
        """Decide what is commanded at the states that came out of the pipeline."""
        command: Command | None = None
        for observed in passed.observed:
            self._calibration.add(observed.seen)
            self._payload_runs.add(observed.state.measured)
            if observed.newest:
                command = self._modes.on_state(observed)
        steps = tuple(Step(observed.state.measured, observed.terms, observed.seen) for observed in passed.observed)
        return self._update(*passed.events, steps=steps, command=command)

    def _on_time(self, _: TimePassed, now: float) -> Update:
        command = self._modes.on_time(now)
        replies = self._calibration.finish(self.settings.false_alarms_per_hour, now)
        return self._update(command=command, replies=replies, work=self._payload_runs.finish(now))

    def _on_command_expired(self, _: CommandExpired, now: float) -> Update:
        self._modes.on_command_expired(now)
        return self._update()

    def _on_clock_jump(self, jump: ClockJump, now: float) -> Update:
        self._modes.stop("clock jumped", f": {jump.detail}")
        return self._update()

    def _on_state_publishers(self, publishers: StatePublishers, now: float) -> Update:
        if problem := self._sources.on_publishers(publishers.number, now):
            self._events.append(Event("two publishers", problem))
        return self._update()

    # ---- modes

    def _on_link(self, link: CommandLink, now: float) -> Update:
        self._modes.on_link(link, now)
        self._failsafe.on_link(link, self.commands, now)
        return self._update()

    def _on_enable(self, signal: EnableSignal, now: float) -> Update:
        self._modes.on_enable(signal.pressed, now)
        return self._update()

    def _on_target(self, sample: TargetSample, now: float) -> Update:
        if self._pipeline is None:
            return self._update()
        try:
            last, model = self._last_target(sample), self._pipeline.robot.model
            target = take_target(sample, last, model, self.settings, now)
        except MessageError as error:
            return self._update(rejection(TARGET_TOPICS[type(sample)], error))
        if isinstance(target, TargetWork):
            return self._update(work=(target,))
        self._modes.on_target(target)
        return self._update()

    def _on_target_made(self, done: WorkDone, now: float) -> Update:
        work = done.work
        assert isinstance(work, TargetWork)
        current = self._pipeline is not None and self._pipeline.robot.model is work.model
        if current and done.error is None and not work.is_late(self._last_target(work.sample)):
            self._modes.on_target(done.value)
        return self._update()

    def _last_target(self, sample: TargetSample) -> Target | None:
        """Return the target that a message replaces."""
        if isinstance(sample, WrenchSample):
            return self._modes.target
        pose = self._modes.target_pose
        return pose if isinstance(sample, PoseSample) or isinstance(pose, TargetHybrid) else None

    def _on_mode_request(self, asked: ModeRequest, now: float) -> Update:
        if asked.mode == "monitor":
            self._modes.leave(now)
            return self._update(replies=(Reply(asked.request),))
        if asked.mode not in ACTIVE_MODES:
            error = InputError("mode", f"expected one of monitor, {', '.join(ACTIVE_MODES)}; got '{asked.mode}'")
            return self._update(replies=(Reply(asked.request, error),))
        try:
            self._check_no_load(asked.mode)
            if problem := self._sources.problem(now):
                raise ModeRefused(asked.mode, problem)
            self._modes.check_entry(asked.mode, now)
        except ModeRefused as refused:
            return self._update(replies=(Reply(asked.request, refused),))
        config = self._modes.failsafe_config()
        if config is not None and not self._failsafe.is_armed(config, self._modes.link):
            self._failsafe.await_it(asked)
            return self._update(failsafe=config)
        return self._update(replies=(self._enter(asked.mode, asked.request, now),))

    def _on_failsafe_armed(self, armed: FailsafeArmed, now: float) -> Update:
        waiting, problem = self._failsafe.on_armed(armed, now), armed.problem
        if problem is None:
            self._modes.on_failsafe_armed()
        elif not waiting:  # it was for a robot that changed amid a mode
            self._modes.stop("failsafe lost", f": {problem}")
        if problem is None and armed.config != self._modes.failsafe_config():
            problem = Ros2DynError("the robot or parameters changed meanwhile: ask again")
        if problem is not None:
            refused = (Reply(each.request, ModeRefused(each.mode, str(problem))) for each in waiting)
            return self._update(replies=tuple(refused))
        return self._update(replies=tuple(self._enter(each.mode, each.request, now) for each in waiting))

    def _on_take_over(self, taken: TakeOver, now: float) -> Update:
        pipeline, history = self._pipeline, self._standby or ()
        assert pipeline is not None
        pipeline.robot.payload.change(taken.last.payload, 0.0, history[0][1] if history else now)
        self._modes.on_payload_changed()
        self._standby = None
        for states, at in history:
            self._events += self._decide(pipeline.observe_late(states, at)).events
        return self._update(command=self._modes.take_over(taken.last, taken.reason, now))

    def _check_no_load(self, mode: str) -> None:
        """Check that no robot is being made: a mode must not begin under parameters that are about to change."""
        if self._loader.busy:
            raise ModeRefused(mode, "another robot or other parameters are being prepared: ask again")

    def _enter(self, mode: str, request: Hashable, now: float) -> Reply:
        try:
            self._check_no_load(mode)
            self._events.append(Event("mode entered", self._modes.enter(cast(Mode, mode), now), "info"))
        except ModeRefused as refused:
            return Reply(request, refused)
        return Reply(request)

    def _on_handover(self, handover: HandoverInput, now: float) -> Update:
        self._modes.on_handover(handover.step, now)
        return self._update()

    # ---- payload, trajectories, collisions

    def _on_payload_request(self, asked: PayloadRequest, now: float) -> Update:
        try:
            robot = self.require_robot("link")
            q = None if self.state is None else self.state.q
            payload = checked_payload(robot, asked, q, self.mode if self.commands else "", now)
        except Ros2DynError as error:
            return self._update(replies=(Reply(asked.request, error),))
        if payload.link != robot.payload.link:
            return self._update(work=(PayloadLinkWork(robot, payload),))
        robot.payload.change(payload.parameters, payload.ramp_time, now)
        self._modes.on_payload_changed()
        return self._update(replies=(Reply(asked.request),))

    def _on_payload_link_made(self, done: WorkDone, now: float) -> Update:
        work, pipeline, error = done.work, self._pipeline, done.error
        assert isinstance(work, PayloadLinkWork)
        if pipeline is None or pipeline.robot is not work.robot:
            error = InputError("link", "the robot or parameters changed meanwhile: ask again")
        if error is None:
            assert pipeline is not None
            made: RobotDynamics = done.value
            made.payload.change(work.payload.parameters, work.payload.ramp_time, now)
            pipeline.use_payload_link(made)
            self._modes.use(made, now)
            self._failsafe.on_robot_changed(self.commands)
        return self._update(replies=(Reply(work.payload.request, error),))

    def _on_payload_question(self, question: PayloadQuestion, now: float) -> Update:
        try:
            return self._update(replies=self._payload_runs.begin(question, self.require_robot("link"), now))
        except Ros2DynError as error:
            return self._update(replies=(Reply(question.request, error),))

    def _on_payload_estimated(self, done: WorkDone, now: float) -> Update:
        return self._update(replies=(self._payload_runs.on_work_done(done),))

    def _on_trajectory(self, trajectory: TrajectorySample, now: float) -> Update:
        try:
            return self._update(work=(TrajectoryWork(self.trajectory_task(now), trajectory),))
        except MessageError as error:
            return self._update(replies=(Reply(trajectory.request, error),))

    def _on_trajectory_computed(self, done: WorkDone, now: float) -> Update:
        assert isinstance(done.work, TrajectoryWork)
        return self._update(replies=(Reply(done.work.trajectory.request, done.error, done.value),))

    def _on_collision_reset(self, asked: CollisionReset, now: float) -> Update:
        try:
            self.external_efforts()
        except InputError as error:
            return self._update(replies=(Reply(asked.request, error),))
        assert self._pipeline is not None
        self._pipeline.reset_collision()
        self._modes.forget_collision()
        return self._update(replies=(Reply(asked.request),))

    def _on_collision_calibration(self, asked: CollisionCalibration, now: float) -> Update:
        try:
            seen = self.external_efforts()
        except InputError as error:
            return self._update(replies=(Reply(asked.request, error),))
        deadline = now + self.settings.calibration_time
        return self._update(replies=self._calibration.begin(seen, deadline, asked.request))

    # ---- the robot and the parameters

    def _on_description(self, given: Description, now: float) -> Update:
        self._description = given.description
        payload = None if self._pipeline is None else self._pipeline.robot.payload
        return self._update(work=(self._loader.load(given.description, self.settings, payload),))

    def _on_settings_change(self, change: SettingsChange, now: float) -> Update:
        try:
            replies, work = self._change_settings(change.settings, now)
        except Ros2DynError as error:
            return self._update(replies=(Reply(change.request, error),))
        return self._update(replies=(Reply(change.request), *replies), work=work)

    def _change_settings(self, settings: Settings, now: float) -> tuple[tuple[Reply, ...], tuple[Work, ...]]:
        """Take parameters; return replies to what they end, and the work that they need.

        Raises:
            Ros2DynError: they are refused.
        """
        if self.commands:
            self.settings.check_unlocked(settings, self.mode)
        pipeline = self._pipeline
        if settings == self.settings:
            return (), ()
        if pipeline is None:
            self.settings = settings
            if self._description is None or self._loader.busy:
                return (), ()
            return (), (self._loader.load(self._description, settings, None),)  # it may fit these
        robot = pipeline.robot
        model = checked_model(robot.description, settings)
        self.settings = settings
        kernels_fit = model == robot.model and (settings.tip_link or model.default_tip) == robot.tip_link
        if self._loader.busy:
            return (), ()  # the robot that is being made is made again with these
        if kernels_fit:
            return self._install(RobotDynamics(robot.description, settings, robot.payload), now), ()
        return (), (self._loader.load(robot.description, settings, robot.payload),)

    def _on_work_done(self, done: WorkDone, now: float) -> Update:
        return self._after_work[type(done.work)](done, now)

    def _on_robot_made(self, done: WorkDone, now: float) -> Update:
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
        another = before is None or before.robot.description is not robot.description
        self._modes.use(robot, now)
        self._failsafe.on_robot_changed(self.commands)
        self.warnings = [str(each) for each in robot.findings if each.severity != "note"]
        names, model = ", ".join(robot.model.joint_names), robot.model.name
        text = f"using '{model}' with the joints {names}, tip link '{robot.tip_link}'"
        self._events.append(Event("robot used", text, "info"))
        if another:
            self._events += [Event("robot description", f"robot description: {text}") for text in self.warnings]
        abandoned = self._payload_runs.on_robot_changed()
        same_monitor = before is not None and before.monitor is self._pipeline.monitor
        return abandoned if same_monitor else (*abandoned, *self._calibration.abandon())

    # ---- updates

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
        if failsafe is None:  # the failsafe process must know the robot that is commanded
            failsafe = self._failsafe.take_due(modes.failsafe_config())
        failed = any(event.kind == STOP_FAILED for event in happened)
        return Update(modes.mode, modes.commands, steps, command, happened, replies, work, failed, failsafe)


def run_work(runtime: ArmRuntime, update: Update, now: float) -> Update:
    """Do all the work that an update asks for in this thread, and return the last update of it.

    A failsafe process that is asked for counts as armed: where nothing can die, none is needed.

    Raises:
        Ros2DynError: a reply refuses the request.
    """
    while update.work or update.failsafe is not None:
        if update.failsafe is not None:
            update = runtime.step(FailsafeArmed(update.failsafe), now)
        else:
            update = runtime.step(update.work[0].run(), now)
    for reply in update.replies:
        if reply.error is not None:
            raise reply.error
    return update
