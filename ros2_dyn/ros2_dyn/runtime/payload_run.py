# SPDX-License-Identifier: Apache-2.0
"""Running estimates of a payload: which states they collect, when they end, and what is to be computed then."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from ros2_dyn.dynamics import gravity, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.payload import PayloadEstimate, estimate_payload
from ros2_dyn.estimation.payload_equations import check_windows, friction_along_windows
from ros2_dyn.estimation.state_windows import StateWindows, WindowAverager
from ros2_dyn.runtime.inputs import PayloadQuestion
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, no_robot
from ros2_dyn.runtime.states import MeasuredState
from ros2_dyn.runtime.update import Reply, Work, WorkDone


class EstimatedPayload(NamedTuple):
    """What was estimated, on which link, and when."""

    link: str
    stamp: int
    """Stamp of the newest state, ns."""
    payload: PayloadEstimate


class PayloadRun:
    """Collects the states of one motion until its deadline."""

    def __init__(self, robot: RobotDynamics, link: str, tare: bool, deadline: float, request: Hashable) -> None:
        """Begin it.

        Args:
            robot: the robot.
            link: that carries the payload.
            tare: whether nothing is carried.
            deadline: when it ends, s.
            request: who asked for it.
        """
        self.tare, self.deadline, self.request = tare, deadline, request
        self._robot, self._link = robot, link
        self._averager = WindowAverager(robot.model.n)
        self._first, self._newest, self._without_effort = 0, 0, False

    def add(self, state: MeasuredState) -> None:
        """Take a state, unless it does not fit those before."""
        if state.effort is None:
            self._without_effort = True
        elif not (state.problem or state.velocity_problem):
            self._first, self._newest = self._first or state.stamp, state.stamp
            self._averager.add(1e-9 * (state.stamp - self._first), state.q, state.qd, state.effort)

    def windows(self) -> StateWindows:
        """Return what was collected, with whole efforts, whatever is measured.

        Raises:
            InputError: there are too few states, or they have no efforts.
        """
        if not self._newest and self._without_effort:
            raise InputError("effort", "joint_states does not give an effort of all joints")
        windows, model, settings = self._averager.windows(), self._robot.model, self._robot.settings
        check_windows(model, windows)
        effort, weight = windows.effort, settings.robot.gravity
        if settings.states.measured_effort == "gravity_compensated":
            effort = effort + gravity(model, windows.q, weight)
        elif settings.states.measured_effort == "external":
            expected = rnea(model, windows.q, windows.qd, windows.qdd, weight)
            effort = expected + friction_along_windows(model, windows, weight) - effort
        return windows._replace(effort=effort)

    def estimate(self, windows: StateWindows, tare: StateWindows | None) -> EstimatedPayload:
        """Return what is carried, given a motion without payload, if there is one.

        Raises:
            InputError: as `estimate_payload`.
        """
        robot = self._robot
        payload = estimate_payload(robot.model, windows, self._link, robot.settings.robot.gravity, tare)
        return EstimatedPayload(self._link, self._newest, payload)


@dataclass(frozen=True, eq=False)
class PayloadWork(Work):
    """The estimate of a payload from the states of a run."""

    run_of: PayloadRun
    tare: StateWindows | None
    """The newest motion without payload."""
    robots: int
    """Number of robots and parameters when it was asked for."""

    def compute(self) -> tuple[StateWindows, EstimatedPayload | None]:
        """Return what was collected, and what is carried, which a tare does not tell."""
        windows = self.run_of.windows()
        return windows, None if self.run_of.tare else self.run_of.estimate(windows, self.tare)


class PayloadRuns:
    """The run that goes on, and the newest motion without payload."""

    def __init__(self) -> None:
        self._run: PayloadRun | None = None
        self._tare: StateWindows | None = None
        self._robots = 0
        """Number of robots and parameters so far: what was begun with one tells nothing of the next."""

    def begin(self, question: PayloadQuestion, robot: RobotDynamics | None, now: float) -> tuple[Reply, ...]:
        """Begin a run at a time, s; return the reply to the one that it replaces.

        Raises:
            Ros2DynError: there is no robot, no such link, or the duration is wrong.
        """
        if robot is None:
            raise no_robot("link")
        link = robot.check_payload_link(question.link, now)
        if not 0 <= question.duration <= 300:
            raise InputError("duration", f"expected 0 to 300 s, got {question.duration}")
        replies = self._end("another estimate was asked for meanwhile")
        deadline = now + (question.duration or 10.0)
        self._run = PayloadRun(robot, link, question.tare, deadline, question.request)
        return replies

    def add(self, state: MeasuredState) -> None:
        """Take a measured state."""
        if self._run is not None:
            self._run.add(state)

    def finish(self, now: float) -> tuple[Work, ...]:
        """Return the work of a run that is over at a time, s."""
        run = self._run
        if run is None or now < run.deadline:
            return ()
        self._run = None
        return (PayloadWork(run, self._tare, self._robots),)

    def on_work_done(self, done: WorkDone) -> Reply:
        """Return the reply to a run whose estimate is computed."""
        work = done.work
        assert isinstance(work, PayloadWork)
        if work.robots != self._robots:
            return Reply(work.run_of.request, _changed())
        if done.error is not None:
            return Reply(work.run_of.request, done.error)
        windows, estimated = done.value
        if work.run_of.tare:
            self._tare = windows
        return Reply(work.run_of.request, None, estimated)

    def on_robot_changed(self) -> tuple[Reply, ...]:
        """Forget all; return the reply to the run that goes on."""
        self._tare = None
        self._robots += 1
        return self._end(_changed().problem)

    def _end(self, problem: str) -> tuple[Reply, ...]:
        run, self._run = self._run, None
        return () if run is None else (Reply(run.request, InputError("link", problem)),)


def _changed() -> InputError:
    return InputError("link", "the robot or parameters changed meanwhile: ask again")
