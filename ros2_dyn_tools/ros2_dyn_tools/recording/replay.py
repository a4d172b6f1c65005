# SPDX-License-Identifier: Apache-2.0
"""What a fresh runtime decides at the inputs of a recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ros2_dyn.control.modes import MODES
from ros2_dyn.errors import InputError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.plain import from_plain
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.black_box import Recording
from ros2_dyn.runtime.input_records import Decision, FailsafeAnswer, WorkOutcome, decide
from ros2_dyn.runtime.inputs import Description, FailsafeArmed, ModeRequest
from ros2_dyn.runtime.run_work import run_work
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import Update, Work
from ros2_dyn_tools.recording.black_box_reader import read_record

TOLERANCE = 1e-6
"""Difference of two commands, N m or N, that another processor may explain."""
SETTLING_TIME = 1.0
"""Time, s, after which a runtime that was made amid a mode has seen enough states to enter it, and to follow it."""


@dataclass(frozen=True)
class Replayed:
    """A recorded input, and what a replay makes of it."""

    given: Any
    now: float
    """Time of the input, s."""
    recorded: Decision
    decision: Decision
    runtime: ArmRuntime
    """After the input."""
    update: Update
    exact: bool
    """Whether the replay began where the runtime did, so that all of its decisions have to be the same."""
    compared: bool
    """Whether the replay is in the recorded mode by now."""

    @property
    def difference(self) -> float:
        """Largest difference between the commands, N m or N; infinite where only one is there."""
        recorded, replayed = self.recorded.effort, self.decision.effort
        if recorded is None or replayed is None or len(recorded) != len(replayed):
            return 0.0 if recorded is replayed else float("inf")
        return max((abs(a - b) for a, b in zip(recorded, replayed)), default=0.0)

    @property
    def same(self) -> bool:
        """Whether the decision is the recorded one; the mode alone counts where the replay began amid a run."""
        if not self.compared:
            return True
        if not self.exact:
            return (self.decision.mode, self.decision.commands) == (self.recorded.mode, self.recorded.commands)
        alike = self.decision._replace(effort=None) == self.recorded._replace(effort=None)
        return alike and self.difference <= TOLERANCE


class _Stepper(NamedTuple):
    """A fresh runtime, and the work that it has asked for by the recorded numbers."""

    runtime: ArmRuntime
    works: dict[int, Work]
    models: dict[RobotModel, RobotModel]
    """Robots that came so far: equal ones are one, because another one ends a mode."""

    def step(self, given: Any, now: float) -> Update | None:
        """Take a recorded input; return None for an outcome of what this runtime has not asked for."""
        if isinstance(given, WorkOutcome):
            work = self.works.pop(given.number, None)
            return None if work is None else self.runtime.step(work.run(), now)
        if isinstance(given, FailsafeAnswer):
            config = self.runtime.failsafe_config
            problem = Ros2DynError(given.problem) if given.problem else None
            return None if config is None else self.runtime.step(FailsafeArmed(config, problem), now)
        if isinstance(given, Description) and isinstance(given.description, RobotModel):
            given = Description(self.models.setdefault(given.description, given.description))
        return self.runtime.step(given, now)


def replay(recording: Recording) -> Iterator[Replayed]:
    """Step a fresh runtime through the inputs of a recording, and yield what it decides.

    A recording that begins amid a mode has it entered by request after `SETTLING_TIME`.

    Raises:
        InputError: the recording is broken, or of another version.
    """
    begins = recording.begins
    runtime = _fresh_runtime(recording)
    models = {} if runtime.robot is None else {runtime.robot.description: runtime.robot.description}
    stepper = _Stepper(runtime, {}, models)
    start = recording.records[0].now if recording.records else 0.0
    for record in begins.lasting:
        given, _ = read_record(record)
        with suppress(Ros2DynError):  # what was refused is refused again
            if (update := stepper.step(given, start)) is not None:
                run_work(runtime, update, start)
    entering, compared = begins.mode in MODES, begins.mode not in (*MODES, "stopped")
    for record in recording.records:
        given, recorded = read_record(record)
        now = record.now
        if entering and now - start > SETTLING_TIME and recorded.mode == begins.mode:
            entering = False
            with suppress(Ros2DynError):
                run_work(runtime, runtime.step(ModeRequest(begins.mode), now), now)
        update = stepper.step(given, now)
        if update is None:
            update, decision = Update(runtime.mode, runtime.commands), recorded
        else:
            stepper.works.update(zip(recorded.work, update.work))
            decision = decide(update, recorded.work[: len(update.work)])
        if not compared:
            compared = now - start > 2 * SETTLING_TIME and decision.mode == recorded.mode
        yield Replayed(given, now, recorded, decision, runtime, update, begins.whole, compared)


def _fresh_runtime(recording: Recording) -> ArmRuntime:
    begins = recording.begins
    settings = from_plain(Settings, begins.settings, "settings")
    described = from_plain(Description, {"description": begins.description}, "begins") if begins.description else None
    try:
        if described is None:
            return ArmRuntime(None, settings)
        model = described.description
        return ArmRuntime(model if isinstance(model, RobotModel) else RobotModel.from_urdf(model), settings)
    except Ros2DynError as error:
        raise InputError("description", str(error)) from error
