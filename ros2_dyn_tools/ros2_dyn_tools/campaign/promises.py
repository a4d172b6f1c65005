# SPDX-License-Identifier: Apache-2.0
"""What is promised of a world, each as a function of its record.

The numbers are those of docs/safety.md. Nothing here knows how the promises are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.record import Motion, Record

SLEW_TIME = 0.02
"""A command changes by no more than the slew rate allows in this time, s."""
REST_SPEED = 0.05
"""Speed below which a joint rests, rad/s or m/s."""
MAX_TRAVEL = 0.3
"""Longest way of a joint after a stop, rad or m."""
LIMIT_MARGIN = 0.05
"""Longest way of a joint beyond its position limit, rad or m."""
TIP_FACTOR, TIP_TIME = 1.2, 0.1
"""The tip is faster than this many times its limit for no longer than this time, s."""
LEVER = 0.2
"""A joint is as slow as the tip has to be at this distance, m."""
ENABLE_TIME = 0.5
"""Time after the enabling signal has ended within which a mode that needs it ends, s."""
SILENCE_TIME = 0.1
"""A mode ends when no states have come for `state_timeout` and this time, s."""
COMMANDER_TIME = 0.2
"""Time within which a mode ends when another commander is announced, s."""
TAKEOVER_TIME = 0.3
"""Time after the death of the node within which its failsafe process commands, s."""
COLLISION_FACTOR, COLLISION_TIME = 2.0, 0.2
"""`feed_forward` ends when contacts exert this many times the threshold at a joint for this time, s."""
MAX_WALL_FORCE = 150.0
"""Largest force at a wall, N."""
HANDOVER_MOTION = 0.05
"""Longest way of a joint amid a handover that goes well, rad or m."""
RAMP_PART, RAMP_CHANGE, RAMP_MARGIN = 0.2, 0.5, 0.03
"""In this part of a payload's ramp efforts make this part of their change at most, and this part of their limits."""


class Broken(NamedTuple):
    """A promise that was broken."""

    promise: str
    t: float
    """When, s."""
    joint: str
    """The joint; "tip", or empty where it is the whole arm."""
    value: float
    """What was seen, in SI units."""
    allowed: float
    """What is promised."""


class Disturbances(NamedTuple):
    """Faults from whose end on rest is promised anew."""

    during: Sequence[str] = ()
    """Kinds of faults during which more than the node's commands moves the arm, or nothing can brake it."""
    changes: Sequence[str] = ()
    """Kinds of faults whose beginning and end change what the arm is: rest is promised amid them."""


class Promise(NamedTuple):
    """What is promised, and whether a record keeps it."""

    name: str
    text: str
    check: Callable[[Record, Disturbances], Iterator[Broken]]


# ---- always


def _finite(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    commands = record.commands
    numbers = np.hstack([commands.effort, commands.data])
    yield from _first(commands.t, ~np.isfinite(numbers).all(axis=1), "finite", np.nan, 0.0)
    for t in record.times("diverged"):
        yield Broken("finite", t, "", np.inf, 0.0)


def _within(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    share = np.abs(record.commands.effort) / record.declared.effort_limit
    yield from _worst(record, record.commands.t, share, 1 + 1e-9, "effort limit")


def _slewed(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    yield from _ahead(record, record.commands.effort, record.declared.slew_rate, "slew rate")


def _servo_speed(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    declared = record.declared
    if declared.servo_stiffness is not None:
        rate = declared.velocity_limit + declared.slew_rate / declared.servo_stiffness
        yield from _ahead(record, record.commands.data, rate, "servo speed")


def _servo_range(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    declared, commands = record.declared, record.commands
    if declared.servo_stiffness is not None:
        q = commands.data - commands.effort / declared.servo_stiffness
        beyond = np.maximum(q - declared.upper, declared.lower - q)
        yield from _worst(record, commands.t, beyond, LIMIT_MARGIN, "servo range")


def _alive(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    for t in record.times("crash"):
        yield Broken("node alive", t, "", 1.0, 0.0)


# ---- stops


def _calm(record: Record, disturbing: Disturbances) -> tuple[Array, Array]:
    """Return whether the arm is stopped and nothing else moves it, and the last instant at which it was not.

    Nothing is promised of an arm that the node or its failsafe process did not command then.
    """
    motion = record.motion
    calm = ~record.active & (motion.contact_force == 0)
    changes = [t for kind in ("placed home", "brakes opened") for t in record.times(kind)]
    for begin, end, kind in record.faults():
        if kind in disturbing.during:
            calm &= (motion.t < begin) | (motion.t > end)
        if kind in disturbing.changes:
            changes += [begin, end]
    for t in changes:
        calm &= np.abs(motion.t - t) > 0.011
    since = np.maximum.accumulate(np.where(calm, 0, np.arange(len(calm))))
    return calm & (motion.commander[since] != ""), since


def judged_rests(record: Record, disturbing: Disturbances, within: float) -> int:
    """Return how many times rest was looked for: stops and disturbances after which nothing happened for a time, s."""
    if not within:
        return 0
    motion = record.motion
    calm, since = _calm(record, disturbing)
    return len(np.unique(since[calm & (motion.t - motion.t[since] > within)]))


def _rest(within: float, record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    calm, since = _calm(record, disturbing)
    late = calm & (motion.t - motion.t[since] > within)
    yield from _worst(record, motion.t, np.where(late[:, None], np.abs(motion.qd), 0.0), REST_SPEED, "rest")


def _travel(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    calm, since = _calm(record, disturbing)
    way = np.where(calm[:, None], np.abs(motion.q - motion.q[since]), 0.0)
    yield from _worst(record, motion.t, way, MAX_TRAVEL, "travel")


def _unbraked(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    for t in record.times("stop_service"):
        yield Broken("brakes", t, "", 1.0, 0.0)


# ---- modes


def _limits(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion, declared = record.motion, record.declared
    beyond = np.maximum(motion.q - declared.upper, declared.lower - motion.q)
    yield from _worst(record, motion.t, beyond, LIMIT_MARGIN, "position limit")


def _tip(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    yield from _slow(record, record.motion.tip_speed, record.declared.max_tip_speed, "tip speed")


def _joints(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    speed = np.max(np.abs(record.motion.qd), axis=1)
    yield from _slow(record, speed, record.declared.max_tip_speed / LEVER, "joint speed")


def _slow(record: Record, speed: Array, limit: float, name: str) -> Iterator[Broken]:
    motion, allowed = record.motion, TIP_FACTOR * limit
    fast = motion.in_mode(record.declared.slow_modes) & (speed > allowed)
    yield from _lasting(motion, fast, TIP_TIME, name=name, values=speed, allowed=allowed)


def _untouched(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    alone = motion.in_mode(("gravity",)) & (motion.contact_force == 0)
    for t in record.times("placed home"):
        alone &= np.abs(motion.t - t) > 0.011
    rests = np.max(np.abs(motion.qd), axis=1) < REST_SPEED
    for begin, end in _spans(alone):
        first = begin + int(np.argmax(rests[begin:end]))
        if rests[first] and begin > 0 and motion.mode[begin - 1] in ("monitor", "stopped"):
            way = np.abs(motion.q[first:end] - motion.q[first])
            yield from _worst(record, motion.t[first:end], way, MAX_TRAVEL, "untouched")


def _enable(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    enabled = motion.in_mode(record.declared.enabled_modes)
    for begin, end, _ in record.faults("enable lost"):
        without = (motion.t > begin + ENABLE_TIME) & (motion.t < end)
        yield from _first(motion.t, without & enabled, "enable", np.inf, ENABLE_TIME)


def _silence(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion, allowed = record.motion, record.declared.state_timeout + SILENCE_TIME
    blind = record.active & (motion.silence > allowed)
    yield from _first(motion.t, blind, "silence", np.inf, allowed)


def _one_way(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion, commands = record.motion, record.commands
    blind = motion.silence > record.declared.state_timeout + 0.02
    for begin, end in _spans(blind):
        during = (commands.t >= motion.t[begin]) & (commands.t <= motion.t[end - 1])
        change = np.diff(commands.effort[during], axis=0) / record.declared.effort_limit
        back = np.minimum(np.maximum(change, 0.0).sum(axis=0), np.maximum(-change, 0.0).sum(axis=0))
        yield from _worst(record, motion.t[begin : begin + 1], back[None], 1e-9, "blind command")


def _other(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    for begin, end, _ in record.faults("second commander"):
        beside = (motion.t > begin + COMMANDER_TIME) & (motion.t < end)
        yield from _first(motion.t, beside & record.active, "other commander", np.inf, COMMANDER_TIME)


def _takeover(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion, active = record.motion, record.active
    back = record.times("node", "resumes")
    for t in sorted(record.times("node", "killed") + record.times("node", "hangs")):
        i = int(np.searchsorted(motion.t, t)) - 1
        if i < 0 or not active[i] or any(t < each < t + TAKEOVER_TIME for each in back):
            continue
        by_failsafe = record.commands.t[record.commands.publisher == "failsafe"]
        after = by_failsafe[by_failsafe >= t]
        delay = float(after[0]) - t if len(after) else np.inf
        if delay > TAKEOVER_TIME and motion.t[-1] > t + TAKEOVER_TIME:
            yield Broken("takeover", t, "", delay, TAKEOVER_TIME)


# ---- contacts


def _wall_force(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    yield from _first(motion.t, motion.contact_force > MAX_WALL_FORCE, "wall force", np.inf, MAX_WALL_FORCE)


def _collision(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    share = (np.abs(motion.contact_effort) / record.declared.collision_threshold).max(axis=1)
    hit = motion.in_mode(("feed_forward",)) & (share > COLLISION_FACTOR)
    yield from _lasting(motion, hit, COLLISION_TIME, name="collision", values=share, allowed=COLLISION_FACTOR)


def _handover(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    motion = record.motion
    for begin, end, _ in record.faults("handed over"):
        during = (motion.t >= begin) & (motion.t < end)
        for t in record.times("handover", "switched"):
            after = during & (motion.t >= t) & (motion.t < t + 1.0)
            if after.any():
                way = np.abs(motion.q[after] - motion.q[after][0])
                yield from _worst(record, motion.t[after], way, HANDOVER_MOTION, "handover")


def _payload(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    commands, motion = record.commands, record.motion
    told = [e for e in record.events if e.kind == "payload" and e.details[1] > 0]
    for event in told:
        ramp = event.details[1]
        during = (motion.t >= event.t - 0.02) & (motion.t <= event.t + ramp + 0.02)
        if not len(commands.t) or not (during.any() and (motion.mode[during] == "gravity").all()):
            continue
        begin, part, end = np.searchsorted(commands.t, [event.t, event.t + RAMP_PART * ramp, event.t + ramp])
        if end >= len(commands.t):
            continue
        early = np.abs(commands.effort[part] - commands.effort[begin])
        whole = np.abs(commands.effort[end] - commands.effort[begin])
        soon = during & (motion.t <= event.t + RAMP_PART * ramp)
        rests = (np.abs(motion.qd[soon]) < REST_SPEED).all(axis=0)  # a joint that moves is damped besides
        excess = np.where(rests, early - RAMP_CHANGE * whole, 0.0)
        yield from _worst(
            record, commands.t[part : part + 1], (excess / record.declared.effort_limit)[None], RAMP_MARGIN, "payload"
        )


# ---- tools


def _ahead(record: Record, values: Array, rate: Array, name: str) -> Iterator[Broken]:
    """Yield the command that is first farther ahead of a rate of change, (n,), than `SLEW_TIME` allows.

    Args:
        record: of the world.
        values: of the commands, shape (k, n).
        rate: what they may change, 1/s, shape (n,).
        name: of the promise.
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
        ahead = total - np.minimum.accumulate(total, axis=0)
        yield from _worst(record, commands.t[begin:end], ahead, SLEW_TIME * (1 + 1e-6), name)


def _spans(chosen: Array) -> Array:
    """Return where instants are chosen: first, and one beyond the last, shape (k, 2)."""
    return np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(int))).reshape(-1, 2)


def _first(t: Array, bad: Array, name: str, value: float, allowed: float) -> Iterator[Broken]:
    """Yield the first instant that is bad."""
    if bad.any():
        yield Broken(name, float(t[int(np.argmax(bad))]), "", value, allowed)


def _worst(record: Record, t: Array, values: Array, allowed: float, name: str) -> Iterator[Broken]:
    """Yield the joint whose value is first above what is allowed, with its largest value; values (m, n)."""
    above = values > allowed
    if above.any():
        i, joint = np.unravel_index(int(np.argmax(above)), above.shape)
        yield Broken(name, float(t[i]), record.declared.joint_names[joint], float(values[:, joint].max()), allowed)


def _lasting(
    motion: Motion, bad: Array, seconds: float, *, name: str, values: Array, allowed: float
) -> Iterator[Broken]:
    """Yield the first instant at which what is bad has lasted for longer than a time, s."""
    begun = np.maximum.accumulate(np.where(bad, -1, np.arange(len(bad))))
    lasts = bad & (motion.t - motion.t[np.maximum(begun, 0)] > seconds + 0.005)
    if lasts.any():
        yield Broken(name, float(motion.t[int(np.argmax(lasts))]), "tip", float(values[bad].max()), allowed)


# ---- the promises

ALWAYS = (
    Promise("finite", "every number that is commanded or published is finite", _finite),
    Promise("effort limit", "no commanded effort exceeds `effort_scale` times its limit", _within),
    Promise("slew rate", f"efforts change no faster than declared, by what {SLEW_TIME:g} s allow at most", _slewed),
    Promise("servo speed", "no servo is sent faster than its joint may move and its effort may change", _servo_speed),
    Promise("servo range", f"no servo is sent {LIMIT_MARGIN:g} rad beyond its limit, but for its effort", _servo_range),
    Promise("node alive", "the node does not crash", _alive),
)
"""What is promised of every world."""


def rest(within: float) -> Promise:
    """Return the promise of rest within a time, s."""
    text = f"joints are slower than {REST_SPEED:g} rad/s from {within:g} s after a stop or the last fault on"
    return Promise("rest", text, partial(_rest, within))


TRAVEL = Promise("travel", f"no joint goes farther than {MAX_TRAVEL:g} rad after a stop", _travel)
UNBRAKED = Promise("brakes", "the stop service is not called", _unbraked)
LIMITS = Promise("position limit", f"no joint goes {LIMIT_MARGIN:g} rad beyond its limit", _limits)
TIP = Promise(
    "tip speed",
    f"in all modes but `feed_forward` the tip is faster than {TIP_FACTOR:g} times its limit for {TIP_TIME:g} s at most",
    _tip,
)
JOINTS = Promise("joint speed", f"nor is a joint on a lever of {LEVER:g} m", _joints)
UNTOUCHED = Promise(
    "untouched",
    f"an arm that rests and goes into `gravity`, and that nobody touches, stays within {MAX_TRAVEL:g} rad",
    _untouched,
)
ENABLE = Promise("enable", f"without the enabling signal a mode that needs it ends within {ENABLE_TIME:g} s", _enable)
SILENCE = Promise("silence", f"a mode ends within {SILENCE_TIME:g} s after `state_timeout` without states", _silence)
ONE_WAY = Promise("blind command", "without states no joint's command turns back on its way", _one_way)
OTHER = Promise("other commander", f"a mode ends within {COMMANDER_TIME:g} s after another commander came", _other)
TAKEOVER = Promise("takeover", f"the failsafe process commands within {TAKEOVER_TIME:g} s", _takeover)
WALL_FORCE = Promise("wall force", f"no wall is pressed with more than {MAX_WALL_FORCE:g} N", _wall_force)
COLLISION = Promise(
    "collision",
    f"`feed_forward` ends within {COLLISION_TIME:g} s at {COLLISION_FACTOR:g} times the threshold",
    _collision,
)
HANDOVER = Promise("handover", f"no joint goes farther than {HANDOVER_MOTION:g} rad in 1 s after a switch", _handover)
PAYLOAD = Promise(
    "payload",
    f"in {RAMP_PART:g} of a payload's ramp the effort of a joint at rest makes {RAMP_CHANGE:g} of its change at most",
    _payload,
)


def broken_promises(promises: Sequence[Promise], record: Record, disturbing: Disturbances) -> list[Broken]:
    """Return the promises that a record breaks, each once, at the first time.

    Args:
        promises: what is promised.
        record: of the world.
        disturbing: faults from whose end on rest is promised anew.
    """
    found = []
    for promise in promises:
        first = min(promise.check(record, disturbing), key=lambda each: each.t, default=None)
        if first is not None:
            found.append(first)
    return found
