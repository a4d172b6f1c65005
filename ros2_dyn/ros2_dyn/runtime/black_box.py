# SPDX-License-Identifier: Apache-2.0
"""A black box: the last seconds of a runtime's inputs and decisions in memory, and the moment to write them.

The inputs suffice, because a runtime depends on nothing else. A recording begins amid a run, hence with a checkpoint:
the runtime's whole state, saved every few seconds in 0.2 ms. Without checkpoints it would have to begin where the
runtime does, and would have no bound. Records are bytes, which the garbage collector does not visit.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable
from functools import wraps
from itertools import chain
from typing import Any

from ros2_dyn.errors import Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import checkpoint
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.checkpoint import Checkpoint
from ros2_dyn.runtime.decision_record import INPUTS, Decision, Recording, WorkNumber, decide, write_record
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import Update, Work

SPAN = 10.0
"""Duration before a stop that a recording covers, s; up to 1.5 times of it, because it begins with a checkpoint."""
AFTERMATH = 1.0
"""How long after a stop it is taken, s, so that it holds what the arm did then."""
MAX_BYTES = 24_000_000
"""Bytes of records in memory: states and targets of a six-axis arm at 1000 Hz are 12 MB in 15 s."""


class _Segment:
    """Records from one checkpoint on."""

    def __init__(self, begins: Checkpoint, now: float) -> None:
        self.begins, self.begun, self.size = begins, now, len(begins.state)
        self.records: list[bytes] = []


class BlackBox:
    """Keeps the newest records of a runtime."""

    def __init__(self, span: float = SPAN) -> None:
        """Create it, empty; `span` is the duration that a recording covers, s."""
        self.span = span
        self.problem = ""
        """Why nothing is recorded any more."""
        self._segments: deque[_Segment] = deque()
        self._awaited: dict[int, tuple[Work, int]] = {}
        self._works = 0
        self._mode, self._commands = "monitor", False
        self._stop: tuple[str, float] | None = None

    # ---- recording

    def prepare(self, runtime: ArmRuntime, method: str, now: float) -> None:
        """Save the state of a runtime before an input, now and then: where time passes, and no work is awaited."""
        if self._segments and (method != "on_time" or now - self._segments[-1].begun < 0.5 * self.span):
            return
        if self._awaited or self.problem:
            return
        try:
            self._segments.append(_Segment(checkpoint.save(runtime), now))
        except pickle.PicklingError as error:
            self._give_up(f"the runtime cannot be saved: {error}")
        stopped_at = now if self._stop is None else self._stop[1]
        needed = max(stopped_at, now - 2 * AFTERMATH) - self.span
        while len(self._segments) > 1 and self._segments[1].begun <= needed:
            self._segments.popleft()

    def add(
        self, method: str, arguments: tuple[Any, ...], named: dict[str, Any], decision: Decision, work: tuple[Work, ...]
    ) -> None:
        """Record an input.

        Args:
            method: of the runtime.
            arguments: as they were passed.
            named: those that were passed by name.
            decision: what the input led to.
            work: what was asked for.
        """
        if method == "on_work_done":
            _, number = self._awaited.pop(id(arguments[0].work), (None, -1))
            if number < 0:
                return  # the outcome of an input that is not recorded
            arguments = (WorkNumber(number), *arguments[1:])
        numbers: tuple[int, ...] = ()
        if work:
            numbers = tuple(range(self._works, self._works + len(work)))
            self._works += len(work)
            self._awaited.update((id(each), (each, number)) for each, number in zip(work, numbers))
        if not self._segments:
            return
        segment = self._segments[-1]
        try:
            data = write_record(method, arguments, named, decision, numbers)
        except Exception as error:  # whatever an argument's own pickling raises must not reach the commands
            self._give_up(f"an input of {method} cannot be saved: {error}")
            return
        segment.records.append(data)
        segment.size += len(data)
        while segment.size > MAX_BYTES // 3 and sum(each.size for each in self._segments) > MAX_BYTES:
            self._segments.popleft()

    def _give_up(self, problem: str) -> None:
        self.problem = problem
        self._segments.clear()

    # ---- stops

    def notice(self, runtime: ArmRuntime, decision: Decision, now: float) -> None:
        """Take notice of a decision: a mode that stops, or commands that end without a request, are to be written.

        Args:
            runtime: that decided.
            decision: what was decided.
            now: time, s.
        """
        if decision.mode == self._mode and decision.commands == self._commands:
            return
        reason = runtime.reason
        stops = decision.mode == "stopped" or (self._commands and not decision.commands and reason)
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
        if not self._segments:
            return None
        records = chain.from_iterable(segment.records for segment in self._segments)
        return Recording(reason, now, self._segments[0].begins, list(records))


class RecordingRuntime(ArmRuntime):
    """A runtime with a black box: every public method that returns an update is recorded."""

    def __init__(
        self,
        model: RobotModel | None = None,
        settings: Settings | None = None,
        box: BlackBox | None = None,
    ) -> None:
        """Create it as an `ArmRuntime`, with an empty black box, or a given one."""
        super().__init__(model, settings)
        self.box = box or BlackBox()


def _recorded(method: str) -> Callable[..., Update]:
    function, place = getattr(ArmRuntime, method), INPUTS[method].index("now")

    @wraps(function)
    def take(self: RecordingRuntime, *arguments: Any, **named: Any) -> Update:
        box, now = self.box, arguments[place] if len(arguments) > place else named["now"]
        box.prepare(self, method, now)
        try:
            update: Update = function(self, *arguments, **named)
        except Ros2DynError as error:
            box.add(method, arguments, named, Decision(self.mode, self.commands, error=str(error)), ())
            raise
        decision = decide(update)
        box.add(method, arguments, named, decision, update.work)
        box.notice(self, decision, now)
        return update

    return take


for _method in INPUTS:
    setattr(RecordingRuntime, _method, _recorded(_method))
