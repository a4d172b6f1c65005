# SPDX-License-Identifier: Apache-2.0
"""From messages to observed states: the stages "assemble", "believe", "synchronise", "compute" and "observe"."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from ros2_dyn.control.events import Event, rejection
from ros2_dyn.control.state_plausibility import PlausibilityLimits, StatePlausibility
from ros2_dyn.control.turns import continuous_joints, nearest_turn
from ros2_dyn.errors import InputError, MessageError, shorten
from ros2_dyn.estimation.filters import time_constant
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.collision_monitor import CollisionMonitor, CollisionUpdate
from ros2_dyn.runtime.inputs import DesiredSample, JointSample
from ros2_dyn.runtime.joint_order import JointOrder
from ros2_dyn.runtime.joint_state_assembler import VELOCITY_CUTOFF, AssemblerOptions, JointStateAssembler
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, Terms
from ros2_dyn.runtime.settings import StateSettings
from ros2_dyn.runtime.state_synchronizer import StateSynchronizer
from ros2_dyn.runtime.states import MeasuredState, SynchronizedState


class Observed(NamedTuple):
    """One state with all that the stages have found."""

    state: SynchronizedState
    terms: Terms
    seen: CollisionUpdate | None
    """External efforts, where they are observed."""
    observed_at: float
    """When external efforts were observed last, s."""
    collision: bool
    """Whether a collision is latched."""
    stamped: bool
    """Whether the newest message of each joint has a stamp."""
    newest: bool
    """Whether no newer state has been measured."""
    now: float
    """When it was complete, s."""


class Passed(NamedTuple):
    """What became of one message."""

    observed: tuple[Observed, ...] = ()
    """One for each measured state that was complete with it, oldest first; mostly one."""
    events: tuple[Event, ...] = ()


class StatePipeline:
    """The stages of one robot, replaced as a whole when a new one comes."""

    def __init__(self, robot: RobotDynamics, before: StatePipeline | None = None) -> None:
        """Make the stages of a robot; those of the one before go on where nothing changes for them."""
        model, settings = robot.model, robot.settings
        options = AssemblerOptions(
            settings.states.timeout, "velocity" in settings.states.estimate, effort_gain=robot.effort_gain
        )
        self.robot = robot
        """May be replaced by the same one whose payload is on another link."""
        self.order = JointOrder(model.joint_names)
        self.synchronizer = StateSynchronizer(settings.commands.target_timeout)
        self.monitor = collision_monitor(robot) if settings.collision.observes else None
        self.state: MeasuredState | None = None
        """The newest measured state."""
        self.collision: CollisionUpdate | None = None
        """The newest external efforts."""
        self.observed_at = -inf
        """When they were observed, s."""
        self.blind = False
        """Whether none are observed, though states come and collisions are to be detected."""
        self._assembler = JointStateAssembler(model, options)
        self._plausibility = StatePlausibility(plausibility_limits(model, settings.states))
        self._stamped = True
        self._events: list[Event] = []
        if before is not None and before.robot.model.joint_names == model.joint_names:
            self._go_on_from(before)

    def _go_on_from(self, before: StatePipeline) -> None:
        """Take over from the stages of a robot with the same joints."""
        self.state, self._stamped = before.state, before._stamped
        same = self.robot.description is before.robot.description
        if same and self._assembler.options == before._assembler.options:
            self._assembler = before._assembler
        if self._plausibility.limits == before._plausibility.limits:
            self._plausibility = before._plausibility
        else:
            self._plausibility.go_on_from(before._plausibility)
        if self.synchronizer.timeout == before.synchronizer.timeout:
            self.synchronizer = before.synchronizer
        if self.monitor is not None and before.monitor is not None:
            if self.monitor.is_like(before.monitor):
                self.monitor, self.collision = before.monitor, before.collision
                self.observed_at, self.blind = before.observed_at, before.blind
            else:
                self.monitor.detector.collision = before.monitor.detector.collision

    def on_joint_state(
        self, sample: JointSample, now: float, *, commanded: bool = False, contact_intended: bool = False
    ) -> Passed:
        """Take a message of joint states.

        Args:
            sample: the message.
            now: time, s.
            commanded: whether the arm is commanded, so that wrong velocities are replaced.
            contact_intended: whether the mode intends contact, which is no collision then.
        """
        return self.observe(self.judge(sample, now, commanded), now, contact_intended)

    def external_efforts(self) -> CollisionUpdate:
        """Return the newest external efforts.

        Raises:
            InputError: none are observed.
        """
        if self.monitor is None:
            raise InputError("collision.bandwidth", "it is 0: external efforts are not observed")
        if self.collision is None:
            raise InputError("effort", "joint_states has not given an effort of all joints yet")
        return self.collision

    def judge(self, sample: JointSample, now: float, commanded: bool = False) -> list[SynchronizedState]:
        """Pass a message of joint states through the first stages; return the states for `observe`."""
        try:
            assembled = self._assembler.process(sample, now)
        except MessageError as error:
            self._events.append(rejection("joint_states", error))
            return []
        if assembled.state is None:
            names = shorten(", ".join(sample.names))
            text = f"joint_states holds [{names}], none of them a joint of '{self.robot.model.name}'"
            self._events.append(Event("foreign", text, logged=self.state is None, topic="joint_states"))
            return []
        if assembled.restarted:
            self.synchronizer = StateSynchronizer(self.robot.settings.commands.target_timeout)
            self._plausibility.restart()
            self._events.append(Event("stamps went back", "the stamps of joint_states went back: starting afresh"))
        self.state, self._stamped = self._judged(assembled.state, now, commanded), assembled.stamped
        return self.synchronizer.on_measured(self.state, now)

    def _judged(self, state: MeasuredState, now: float, commanded: bool) -> MeasuredState:
        """Return a state with what does not fit in it; it is computed all the same.

        No command is based on positions that do not fit. Where velocities do not, a mode stops.
        """
        q = self._plausibility.unwrapped(state.q)
        found = self._plausibility.check(state.joints, state.stamp, q, state.qd, now)
        problem, velocity_problem = found.problem, found.velocity_problem
        believed = None if self.state is None else self.state.believed_q
        if problem:
            text = f"no command is based on joint_states: {problem}"
            self._events.append(Event("implausible", text, topic="joint_states"))
            return state._replace(q=q, problem=problem, believed_q=believed)
        if velocity_problem:
            text = f"positions and velocities of joint_states do not fit: {velocity_problem}"
            self._events.append(Event("velocity implausible", text, topic="joint_states"))
            qd = list(found.rates) if commanded else state.qd
            return state._replace(
                q=q, qd=qd, velocity_problem=velocity_problem, misplaced=found.misplaced, believed_q=believed
            )
        return state._replace(q=q, shown_qd=self._plausibility.shown(state.qd), believed_q=state.q)

    def on_desired(self, sample: DesiredSample, now: float, *, contact_intended: bool = False) -> Passed:
        """Take a desired state at a time, s; the rest as for `on_joint_state`."""
        try:
            desired = self.order.desired(sample)
        except MessageError as error:
            return self._passed(rejection("~/desired", error))
        return self.observe(self.synchronizer.on_desired(desired, now), now, contact_intended)

    def observe_late(self, states: Sequence[SynchronizedState], at: float) -> Passed:
        """Pass states of `judge` through the other stages after newer ones were judged; they came at a time, s."""
        self.state = states[-1].measured
        return self.observe(states, at)

    def observe(self, states: Sequence[SynchronizedState], now: float, contact_intended: bool = False) -> Passed:
        """Pass synchronized states through the other stages."""
        observed = []
        for state in states:
            state, terms = self._compute(state, now)
            if terms is None:
                continue
            seen = self._observe(state.measured, terms, now, contact_intended)
            collision = self.monitor is not None and self.monitor.detector.collision
            newest = state.measured is self.state
            observed.append(Observed(state, terms, seen, self.observed_at, collision, self._stamped, newest, now))
        return self._passed(observed=tuple(observed))

    def _compute(self, state: SynchronizedState, now: float) -> tuple[SynchronizedState, Terms | None]:
        """Return the terms of a state; where the desired state makes no sense, without it."""
        continuous, desired = self._plausibility.limits.continuous, state.desired
        if desired is not None and desired.q is not None and any(continuous):
            state = state._replace(desired=desired._replace(q=nearest_turn(desired.q, state.measured.q, continuous)))
        try:
            return state, self.robot.compute(state, now)
        except MessageError as error:
            if state.desired is None:
                self._events.append(rejection("joint_states", error))
                return state, None
            self._events.append(rejection("~/desired", error))
            return self._compute(state._replace(desired=None), now)

    def _observe(
        self, state: MeasuredState, terms: Terms, now: float, contact_intended: bool
    ) -> CollisionUpdate | None:
        """Return the external efforts at a state, where they are observed."""
        if self.monitor is None:
            return None
        seen = self._try_observe(self.monitor, state, terms, now, contact_intended)
        if seen is not None:
            self.collision, self.observed_at = seen, now
        blind = self.monitor.has_thresholds and now - self.observed_at > self.robot.settings.states.timeout
        if blind != self.blind:
            self.blind = blind
            text = "joint_states gives no usable effort: collisions are not detected"
            change = (
                Event("detector blind", text, "error") if blind else Event("detector sees", "it does again", "info")
            )
            self._events.append(change)
        return seen

    def _try_observe(
        self, monitor: CollisionMonitor, state: MeasuredState, terms: Terms, now: float, contact_intended: bool
    ) -> CollisionUpdate | None:
        """Return the external efforts at a state; None where it has no usable effort."""
        try:
            seen = monitor.update(state, terms, self.robot, now, contact_intended=contact_intended)
        except MessageError as error:
            self._events.append(rejection("joint_states", error))
            return None
        if seen is not None and seen.begins:
            link = f" on {seen.contact.link}" if seen.contact.link else ""
            self._events.append(Event("collision", f"collision{link}: ~/reset_collision ends it", "error"))
        return seen

    def _passed(self, *events: Event, observed: tuple[Observed, ...] = ()) -> Passed:
        if not (self._events or events):
            return Passed(observed)
        happened = (*self._events, *events)
        self._events.clear()
        return Passed(observed, happened)


def collision_monitor(robot: RobotDynamics) -> CollisionMonitor:
    """Return the monitor that the parameters of a robot describe."""
    settings = robot.settings
    threshold = settings.in_order(settings.collision.threshold, robot.model, inf)
    measured = settings.states.measured_effort
    return CollisionMonitor(robot.model, settings.collision.bandwidth, threshold, measured, robot.effort_cutoff)


def plausibility_limits(model: RobotModel, states: StateSettings) -> PlausibilityLimits:
    """Return what the joints of a robot may do."""
    return PlausibilityLimits(
        model.joint_names,
        tuple(model.lower.tolist()),
        tuple(model.upper.tolist()),
        continuous_joints(model),
        timeout=states.timeout,
        detect_frozen=states.detect_frozen,
        velocity_lag=time_constant(VELOCITY_CUTOFF) if "velocity" in states.estimate else 0.0,
    )
