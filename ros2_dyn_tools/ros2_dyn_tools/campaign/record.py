# SPDX-License-Identifier: Apache-2.0
"""What happened in a world: what the arm did, what was commanded, and events; and the worst that the arm did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array

COMMANDS = ("command", "failsafe command")
"""Kinds of records that are commands: of the node, and of its failsafe process."""
MOTIONS = {
    "joint speed": "rad/s or m/s",
    "tip speed": "m/s",
    "travel after a stop": "rad or m",
    "contact force": "N",
    "alone, joint speed": "rad/s or m/s",
}
"""What is measured, with its unit: speeds while anything commands or brakes the arm, and of an arm left alone."""


class Event(NamedTuple):
    """Something that happened."""

    t: float
    """Time, s."""
    kind: str
    details: tuple[Any, ...]


@dataclass(frozen=True)
class Declared:
    """What users have declared of a robot, and what its description says; joints in the arm's order."""

    joint_names: tuple[str, ...]
    effort_limit: Array
    """Largest commanded efforts, N m or N, shape (n,)."""
    slew_rate: Array
    """Largest rates of change of the commanded efforts, N m/s or N/s, shape (n,)."""
    velocity_limit: Array
    """rad/s or m/s, shape (n,)."""
    max_velocity: Array
    """Velocities above which modes end: `velocity_scale` times the limits, rad/s or m/s, shape (n,)."""
    lower: Array
    """Position limits, rad or m, shape (n,)."""
    upper: Array
    collision_threshold: Array
    """External efforts that are a collision, N m or N, shape (n,); infinite where none is detected."""
    state_timeout: float
    """s."""
    max_tip_speed: float
    """m/s."""
    modes: tuple[str, ...]
    """Modes in which a law commands."""
    slow_modes: tuple[str, ...]
    """Those of them whose tip is slow."""
    enabled_modes: tuple[str, ...]
    """Those of them in which a person holds a button."""
    servo_stiffness: Array | None = None
    """Of servos that are sent positions, N m/rad or N/m, shape (n,); None: they are sent something else."""


@dataclass(frozen=True)
class Motion:
    """What the arm did, every 10 ms; joints in the arm's order."""

    t: Array
    """s, shape (m,)."""
    q: Array
    """True positions, rad or m, shape (m, n)."""
    qd: Array
    """True velocities, rad/s or m/s, shape (m, n)."""
    tip_speed: Array
    """m/s, shape (m,)."""
    contact_force: Array
    """Resultant of all contacts, N, shape (m,)."""
    contact_effort: Array
    """Efforts of all contacts at the joints, N m or N, shape (m, n)."""
    silence: Array
    """Time since a message of joint states reached the node, s, shape (m,)."""
    mode: Array
    """Mode of the node, shape (m,); empty where it is dead."""
    commander: Array
    """Who holds the arm, shape (m,): "brakes", "failsafe", "node" or empty."""

    def in_mode(self, modes: Sequence[str]) -> Array:
        """Return where the node commands in one of some modes, shape (m,)."""
        return np.isin(self.mode, modes) & (self.commander == "node")


@dataclass(frozen=True)
class Commands:
    """What was commanded; joints in the arm's order."""

    t: Array
    """s, shape (k,)."""
    effort: Array
    """N m or N, shape (k, n)."""
    data: Array
    """What was published, in the controller's units, shape (k, n)."""
    publisher: Array
    """Who published it, shape (k,): "node" or "failsafe"."""
    sequence: Array
    """Number of the process that knows its command before, shape (k,)."""


@dataclass(frozen=True)
class Record:
    """Everything that happened in a world, when it has ended."""

    declared: Declared
    motion: Motion
    commands: Commands
    events: list[Event]

    def times(self, kind: str, *details: Any) -> list[float]:
        """Return when an event happened whose details begin with these, s."""
        return [e.t for e in self.events if e.kind == kind and e.details[: len(details)] == details]

    @property
    def active(self) -> Array:
        """Where a law commands, shape (m,)."""
        return self.motion.in_mode(self.declared.modes)

    def faults(self, *kinds: str) -> list[tuple[float, float, str]]:
        """Return beginning, end, s, and kind of the faults of some kinds, or of all; some last for ever."""
        begun: dict[str, list[float]] = {}
        spans = []
        for t, kind, details in self.events:
            if kind == "fault begins":
                begun.setdefault(details[0], []).append(t)
            elif kind == "fault ends" and begun.get(details[0]):
                spans.append((begun[details[0]].pop(0), t, details[0]))
        spans += [(t, np.inf, name) for name, times in begun.items() for t in times]
        return sorted(each for each in spans if not kinds or each[2] in kinds)


def worst_motion(record: Record) -> dict[str, float]:
    """Return the figures of `MOTIONS`; travel is that of the first 3 s after a stop."""
    motion, active = record.motion, record.active
    begun = np.maximum.accumulate(np.where(active, np.arange(len(active)), -1))
    stopped = (begun >= 0) & ~active & (motion.t - motion.t[np.maximum(begun, 0)] < 3.0)
    for t in record.times("placed home"):
        stopped &= ~((motion.t >= t) & (motion.t[np.maximum(begun, 0)] < t))
    travel = np.where(stopped[:, None], np.abs(motion.q - motion.q[np.maximum(begun, 0)]), 0.0)
    alone = motion.commander == ""
    joints, tip = np.max(np.abs(motion.qd), axis=1, initial=0.0), motion.tip_speed
    worst = (~alone * joints, ~alone * tip, travel, motion.contact_force, alone * joints)
    return {name: float(np.max(values, initial=0.0)) for name, values in zip(MOTIONS, worst)}


def stops(record: Record) -> list[bool]:
    """Return of each end of a mode whether the arm rests afterwards, whatever moves it.

    It rests if no joint goes farther than 0.3 rad or m within 3 s, nor is faster than 0.05 rad/s or m/s from 1 s on.
    Nothing is told of an arm that is commanded by a mode again, or put at its place, within a second.
    """
    motion, active, placed, found = record.motion, record.active, record.times("placed home"), []
    for i in np.flatnonzero(active[:-1] & ~active[1:]) + 1:
        begins = np.flatnonzero(active[i:])
        until = min([motion.t[i] + 3.0, *motion.t[i + begins[:1]], *(t for t in placed if t > motion.t[i])])
        during = (motion.t >= motion.t[i]) & (motion.t < until)
        later = during & (motion.t > motion.t[i] + 1.0)
        if later.any():
            far = np.abs(motion.q[during] - motion.q[i]).max() > 0.3
            found.append(not far and bool(np.abs(motion.qd[later]).max() < 0.05))
    return found


class Recorder:
    """Writes down what happens, while it happens."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._motion: list[tuple[Any, ...]] = []
        self._commands: list[tuple[Any, ...]] = []
        self.records: list[tuple[Any, ...]] = []
        """Events and commands: time in ns, kind, details."""
        self._sequence = 0

    def event(self, t: int, kind: str, *details: Any) -> None:
        """Write down an event at a time, ns."""
        self.records.append((t, kind, *details))

    def begin_sequence(self) -> None:
        """Take the next command as the first of a process that knows none before."""
        self._sequence += 1

    def command(self, t: int, effort: Array, data: Array, publisher: str) -> None:
        """Write down a command at a time, ns: efforts, N m or N, (n,), what was published, (n,), and by whom."""
        efforts = effort.tolist()
        self.records.append((t, publisher, *efforts))
        who = "node" if publisher == COMMANDS[0] else "failsafe"
        self._commands.append((1e-9 * t, efforts, data.tolist(), who, self._sequence))

    def motion(self, **values: Any) -> None:
        """Write down an instant: the fields of `Motion`."""
        self._motion.append(tuple(values[name] for name in Motion.__dataclass_fields__))

    def finish(self) -> Record:
        """Return what has happened by now."""
        motion, commands = ([np.array(column) for column in zip(*rows)] for rows in (self._motion, self._commands))
        events = [Event(1e-9 * t, kind, tuple(details)) for t, kind, *details in self.records if kind not in COMMANDS]
        none = np.zeros((0, len(self._declared.joint_names)))
        empty = Commands(none[:, 0], none, none, none[:, 0], none[:, 0])
        return Record(self._declared, Motion(*motion), Commands(*commands) if commands else empty, events)
