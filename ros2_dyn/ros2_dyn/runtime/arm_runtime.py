"""One arm, step by step: every decision of the node as a function of inputs and time, without ROS, thread or clock.

A measured state passes through a pipeline, one file a stage:

    JointSample -> assemble -> synchronise -> compute -> observe -> decide -> limit -> Update
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ros2_dyn.control.events import Event, rejection
from ros2_dyn.control.modes import ACTIVE_MODES, Mode
from ros2_dyn.errors import InputError, MessageError, ModeRefused, Ros2DynError
from ros2_dyn.model import RobotModel, audit
from ros2_dyn.runtime.calibration_run import CalibrationRun
from ros2_dyn.runtime.collision_monitor import CollisionMonitor, CollisionUpdate
from ros2_dyn.runtime.joint_order import JointOrder
from ros2_dyn.runtime.joint_state_assembler import AssemblerOptions, JointStateAssembler
from ros2_dyn.runtime.mode_manager import ModeManager, Observed
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, Terms, checked_model
from ros2_dyn.runtime.robot_kernels import trajectory_kernel
from ros2_dyn.runtime.samples import (
    CommandLink,
    DesiredSample,
    JointSample,
    PayloadRequest,
    TrajectorySample,
    WrenchSample,
)
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_synchronizer import StateSynchronizer
from ros2_dyn.runtime.states import MeasuredState, SynchronizedState
from ros2_dyn.runtime.target_wrench import TargetWrench, check_wrench
from ros2_dyn.runtime.trajectory_effort import effort_along
from ros2_dyn.runtime.update import Command, FailsafeConfig, Reply, Step, Update, Work, WorkDone


@dataclass
class Stages:
    """The stages of one robot, replaced as a whole when a new one comes."""

    robot: RobotDynamics
    order: JointOrder
    assembler: JointStateAssembler
    synchronizer: StateSynchronizer
    monitor: CollisionMonitor | None
    state: MeasuredState | None = None
    """The newest measured state."""
    stamped: bool = True
    """Whether its message has a stamp."""
    collision: CollisionUpdate | None = None
    """The newest external efforts."""

    @classmethod
    def of(cls, robot: RobotDynamics, before: Stages | None) -> Stages:
        """Make the stages of a robot; those of the one before go on where nothing changes for them."""
        model, settings = robot.model, robot.settings
        gain = tuple(settings.in_order(settings.effort_gain, model, 1.0))
        options = AssemblerOptions(settings.merge_timeout, settings.estimate_velocity, settings.velocity_cutoff, gain)
        stages = cls(
            robot,
            JointOrder(model.joint_names),
            JointStateAssembler(model, options),
            StateSynchronizer(settings.desired_timeout),
            CollisionMonitor(model, settings) if settings.detect_collisions else None,
        )
        if before is not None and before.robot.model.joint_names == model.joint_names:
            stages._go_on_from(before)
        return stages

    def _go_on_from(self, before: Stages) -> None:
        """Take over from the stages of a robot with the same joints."""
        self.state, self.stamped = before.state, before.stamped
        if self.robot.description is before.robot.description and self.assembler.options == before.assembler.options:
            self.assembler = before.assembler
        if self.synchronizer.timeout == before.synchronizer.timeout:
            self.synchronizer = before.synchronizer
        if self.monitor is not None and before.monitor is not None:
            if self.monitor.is_like(before.monitor):
                self.monitor, self.collision = before.monitor, before.collision
            else:
                self.monitor.latch(before.monitor.collision)


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
        self._stages: Stages | None = None
        self._modes = ModeManager()
        self._load: Work | None = None
        self._calibration: CalibrationRun | None = None
        self._entering: list[tuple[Mode, Hashable]] = []
        self._events: list[Event] = []
        if model is not None:
            self._install(RobotDynamics(model, self.settings))

    # ---- what services and diagnostics read

    @property
    def robot(self) -> RobotDynamics | None:
        """The robot; None before there is one."""
        return None if self._stages is None else self._stages.robot

    @property
    def state(self) -> MeasuredState | None:
        """The newest measured state."""
        return None if self._stages is None else self._stages.state

    @property
    def collision(self) -> CollisionUpdate | None:
        """The newest external efforts."""
        return None if self._stages is None else self._stages.collision

    @property
    def collision_latched(self) -> bool:
        """Whether there was a collision that was not reset."""
        return self._stages is not None and self._stages.monitor is not None and self._stages.monitor.collision

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
    def waits_for_desired(self) -> bool:
        """Whether a measured state waits for its desired state."""
        return self._stages is not None and self._stages.synchronizer.waits

    def require_robot(self, field: str) -> RobotDynamics:
        """Return the robot.

        Raises:
            MessageError: there is none yet.
        """
        if self._stages is None:
            raise MessageError(field, "no robot yet", "no robot_description has been received")
        return self._stages.robot

    def requested_state(self, sample: JointSample) -> MeasuredState:
        """Return the state that a request gives, or the newest measured one where it names no joints.

        Raises:
            MessageError: there is none, or as `JointOrder.state`.
        """
        self.require_robot("state")
        assert self._stages is not None
        if sample.names:
            return self._stages.order.state(sample)
        if self._stages.state is None:
            raise MessageError("state", "empty", "no usable message has been received on joint_states either")
        return self._stages.state

    # ---- measured and desired states

    def on_joint_state(self, sample: JointSample, now: float) -> Update:
        """Take a message of joint states."""
        stages = self._stages
        if stages is None:
            return self._update()
        try:
            assembled = stages.assembler.process(sample, now)
        except MessageError as error:
            return self._reject("joint_states", error)
        if assembled.state is None:
            text = (
                f"joint_states holds [{', '.join(sample.names)}], none of them a joint of '{stages.robot.model.name}'"
            )
            return self._update(Event("foreign", text, logged=stages.state is None, topic="joint_states"))
        if assembled.restarted:
            stages.synchronizer = StateSynchronizer(stages.robot.settings.desired_timeout)
            self._events.append(Event("stamps went back", "the stamps of joint_states went back: starting afresh"))
        stages.state, stages.stamped = assembled.state, assembled.stamped
        return self._advance(stages, stages.synchronizer.on_measured(assembled.state, now), now)

    def on_desired(self, sample: DesiredSample, now: float) -> Update:
        """Take a desired state."""
        stages = self._stages
        if stages is None:
            return self._update()
        try:
            desired = stages.order.desired(sample)
        except MessageError as error:
            return self._reject("~/desired", error)
        return self._advance(stages, stages.synchronizer.on_desired(desired, now), now)

    def _advance(self, stages: Stages, states: list[SynchronizedState], now: float) -> Update:
        """Pass synchronized states through the other stages."""
        steps: list[Step] = []
        command: Command | None = None
        for state in states:
            state, terms = self._compute(stages.robot, state, now)
            if terms is None:
                continue
            seen = self._observe(stages, state.measured, terms, now)
            if state.measured is stages.state:
                collision = stages.monitor is not None and stages.monitor.collision
                command = self._modes.on_state(Observed(state, terms, seen, collision, stages.stamped, now))
            steps.append(Step(state.measured, terms, seen))
        return self._update(steps=tuple(steps), command=command)

    def _compute(
        self, robot: RobotDynamics, state: SynchronizedState, now: float
    ) -> tuple[SynchronizedState, Terms | None]:
        """Return the terms of a state; where the desired state makes no sense, without it."""
        try:
            return state, robot.compute(state, now)
        except MessageError as error:
            if state.desired is None:
                self._events.append(rejection("joint_states", error))
                return state, None
            self._events.append(rejection("~/desired", error))
            return self._compute(robot, state._replace(desired=None), now)

    def _observe(self, stages: Stages, state: MeasuredState, terms: Terms, now: float) -> CollisionUpdate | None:
        """Return the external efforts at a state, where they are observed."""
        if stages.monitor is None:
            return None
        try:
            seen = stages.monitor.update(state, terms, stages.robot, now)
        except MessageError as error:
            self._events.append(rejection("joint_states", error))
            return None
        if seen is not None:
            stages.collision = seen
            if self._calibration is not None:
                self._calibration.update(seen)
            if seen.begins:
                link = f" on {seen.contact.link}" if seen.contact.link else ""
                self._events.append(Event("collision", f"collision{link}: ~/reset_collision ends it", "error"))
        return seen

    def on_time(self, now: float) -> Update:
        """Let time pass: to be called every `RAMP_DOWN_PERIOD` while commands leave, and now and then otherwise."""
        command = self._modes.on_time(now)
        return self._update(command=command, replies=self._finish_calibration(now))

    def on_command_expired(self, now: float) -> Update:
        """Take notice that the newest command was not published before it expired."""
        self._modes.on_command_expired(now)
        return self._update()

    def on_clock_jump(self, detail: str, now: float) -> Update:
        """Take notice that the clock of the stamps was set, by as much as the detail describes; modes stop."""
        self._modes.stop("clock jumped", f": {detail}")
        return self._update()

    # ---- modes

    def on_command_link(self, link: CommandLink, now: float) -> Update:
        """Take what is known of the other side of the commands."""
        self._modes.on_link(link)
        return self._update()

    def on_desired_wrench(self, sample: WrenchSample, now: float) -> Update:
        """Take a desired wrench."""
        stages, known = self._stages, self._modes.target
        if stages is None:
            return self._update()
        model = stages.robot.model
        try:
            if known is not None and known.frame == sample.frame:
                self._modes.target = TargetWrench(model, sample, now)
                return self._update()
            check_wrench(model, sample)
        except MessageError as error:
            return self._reject("~/desired_wrench", error)

        def take(done: WorkDone, later: float) -> Update:
            newest = self._modes.target is None or self._modes.target.received_at < now
            if newest and self._stages is not None and self._stages.robot.model is model:
                self._modes.target = done.value
            return self._update()

        # The kernel of a new frame has to be compiled.
        return self._update(work=(Work("desired wrench", lambda: TargetWrench(model, sample, now), take),))

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
            return self._update(
                replies=tuple(Reply(request, ModeRefused(mode, str(problem))) for mode, request in waiting)
            )
        self._modes.armed = config
        self._modes.link = self._modes.link._replace(failsafe_alive=True)
        if config != self._modes.failsafe_config():
            error = "the robot or parameters changed meanwhile: ask again"
            return self._update(replies=tuple(Reply(request, ModeRefused(mode, error)) for mode, request in waiting))
        return self._update(replies=tuple(self._enter(mode, request, now) for mode, request in waiting))

    def _check_no_load(self, mode: Mode) -> None:
        """Check that no robot is being made: a mode must not begin under parameters that are about to change."""
        if self._load is not None:
            raise ModeRefused(mode, "another robot or other parameters are being prepared: ask again")

    def _enter(self, mode: Mode, request: Hashable, now: float) -> Reply:
        try:
            self._check_no_load(mode)
            self._events.append(Event("mode entered", self._modes.enter(mode, now), "info"))
        except ModeRefused as refused:
            return Reply(request, refused)
        return Reply(request)

    # ---- payload, trajectories, collisions

    def set_payload(self, payload: PayloadRequest, now: float, request: Hashable = None) -> Update:
        """Change what the robot carries."""
        try:
            robot = self.require_robot("link")
            link = robot.check_payload_link(payload.link, now)
            if link == robot.payload.link:
                robot.payload.change(payload.parameters, payload.ramp_time, now)
                return self._update(replies=(Reply(request),))
            PayloadRamp(link).change(payload.parameters, payload.ramp_time, now)  # what is wrong is wrong now
        except Ros2DynError as error:
            return self._update(replies=(Reply(request, error),))

        def take(done: WorkDone, later: float) -> Update:
            stages = self._stages
            if stages is None or stages.robot is not robot:
                error = InputError("link", "the robot or parameters changed meanwhile: ask again")
                return self._update(replies=(Reply(request, error),))
            if done.error is not None:
                return self._update(replies=(Reply(request, done.error),))
            loaded: RobotDynamics = done.value
            loaded.payload.change(payload.parameters, payload.ramp_time, later)
            stages.robot = loaded
            self._modes.use(loaded)
            return self._update(replies=(Reply(request),))

        # The kernels for a payload on another link have to be compiled.
        work = Work("payload", lambda: RobotDynamics(robot.description, robot.settings, PayloadRamp(link)), take)
        return self._update(work=(work,))

    def on_desired_trajectory(self, trajectory: TrajectorySample, now: float, request: Hashable = None) -> Update:
        """Compute the effort of every point; the reply's value has shape (m, k), see `effort_along`."""
        try:
            robot = self.require_robot("joint_names")
        except MessageError as error:
            return self._update(replies=(Reply(request, error),))
        payload, total = tuple(robot.payload.at(now)), robot.settings.command_effort == "raw"
        link, settings, model = robot.payload.link, robot.settings, robot.model

        def compute() -> object:
            kernel = trajectory_kernel(model, link)
            return effort_along(trajectory, model.joint_names, kernel, settings.gravity, payload, total)

        def take(done: WorkDone, later: float) -> Update:
            return self._update(replies=(Reply(request, done.error, done.value),))

        return self._update(work=(Work("trajectory", compute, take),))

    def reset_collision(self, now: float, request: Hashable = None) -> Update:
        """Forget a collision."""
        try:
            self.watching()
        except InputError as error:
            return self._update(replies=(Reply(request, error),))
        assert self._stages is not None
        assert self._stages.monitor is not None
        self._stages.monitor.reset()
        self._modes.forget_collision()
        return self._update(replies=(Reply(request),))

    def watching(self) -> CollisionUpdate:
        """Return the newest external efforts.

        Raises:
            InputError: none are observed.
        """
        if self._stages is None or self._stages.monitor is None:
            raise InputError("detect_collisions", "there is no robot yet, or this parameter is false")
        if self._stages.collision is None:
            raise InputError("effort", "joint_states has not given an effort of all joints yet")
        return self._stages.collision

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
        payload = None if self._stages is None else self._stages.robot.payload
        return self._request_load(_loader(description, self.settings, payload))

    def change_settings(self, settings: Settings, now: float) -> Update:
        """Take other parameters, all or none. What needs new kernels takes effect when they are ready.

        Raises:
            Ros2DynError: the robot does not fit them, or one of them cannot be changed while a mode commands.
        """
        if self.commands:
            self.settings.check_unlocked(settings, self.mode)
        stages = self._stages
        if stages is None or settings == self.settings:
            self.settings = settings
            return self._update()
        robot = stages.robot
        model = checked_model(robot.description, settings)
        self.settings = settings
        kernels_fit = (
            model == robot.model
            and (settings.tip_link or model.default_tip) == robot.tip_link
            and settings.detect_collisions == robot.settings.detect_collisions
        )
        if self._load is not None:
            return self._update()  # the robot that is being made is made again with these
        if kernels_fit:
            return self._update(replies=self._install(RobotDynamics(robot.description, settings, robot.payload)))
        return self._request_load(_loader(robot.description, settings, robot.payload))

    def on_work_done(self, done: WorkDone, now: float) -> Update:
        """Take the outcome of a piece of work that an update asked for."""
        return done.work.then(done, now)

    def _request_load(self, function: Callable[[], RobotDynamics]) -> Update:
        self._load = Work("robot", function, self._on_loaded)
        return self._update(work=(self._load,))

    def _on_loaded(self, done: WorkDone, now: float) -> Update:
        if done.work is not self._load:
            return self._update()  # a newer robot is being made
        self._load = None
        if done.error is not None:
            current = None if self._stages is None else self._stages.robot
            kept = "" if current is None else f"; '{current.model.name}' is kept"
            self._events.append(Event("robot rejected", f"robot_description rejected: {done.error}{kept}", "error"))
            if current is None or current.settings == self.settings:
                return self._update()
            return self._request_load(_loader(current.description, self.settings, current.payload))
        robot: RobotDynamics = done.value
        payload = None if self._stages is None else self._stages.robot.payload
        other_payload = (
            payload is not None
            and payload is not robot.payload
            and any(payload.target)
            and robot.can_carry(payload.link)
        )
        if robot.settings != self.settings or other_payload:  # they changed meanwhile
            return self._request_load(_loader(robot.description, self.settings, payload))
        return self._update(replies=self._install(robot))

    def _install(self, robot: RobotDynamics) -> tuple[Reply, ...]:
        """Go on with a robot; a calibration that ran is over where the observer is another."""
        before = self._stages
        if before is not None and robot.payload is not before.robot.payload and any(before.robot.payload.target):
            text = "the payload is gone: no joint moves the link that carried it any more"
            self._events.append(Event("payload gone", text))
        self._stages = Stages.of(robot, before)
        self._modes.use(robot)
        self.warnings = audit(robot.model)
        names, model = ", ".join(robot.model.joint_names), robot.model.name
        text = f"using '{model}' with the joints {names}, tip link '{robot.tip_link}'"
        self._events.append(Event("robot used", text, "info"))
        if before is None or before.robot.description is not robot.description:
            self._events += [Event("robot description", f"robot description: {text}") for text in self.warnings]
        same_monitor = before is not None and before.monitor is self._stages.monitor
        return () if same_monitor else self._abandon_calibration()

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
        return Update(modes.mode, modes.commands, steps, command, happened, replies, work, failsafe)


def _loader(
    description: RobotModel | str, settings: Settings, payload: PayloadRamp | None
) -> Callable[[], RobotDynamics]:
    """Return a function that makes a robot, with its payload where it can carry that; it reads nothing else."""

    def load() -> RobotDynamics:
        model = RobotModel.from_urdf(description) if isinstance(description, str) else description
        robot = RobotDynamics(model, settings)
        carries = payload is not None and any(payload.target) and robot.can_carry(payload.link)
        return RobotDynamics(model, settings, payload) if carries else robot

    return load
