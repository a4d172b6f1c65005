# SPDX-License-Identifier: Apache-2.0
"""Records of a runtime's inputs and of the decisions that they led to; and what a replay decides at the same inputs."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.control.events import Event
from ros2_dyn.errors import InputError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime import checkpoint
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.checkpoint import Checkpoint
from ros2_dyn.runtime.inputs import DesiredSample, HybridSample, JointSample, PoseSample, WrenchSample
from ros2_dyn.runtime.update import Update, Work

UNRECORDED = {"on_desired_trajectory"}
"""Inputs that may be large, and that no decision depends on."""
INPUTS = {
    name: tuple(inspect.signature(method).parameters)[1:]
    for name, method in vars(ArmRuntime).items()
    if getattr(method, "__annotations__", {}).get("return") == "Update" and name[0] != "_" and name not in UNRECORDED
}
"""Names of the arguments of each input: of every public method that returns an update."""
SAMPLES = {
    "on_joint_state": JointSample,
    "on_desired": DesiredSample,
    "on_desired_wrench": WrenchSample,
    "on_desired_pose": PoseSample,
    "on_desired_hybrid": HybridSample,
}
"""Inputs whose first argument is kept as a bare tuple: to name its class each time would double the cost."""
TOLERANCE = 1e-6
"""Difference of two commands, N m or N, that another processor may explain."""


class WorkNumber(NamedTuple):
    """Stands for the outcome of a piece of work, which a replay does again."""

    number: int


class ErrorText(NamedTuple):
    """Stands for an error that was passed."""

    text: str


class Decision(NamedTuple):
    """What a runtime decided at one input."""

    mode: str
    commands: bool
    effort: bytes | None = None
    """The command, N m or N, in the model's order, float64."""
    events: tuple[Event, ...] = ()
    replies: tuple[tuple[Any, str], ...] = ()
    """Requests that were answered, each with its error, or an empty text."""
    failsafe: bool = False
    """Whether a failsafe process was asked for."""
    error: str = ""
    """Error that was raised."""

    @property
    def command(self) -> Array | None:
        """The command, N m or N, shape (n,)."""
        return None if self.effort is None else np.frombuffer(self.effort)


class Record(NamedTuple):
    """One input, and what it led to."""

    method: str
    arguments: dict[str, Any]
    decision: Decision
    work: tuple[int, ...]
    """Numbers of the pieces of work that were asked for."""

    @property
    def now(self) -> float:
        """Time of the input, s."""
        return float(self.arguments["now"])


@dataclass(frozen=True)
class Recording:
    """What a black box held at one moment."""

    reason: str
    """Why it was taken."""
    taken_at: float
    """Time of the reason, s."""
    begins: Checkpoint
    """The runtime before the first input."""
    records: list[bytes]
    """Inputs, oldest first; see `write_record`."""


def decide(update: Update) -> Decision:
    """Return the decision that an update holds."""
    effort = None if update.command is None else update.command.effort.tobytes()
    replies: tuple[tuple[Any, str], ...] = ()
    if update.replies:
        replies = tuple((reply.request, str(reply.error or "")) for reply in update.replies)
    return Decision(update.mode, update.commands, effort, update.events, replies, update.failsafe is not None)


def write_record(
    method: str, arguments: tuple[Any, ...], named: dict[str, Any], decision: Decision, work: tuple[int, ...]
) -> bytes:
    """Return a record as bytes; what cannot be saved raises whatever its own pickling raises."""
    if method in SAMPLES and arguments:
        return pickle.dumps((method, (tuple(arguments[0]), *arguments[1:]), named, tuple(decision), work), 5)
    arguments = tuple(ErrorText(str(each)) if isinstance(each, Ros2DynError) else each for each in arguments)
    return checkpoint.dumps((method, arguments, named, tuple(decision), work))


def read_record(data: bytes) -> Record:
    """Return a record from bytes.

    Raises:
        InputError: they are not those of a record.
    """
    content = checkpoint.loads(data)
    try:
        method, arguments, named, decision, work = content
        by_name = dict(zip(INPUTS[method], arguments)) | named
        if method in SAMPLES:
            first = INPUTS[method][0]
            by_name[first] = SAMPLES[method](*by_name[first])
        record = Record(method, by_name, Decision(*decision), tuple(work))
        _ = record.now
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("record", f"cannot be read: {type(error).__name__}: {error}") from error
    return record


class Replayed(NamedTuple):
    """A recorded input, and the decision that a replay made at it."""

    record: Record
    decision: Decision

    @property
    def difference(self) -> float:
        """Largest difference between the commands, N m or N; infinite where only one is there."""
        recorded, replayed = self.record.decision.command, self.decision.command
        if recorded is None or replayed is None or len(recorded) != len(replayed):
            return 0.0 if recorded is replayed else float("inf")
        return float(np.max(np.abs(recorded - replayed), initial=0.0))

    @property
    def same(self) -> bool:
        """Whether the decision is the recorded one, with a command within `TOLERANCE`."""
        alike = self.decision._replace(effort=None) == self.record.decision._replace(effort=None)
        return alike and self.difference <= TOLERANCE


class Replaying(NamedTuple):
    """A recorded input, and what it leads to in a replay."""

    record: Record
    runtime: ArmRuntime
    """After the input."""
    update: Update | None
    """None where the input raised an error."""
    decision: Decision


def replay(recording: Recording) -> Iterator[Replayed]:
    """Step a fresh runtime through the inputs of a recording, and yield what it decides.

    Raises:
        InputError: the recording is not one of a runtime of this version.
    """
    return (Replayed(each.record, each.decision) for each in replaying(recording))


def replaying(recording: Recording) -> Iterator[Replaying]:
    """Step a fresh runtime through the inputs of a recording, and yield it after each of them; errors as `replay`."""
    runtime, works = checkpoint.load(recording.begins), dict[int, Work]()
    models = {each: each for each in recording.begins.constants if isinstance(each, RobotModel)}
    for data in recording.records:
        record = read_record(data)
        try:
            update = getattr(runtime, record.method)(**_revive(record, works, models))
        except Ros2DynError as error:
            yield Replaying(record, runtime, None, Decision(runtime.mode, runtime.commands, error=str(error)))
            continue
        works.update(zip(record.work, update.work))
        yield Replaying(record, runtime, update, decide(update))


def _revive(record: Record, works: dict[int, Work], models: dict[RobotModel, RobotModel]) -> dict[str, Any]:
    """Return the arguments of an input; work is done again, and equal robots are one, as another ends a mode."""

    def revive(value: Any) -> Any:
        if isinstance(value, RobotModel):
            return models.setdefault(value, value)
        if isinstance(value, ErrorText):
            return Ros2DynError(value.text)
        if not isinstance(value, WorkNumber):
            return value
        if value.number not in works:
            raise InputError("record", f"work {value.number} was never asked for")
        return works.pop(value.number).run()

    return {name: revive(value) for name, value in record.arguments.items()}
