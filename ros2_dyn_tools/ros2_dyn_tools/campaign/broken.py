# SPDX-License-Identifier: Apache-2.0
"""Where a record goes beyond what is allowed: the joint, the time, and how far."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.record import Motion, Record


class Broken(NamedTuple):
    """A promise that was broken."""

    t: float
    """When, s."""
    joint: str
    """The joint; "tip", or empty where it is the whole arm."""
    value: float
    """What was seen, in SI units."""
    allowed: float
    """What is promised."""
    promise: str = ""
    """Its name."""


def ahead(record: Record, values: Array, rate: Array, seconds: float) -> Iterator[Broken]:
    """Yield the command that is first farther ahead of a rate of change, (n,), than a time allows.

    Args:
        record: of the world.
        values: of the commands, shape (k, n).
        rate: what they may change, 1/s, shape (n,).
        seconds: the time, s.
    """
    commands = record.commands
    if len(commands.t) < 2:
        return
    same = commands.sequence[1:] == commands.sequence[:-1]
    change = np.abs(np.diff(values, axis=0)) / rate - np.diff(commands.t)[:, None]
    ends = [0, *(np.flatnonzero(~same) + 1).tolist(), len(commands.t)]
    for begin, end in pairwise(ends):
        # How far each command is ahead of its rate: what it has gained since it was last behind.
        total = np.vstack([np.zeros(len(rate)), np.cumsum(change[begin : end - 1], axis=0)])
        gained = total - np.minimum.accumulate(total, axis=0)
        yield from worst(record, commands.t[begin:end], gained, seconds * (1 + 1e-6))


def efforts_in_force(record: Record, pause: float) -> Array:
    """Return efforts whose differences are those that commands make at the joints, N m or N, shape (k, n).

    A servo that is commanded no more holds its place: what it exerts changes with the joint. The first command after a
    pause then changes it by as much as it moves the place.

    Args:
        record: of the world.
        pause: time between two commands from which on it is one, s: the last command of a node that falls silent is
            under way for a moment.
    """
    motion, commands, stiffness = record.motion, record.commands, record.declared.servo_stiffness
    nobody = motion.t[(motion.commander == "") & (motion.mode != "")]
    paused = (np.diff(np.searchsorted(nobody, commands.t)) > 0) & (np.diff(commands.t) > pause)
    if stiffness is None or not paused.any():
        return commands.effort
    change = np.diff(commands.effort, axis=0)
    change = np.where(paused[:, None], stiffness * np.diff(commands.data, axis=0), change)
    return commands.effort[0] + np.vstack([np.zeros_like(stiffness), np.cumsum(change, axis=0)])


def coasted(record: Record) -> Array:
    """Return how far joints would be that kept, without states, the speed when they ended, rad or m, shape (m, n)."""
    motion = record.motion
    blind = motion.silence > record.declared.state_timeout
    seen = np.maximum.accumulate(np.where(blind, 0, np.arange(len(blind))))
    ways = np.diff(motion.t, prepend=motion.t[:1])[:, None] * np.abs(motion.qd[seen])
    return np.cumsum(np.where(blind[:, None], ways, 0.0), axis=0)


def spans(chosen: Array) -> Array:
    """Return where instants are chosen: first, and one beyond the last, shape (k, 2)."""
    return np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(int))).reshape(-1, 2)


def first(t: Array, bad: Array, value: float, allowed: float) -> Iterator[Broken]:
    """Yield the first instant that is bad."""
    if bad.any():
        yield Broken(float(t[int(np.argmax(bad))]), "", value, allowed)


def worst(record: Record, t: Array, values: Array, allowed: float) -> Iterator[Broken]:
    """Yield the joint whose value is first above what is allowed, with its largest value; values (m, n)."""
    above = values > allowed
    if above.any():
        i, joint = np.unravel_index(int(np.argmax(above)), above.shape)
        yield Broken(float(t[i]), record.declared.joint_names[joint], float(values[:, joint].max()), allowed)


def lasting(motion: Motion, judged: Array, values: Array, allowed: Array | float, seconds: float) -> Iterator[Broken]:
    """Yield the first instant at which values have been above what is allowed for longer than a time, s.

    Args:
        motion: of the arm.
        judged: when something is promised, shape (m,), bool. Only there they have to be below for as long, before it
            ends: what swings is no better for its turning points.
        values: shape (m,).
        allowed: shape (m,) or ().
        seconds: the time, s.
    """
    bad, ends = judged & (values > allowed), ~judged | (values <= allowed)
    for begin, end in spans(~bad):
        short = begin > 0 and end < len(bad) and motion.t[end] - motion.t[begin - 1] <= seconds + 0.005
        if short and judged[begin:end].all():
            ends[begin:end] = False
    begun = np.maximum.accumulate(np.where(ends, np.arange(len(bad)), -1))
    lasts = bad & (motion.t - motion.t[np.maximum(begun, 0)] > seconds + 0.005)
    if lasts.any():
        i = int(np.argmax(lasts))
        limit = float(np.broadcast_to(allowed, values.shape)[i])
        yield Broken(float(motion.t[i]), "tip", float(values[bad].max()), limit)
