# SPDX-License-Identifier: Apache-2.0
"""The inputs and decisions of a runtime as JSON: what a black box writes and a replay reads, field by field.

Inputs are the named tuples of `inputs.py`. Two stand for what a replay does again: a piece of work, and the failsafe
process. A `TakeOver` is of another process, and a trajectory is what no decision depends on: neither is recorded.
"""

from __future__ import annotations

import json
import marshal
from array import array
from typing import Any, NamedTuple

from ros2_dyn.control.events import Event
from ros2_dyn.model.plain import to_plain
from ros2_dyn.runtime import inputs
from ros2_dyn.runtime.update import Update


class WorkOutcome(NamedTuple):
    """A piece of work is done; a replay does it again."""

    number: int
    """Which: pieces are counted from the start of the runtime on, in the order in which they were asked for."""


class FailsafeAnswer(NamedTuple):
    """The failsafe process that was asked for is armed, or cannot be."""

    problem: str = ""
    """Why it is not; empty: it is."""


KINDS: dict[str, type] = {
    "joint_state": inputs.JointSample,
    "desired": inputs.DesiredSample,
    "desired_wrench": inputs.WrenchSample,
    "desired_pose": inputs.PoseSample,
    "desired_hybrid": inputs.HybridSample,
    "enable": inputs.EnableSignal,
    "time": inputs.TimePassed,
    "command_link": inputs.CommandLink,
    "command_expired": inputs.CommandExpired,
    "clock_jump": inputs.ClockJump,
    "state_publishers": inputs.StatePublishers,
    "mode_request": inputs.ModeRequest,
    "handover": inputs.HandoverInput,
    "payload_request": inputs.PayloadRequest,
    "payload_question": inputs.PayloadQuestion,
    "collision_reset": inputs.CollisionReset,
    "collision_calibration": inputs.CollisionCalibration,
    "description": inputs.Description,
    "settings": inputs.SettingsChange,
    "failsafe": FailsafeAnswer,
    "work_done": WorkOutcome,
}
"""Name of each input in a record."""
NAMES = {kind: name for name, kind in KINDS.items()}
PACKED = {inputs.JointSample: (2, 3, 4), inputs.DesiredSample: (2, 3, 4)}
"""Inputs that come at each state, and which of their fields are lists of numbers."""


class Answer(NamedTuple):
    """A reply to a request."""

    request: str
    error: str
    """Empty: it was done."""


class Decision(NamedTuple):
    """What a runtime decided at one input."""

    mode: str
    commands: bool
    """Whether commands leave."""
    effort: tuple[float, ...] | None = None
    """The command, N m or N, in the model's order; None: none."""
    replies: tuple[Answer, ...] = ()
    work: tuple[int, ...] = ()
    """Numbers of the pieces of work that were asked for."""
    failsafe: bool = False
    """Whether a failsafe process was asked for."""
    events: tuple[Event, ...] = ()
    """Written as messages of their own."""


class Record(NamedTuple):
    """One input, and what it led to, as bytes.

    They are JSON, or, in memory alone, packed: JSON of each state as it comes would cost more than its dynamics.
    """

    kind: str
    now: float
    """Time of the input, s."""
    given: bytes
    decision: bytes
    events: bytes
    """A list as JSON; empty for none."""
    packed: tuple[bool, bool] = (False, False)
    """Whether input and decision are packed. What a file holds never is: `marshal` trusts what it reads."""

    def as_json(self) -> Record:
        """Return it without packed parts."""
        given, decision = self.given, self.decision
        if self.packed[0]:
            given = _dump(_unpacked(given, KINDS[self.kind]._fields))  # type: ignore[attr-defined]
        if self.packed[1]:
            decision = _dump(_unpacked(decision, Decision._fields))
        return Record(self.kind, self.now, given, decision, self.events)


def decide(update: Update, work: tuple[int, ...] = ()) -> Decision:
    """Return the decision that an update holds, with the numbers of the work that it asks for."""
    effort = None if update.command is None else tuple(update.command.effort.tolist())
    replies = tuple(Answer(str(reply.request), str(reply.error or "")) for reply in update.replies)
    return Decision(update.mode, update.commands, effort, replies, work, update.failsafe is not None, update.events)


def write_record(given: Any, now: float, decision: Decision) -> Record:
    """Return the record of an input and its decision.

    Raises:
        InputError: the input holds something that is no plain value.
    """
    kind = type(given)
    state = _packed(given, PACKED[kind]) if kind in PACKED else None
    effort = None
    if decision.replies or decision.work or decision.failsafe:
        decided = _dump({name: value for name, value in decision._asdict().items() if name != "events"})
    else:
        effort = _packed(decision[:3], (2,))
        decided = effort or _dump(dict(zip(Decision._fields, decision[:3])))
    events = _dump(decision.events) if decision.events else b""
    packed = (state is not None, effort is not None)
    return Record(NAMES[kind], now, state or _dump(given), decided, events, packed)


def _dump(value: Any) -> bytes:
    return json.dumps(to_plain(value), allow_nan=False).encode()


def _packed(values: tuple[Any, ...], numbers: tuple[int, ...]) -> bytes | None:
    """Return values, some of which are lists of numbers or None; None where they are of other types than usual."""
    try:
        return marshal.dumps(
            tuple(array("d", x).tobytes() if i in numbers and x is not None else x for i, x in enumerate(values))
        )
    except (TypeError, ValueError):
        return None


def _unpacked(data: bytes, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of `_packed` by name."""
    values = marshal.loads(data)
    return {n: list(memoryview(x).cast("d")) if isinstance(x, bytes) else x for n, x in zip(names, values)}
