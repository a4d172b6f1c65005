# SPDX-License-Identifier: Apache-2.0
"""One arm, step by step: every decision of the node as a function of inputs and time, without ROS, thread or clock.

A measured state passes through a pipeline, one file a stage:

    JointSample -> assemble -> believe -> synchronise -> compute -> observe -> decide -> limit -> Update
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ros2_dyn.control.command_supervisor import STOP_FAILED
from ros2_dyn.control.events import Event, rejection
from ros2_dyn.control.loop_delay import LoopDelay
from ros2_dyn.control.modes import AnyMode
from ros2_dyn.errors import InputError, MessageError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import inputs
from ros2_dyn.runtime.arm_observer import ArmObserver
from ros2_dyn.runtime.calibration_run import CalibrationRuns
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.handover_protocol import ArmView
from ros2_dyn.runtime.mode_manager import ModeManager
from ros2_dyn.runtime.mode_requests import Asked, ModeRequests
from ros2_dyn.runtime.model_monitor import ModelDifference
from ros2_dyn.runtime.payload_change import PayloadChange, PayloadLinkWork, change_payload, finish_payload_change
from ros2_dyn.runtime.payload_run import PayloadRuns, PayloadWork
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, no_robot
from ros2_dyn.runtime.robot_loader import RobotLoader, RobotWork, robot_events
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.state_pipeline import Passed, StatePipeline
from ros2_dyn.runtime.state_sources import StateSources
from ros2_dyn.runtime.states import MeasuredState, SynchronizedState
from ros2_dyn.runtime.targets import TARGET_TOPICS, Targets, TargetSample, TargetWork
from ros2_dyn.runtime.trajectory_effort import TrajectoryTask
from ros2_dyn.runtime.update import Command, FailsafeConfig, Reply, Step, Update, Work, WorkDone


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
        self.targets = Targets()
        """What is desired of the tip."""
        self._observer = ArmObserver(self.targets)
        self._modes = ModeManager(self._observer)
        self._loader = RobotLoader()
        self._calibration = CalibrationRuns()
        self._payload_runs = PayloadRuns()
        self._sources = StateSources()
        self._requests = ModeRequests(self._modes, self._loader, self._sources)
        self._events: list[Event] = []
        # of a runtime on standby: what it computes when it takes over; which states fit is judged when they come
        self._standby: deque[tuple[list[SynchronizedState], float]] | None = deque(maxlen=32) if standby else None
        self._handlers: dict[type, Callable[[Any, float], Update | None]] = {
            inputs.JointSample: self._on_joint_state,
            inputs.DesiredSample: self._on_desired,
            inputs.WrenchSample: self._on_target,
            inputs.PoseSample: self._on_target,
            inputs.HybridSample: self._on_target,
            inputs.TimePassed: self._on_time,
            inputs.EnableSignal: self._observer.on_enable,
            inputs.CommandLink: self._on_link,
            inputs.CommandExpired: self._modes.on_command_expired,
            inputs.ClockJump: self._modes.on_clock_jump,
            inputs.StatePublishers: self._on_state_publishers,
            inputs.ModeRequest: self._on_mode_request,
            inputs.FailsafeArmed: self._on_failsafe_armed,
            inputs.TakeOver: self._on_take_over,
            inputs.HandoverInput: self._modes.on_handover,
            inputs.PayloadRequest: self._on_payload_request,
            inputs.PayloadQuestion: self._on_payload_question,
            inputs.CollisionReset: self._on_collision_reset,
            inputs.CollisionCalibration: self._on_collision_calibration,
            inputs.Description: self._on_description,
            inputs.SettingsChange: self._on_settings_change,
            # work that is done, by its kind
            RobotWork: self._on_robot_made,
            PayloadLinkWork: self._on_payload_link_made,
            TargetWork: self._on_target_made,
            PayloadWork: self._on_payload_estimated,
        }
        if model is not None:
            self._install(RobotDynamics(model, self.settings), 0.0)

    def step(self, given: inputs.Input, now: float) -> Update:
        """Take one input at a time, s, and return all that it leads to; a request that raises is refused with that."""
        kind = type(given.work) if isinstance(given, WorkDone) else type(given)
        try:
            update = self._handlers[kind](given, now)
        except Ros2DynError as error:
            if not isinstance(given, inputs.Request):
                raise
            update = self._update(replies=(Reply(given.request, error),))
        return self._update() if update is None else update

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
        monitor = None if self._pipeline is None else self._pipeline.monitor
        return monitor is not None and monitor.detector.collision

    @property
    def detector_blind(self) -> bool:
        """Whether collisions are to be detected, and states come without usable efforts."""
        return self._pipeline is not None and self._pipeline.blind

    @property
    def mode(self) -> str:
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
    def active_mode(self) -> AnyMode | None:
        """The mode whose law determines the commands; None: none does."""
        return self._modes.active

    @property
    def loop(self) -> LoopDelay:
        """How late the loop is; to be read only."""
        return self._observer.loop.delay

    @property
    def failsafe_config(self) -> FailsafeConfig | None:
        """What a failsafe process has to be armed with before a mode commands; None: none is needed."""
        return self._modes.failsafe_config()

    def require_robot(self, field: str) -> RobotDynamics:
        """Return the robot.

        Raises:
            MessageError: there is none yet.
        """
        if self._pipeline is None:
            raise no_robot(field)
        return self._pipeline.robot

    def requested_state(self, sample: inputs.JointSample) -> MeasuredState:
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
            raise InputError("robot_description", "there is no robot yet")
        return self._pipeline.external_efforts()

    def model_difference(self, now: float) -> ModelDifference | None:
        """Return what the arm exerts beyond its model, or None where it is not measured."""
        return self._observer.model_difference(now, contact_expected=self._modes.intends_contact)

    def handover_view(self, now: float) -> ArmView:
        """Return what a handover sees of the arm; without joints where there is no state."""
        return self._modes.handover_view(now)

    def trajectory_task(self, now: float) -> TrajectoryTask:
        """Return what the effort along a trajectory depends on now, which may be computed in another process.

        Raises:
            MessageError: there is no robot yet.
        """
        return TrajectoryTask.of(self.require_robot("joint_names"), now)

    # ---- measured and desired states

    def _on_joint_state(self, sample: inputs.JointSample, now: float) -> Update:
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

    def _on_desired(self, sample: inputs.DesiredSample, now: float) -> Update:
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

    def _on_time(self, _: inputs.TimePassed, now: float) -> Update:
        command = self._modes.on_time(now)
        replies = self._calibration.finish(now)
        return self._update(command=command, replies=replies, work=self._payload_runs.finish(now))

    def _on_state_publishers(self, publishers: inputs.StatePublishers, now: float) -> None:
        if problem := self._sources.on_publishers(publishers.number, now):
            self._events.append(Event("two publishers", problem))

    # ---- modes

    def _on_link(self, link: inputs.CommandLink, now: float) -> None:
        self._modes.on_link(link, now)
        self._requests.on_link(link, now)

    def _on_target(self, sample: TargetSample, now: float) -> Update | None:
        if self._pipeline is None:
            return None
        try:
            work = self.targets.take(sample, self._pipeline.robot.model, self.settings.commands, now)
        except MessageError as error:
            return self._update(rejection(TARGET_TOPICS[type(sample)], error))
        return None if work is None else self._update(work=(work,))

    def _on_target_made(self, done: WorkDone, _: float) -> None:
        if self._pipeline is not None:
            self.targets.finish(done, self._pipeline.robot.model)

    def _on_mode_request(self, asked: inputs.ModeRequest, now: float) -> Update:
        return self._answer(self._requests.on_request(asked, now))

    def _on_failsafe_armed(self, armed: inputs.FailsafeArmed, now: float) -> Update:
        return self._answer(self._requests.on_failsafe_armed(armed, now))

    def _answer(self, asked: Asked) -> Update:
        self._events += asked.events
        return self._update(replies=asked.replies, failsafe=asked.failsafe)

    def _on_take_over(self, taken: inputs.TakeOver, now: float) -> Update:
        pipeline, history = self._pipeline, self._standby or ()
        assert pipeline is not None
        pipeline.robot.payload.change(taken.last.payload, 0.0, history[0][1] if history else now)
        self._observer.on_payload_changed()
        self._standby = None
        for states, at in history:
            self._events += self._decide(pipeline.observe_late(states, at)).events
        return self._update(command=self._modes.take_over(taken.last, taken.reason, now))

    # ---- payload, trajectories, collisions

    def _on_payload_request(self, asked: inputs.PayloadRequest, now: float) -> Update:
        q = None if self.state is None else self.state.q
        return self._use_payload(change_payload(self.robot, asked, q, self._modes.commanding, now), now)

    def _on_payload_link_made(self, done: WorkDone, now: float) -> Update:
        return self._use_payload(finish_payload_change(done, self.robot, self._modes.commanding, now), now)

    def _use_payload(self, change: PayloadChange, now: float) -> Update:
        if change.robot is not None:
            assert self._pipeline is not None
            self._pipeline.robot = change.robot
            self._modes.use(change.robot, now)
        if change.changed:
            self._observer.on_payload_changed()
            self._modes.on_payload_changed()
        return self._update(replies=change.replies, work=change.work)

    def _on_payload_question(self, question: inputs.PayloadQuestion, now: float) -> Update:
        return self._update(replies=self._payload_runs.begin(question, self.robot, now))

    def _on_payload_estimated(self, done: WorkDone, now: float) -> Update:
        return self._update(replies=(self._payload_runs.on_work_done(done),))

    def _on_collision_reset(self, asked: inputs.CollisionReset, now: float) -> Update:
        self.external_efforts()  # raises where none are observed
        assert self._pipeline is not None
        assert self._pipeline.monitor is not None
        self._pipeline.monitor.detector.reset()
        self._observer.forget_collision()
        return self._update(replies=(Reply(asked.request),))

    def _on_collision_calibration(self, asked: inputs.CollisionCalibration, now: float) -> Update:
        seen = self.external_efforts()
        deadline = now + self.settings.collision.calibration_time
        return self._update(replies=self._calibration.begin(seen, deadline, asked.request))

    # ---- the robot and the parameters

    def _on_description(self, given: inputs.Description, now: float) -> Update:
        payload = None if self._pipeline is None else self._pipeline.robot.payload
        return self._update(work=(self._loader.take(given.description, self.settings, payload),))

    def _on_settings_change(self, change: inputs.SettingsChange, now: float) -> Update:
        if change.settings == self.settings:
            return self._update(replies=(Reply(change.request),))
        if self.commands:
            self.settings.check_unlocked(change.settings, self.mode)
        loaded = self._loader.change_settings(change.settings, self.robot)
        self.settings = change.settings
        replies = () if loaded.robot is None else self._install(loaded.robot, now)
        return self._update(replies=(Reply(change.request), *replies), work=loaded.work)

    def _on_robot_made(self, done: WorkDone, now: float) -> Update:
        loaded = self._loader.finish(done, self.robot, self.settings)
        replies = () if loaded.robot is None else self._install(loaded.robot, now)
        return self._update(*loaded.events, replies=replies, work=loaded.work)

    def _install(self, robot: RobotDynamics, now: float) -> tuple[Reply, ...]:
        """Go on with a robot at a time, s; a calibration that ran is over where the observer is another."""
        before = self._pipeline
        if before is None or before.robot.description is not robot.description:
            self.targets.forget()
        self._pipeline = StatePipeline(robot, before)
        self._modes.use(robot, now)
        self._requests.on_robot_changed()
        self.warnings = [str(each) for each in robot.findings if each.severity != "note"]
        self._events += robot_events(robot, None if before is None else before.robot, self.warnings)
        abandoned = self._payload_runs.on_robot_changed()
        same_monitor = before is not None and before.monitor is self._pipeline.monitor
        return abandoned if same_monitor else (*abandoned, *self._calibration.abandon())

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
        if failsafe is None:
            failsafe = self._requests.take_due_failsafe()
        failed = STOP_FAILED in [event.kind for event in happened]
        return Update(modes.mode, modes.commands, steps, command, happened, replies, work, failed, failsafe)
