# SPDX-License-Identifier: Apache-2.0
"""A black box: the newest inputs and decisions of a runtime in memory, and the moment to write them.

A runtime depends on nothing but its inputs. So a record that reaches back to the runtime's start repeats it exactly.
One that does not begins with what stands then: parameters, robot, mode, and the newest input of each lasting kind.
"""

from __future__ import annotations

import json
from collections import deque
from typing import Any, NamedTuple

from ros2_dyn.control.stop.phases import MONITOR, STOPPED
from ros2_dyn.model import RobotModel
from ros2_dyn.model.plain import to_plain
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.input_records import NAMES, FailsafeAnswer, Record, WorkOutcome, decide, write_record
from ros2_dyn.runtime.inputs import FailsafeArmed, Input
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import Update, Work, WorkDone

SPAN = 60.0
"""Duration that a record covers, s."""
AFTERMATH = 1.0
"""How long after a stop it is taken, s, so that it holds what the arm did then."""
MAX_BYTES = 16_000_000
"""Bytes of records in memory: 60 s of a six-axis arm at 250 Hz, and 15 s at 1000 Hz."""
LASTING = {
    "command_link",
    "state_publishers",
    "enable",
    "desired_wrench",
    "desired_pose",
    "desired_hybrid",
    "payload_request",
    "failsafe",
}
"""Inputs of which the newest one counts until another one comes."""


class Beginning(NamedTuple):
    """What stands where a record begins."""

    settings: Any
    """All parameters, as plain values."""
    description: Any
    """The robot as plain values or the text of its URDF; None: there is none yet."""
    mode: str
    whole: bool
    """Whether the runtime was made then, so that nothing came before."""
    lasting: tuple[Record, ...] = ()
    """The newest input of each lasting kind."""


class Recording(NamedTuple):
    """What a black box held at one moment."""

    reason: str
    """Why it was taken."""
    taken_at: float
    """Time of the reason, s."""
    begins: Beginning
    records: tuple[Record, ...]
    """Oldest first."""


class BlackBox:
    """Keeps the newest records of a runtime."""

    def __init__(self, model: RobotModel | None, settings: Settings) -> None:
        """Create it, empty, for a runtime that is made with a robot, if any, and parameters."""
        self.problem = ""
        """Why nothing is recorded any more."""
        self._records: deque[tuple[Any, ...]] = deque()
        """Fields of `Record`: the garbage collector, which would hold states up, visits no plain tuple of bytes."""
        self._size = 0
        self._settings: Any = to_plain(settings)
        self._description: Any = to_plain(model)
        self._lasting: dict[str, Record] = {}
        self._dropped: Record | None = None
        self._awaited: dict[int, tuple[Work, int]] = {}
        self._works = 0
        self._mode, self._commands = MONITOR, False
        self._stop: tuple[str, float] | None = None

    # ---- recording

    def add(self, given: Input, now: float, update: Update) -> None:
        """Record an input at a time, s, and what it led to."""
        numbers = tuple(range(self._works, self._works + len(update.work)))
        self._works += len(numbers)
        self._awaited.update((id(work), (work, number)) for work, number in zip(update.work, numbers))
        recorded = self._as_recorded(given)
        if type(recorded) not in NAMES or self.problem:
            return
        try:
            record = write_record(recorded, now, decide(update, numbers))
        except Exception as error:  # whatever a foreign value raises must not reach the commands
            self.problem = f"an input cannot be recorded: {type(error).__name__}: {error}"
            self._records.clear()
            return
        self._records.append(tuple(record))
        self._size += _size(record)
        while self._records and (self._size > MAX_BYTES or Record(*self._records[0]).now < now - SPAN):
            self._drop(Record(*self._records.popleft()))

    def _as_recorded(self, given: Input) -> Any:
        if isinstance(given, WorkDone):
            return WorkOutcome(self._awaited.pop(id(given.work), (given.work, -1))[1])
        if isinstance(given, FailsafeArmed):
            return FailsafeAnswer("" if given.problem is None else str(given.problem) or "unknown")
        return given

    def _drop(self, record: Record) -> None:
        """Forget the oldest record, but for what lasts."""
        self._size -= _size(record)
        self._dropped = record
        if record.kind in LASTING:
            self._lasting.pop(record.kind, None)
            self._lasting[record.kind] = record
        elif record.kind in ("description", "settings"):  # after which a failsafe process is armed anew
            self._lasting.pop("failsafe", None)
            given, decision = json.loads(record.given), json.loads(record.decision)
            if record.kind == "description":
                self._description = given["description"]
            elif not any(reply["error"] for reply in decision["replies"]):
                self._settings = given["settings"]

    # ---- stops

    def notice(self, decision: Update, reason: str, now: float) -> None:
        """Take notice of a decision: a mode that stops, or commands that end without a request, are to be written.

        Args:
            decision: what was decided.
            reason: why the last mode ended.
            now: time, s.
        """
        if decision.mode == self._mode and decision.commands == self._commands:
            return
        stops = decision.mode == STOPPED or (self._commands and not decision.commands and reason)
        if stops and self._stop is None:
            self._stop = reason or decision.mode, now
        self._mode, self._commands = decision.mode, decision.commands

    def take_stop(self, now: float) -> Recording | None:
        """Return the recording of a stop, once, some time after it; None otherwise."""
        if self._stop is None or now < self._stop[1] + AFTERMATH:
            return None
        return self.take(*self._stop)

    def take_rest(self, now: float) -> Recording | None:
        """Return a recording at the end of the process, where it commands, or where a stop has not been taken yet."""
        if self._stop is None and not self._commands:
            return None
        return self.take(*(self._stop or ("the process ends", now)))

    def take(self, reason: str, now: float) -> Recording | None:
        """Return what is recorded, with the reason and its time, s; None where nothing is."""
        self._stop = None
        if not self._records:
            return None
        dropped = self._dropped
        mode = MONITOR if dropped is None else str(json.loads(dropped.as_json().decision)["mode"])
        lasting = tuple(self._lasting.values())
        begins = Beginning(self._settings, self._description, mode, dropped is None, lasting)
        return Recording(reason, now, begins, tuple(Record(*each) for each in self._records))


class RecordingRuntime(ArmRuntime):
    """A runtime with a black box."""

    def __init__(self, model: RobotModel | None = None, settings: Settings | None = None) -> None:
        """Create it as an `ArmRuntime`."""
        super().__init__(model, settings)
        self.box = BlackBox(model, self.settings)

    def step(self, given: Input, now: float) -> Update:
        """Take one input, and record it with all that it leads to."""
        update = super().step(given, now)
        self.box.add(given, now, update)
        self.box.notice(update, self.reason, now)
        return update


def _size(record: Record) -> int:
    return len(record.given) + len(record.decision) + len(record.events) + 200
