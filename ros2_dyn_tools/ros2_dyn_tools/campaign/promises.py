# SPDX-License-Identifier: Apache-2.0
"""What is promised of a world, each as a function of its record.

The numbers are those of docs/safety.md. Nothing here knows how the promises are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.campaign.broken import Broken, ahead, coasted, efforts_in_force, first, lasting, spans, worst
from ros2_dyn_tools.campaign.promise import Disturbances, Promise, promise
from ros2_dyn_tools.campaign.record import Motion, Record

SLEW_TIME = 0.02
"""A command changes by no more than the slew rate allows in this time, s."""
REST_SPEED = 0.05
"""Speed below which a joint rests, rad/s or m/s."""
LEFT_TIME, LEFT_WAY = 0.3, 0.005
"""Time for which an arm has rested when its commands end, s, and how far a joint may move in it, rad or m: what a node
sees as rest, and what encoders hide."""
LET_GO_TIME = 2.0
"""Time for which rest is promised after a node that lives has ended its commands, s."""
SPEEDING, CALL_TIME = 0.5, 0.2
"""Speed that a stop adds to what it may, rad/s or m/s, and time within which brakes are called then, s."""
MAX_TURNS = 12
"""Largest number of turning points of a joint in a second, between speeds above rest: twice those of targets."""
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
"""A mode ends when no states have come for `states.timeout` and this time, s."""
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
WALL = 0.2
"""Distance from a position limit within which a soft wall moves a joint, too, rad or m."""


# ---- always


@promise
def finite(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Every number that is commanded or published is finite."""
    commands = record.commands
    numbers = np.hstack([commands.effort, commands.data])
    yield from first(commands.t, ~np.isfinite(numbers).all(axis=1), np.nan, 0.0)
    for t in record.times("diverged"):
        yield Broken(t, "", np.inf, 0.0)


@promise
def effort_limit(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No commanded effort exceeds `effort_scale` times its limit."""
    share = np.abs(record.commands.effort) / record.declared.effort_limit
    yield from worst(record, record.commands.t, share, 1 + 1e-9)


@promise
def slew_rate(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Efforts change no faster than declared, by what {SLEW_TIME:g} s allow at most."""
    yield from ahead(record, efforts_in_force(record, SLEW_TIME), record.declared.slew_rate, SLEW_TIME)


@promise
def servo_speed(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No servo is sent faster than its joint may move and its effort may change."""
    declared = record.declared
    if declared.servo_stiffness is not None:
        rate = declared.velocity_limit + declared.slew_rate / declared.servo_stiffness
        yield from ahead(record, record.commands.data, rate, SLEW_TIME)


@promise
def servo_range(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No servo is sent {LIMIT_MARGIN:g} rad beyond its limit, but for its effort."""
    declared, commands = record.declared, record.commands
    if declared.servo_stiffness is not None:
        q = commands.data - commands.effort / declared.servo_stiffness
        beyond = np.maximum(q - declared.upper, declared.lower - q)
        yield from worst(record, commands.t, beyond, LIMIT_MARGIN)


@promise
def node_alive(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """The node does not crash."""
    for t in record.times("crash"):
        yield Broken(t, "", 1.0, 0.0)


# ---- stops


def _calm(record: Record, disturbing: Disturbances) -> tuple[Array, Array]:
    """Return whether the arm is stopped and nothing else moves it, and the last instant at which it was not.

    Nothing is promised of an arm that neither the node nor its failsafe process nor brakes held then.
    """
    motion = record.motion
    calm = ~record.active & (motion.contact_force == 0) & _held(record)
    changes = [t for kind in ("placed home", "brakes opened", "arm replaced") for t in record.times(kind)]
    for begin, end, kind in record.faults():
        if kind in disturbing.during:
            calm &= (motion.t < begin) | (motion.t > end)
        if kind in disturbing.changes:
            changes += [begin, end]
    for t in changes:
        calm &= np.abs(motion.t - t) > 0.011
    since = np.maximum.accumulate(np.where(calm, 0, np.arange(len(calm))))
    return calm & (motion.commander[since] != ""), since


def _held(record: Record) -> Array:
    """Return whether the arm is commanded or braked, or was lately, or its node has been dead since.

    Nothing is promised for ever of an arm that its node, alive, commands no more: the controller holds the last effort,
    and an arm in an unstable balance falls in the end.
    """
    motion = record.motion
    nobody = motion.commander == ""
    left = _last(motion, nobody & (motion.mode != "")) > _last(motion, ~nobody)
    return motion.t - _last(motion, ~left) < LET_GO_TIME


def _last(motion: Motion, where: Array) -> Array:
    """Return the last instant until each at which something was so, s, shape (m,); -inf before."""
    return np.maximum.accumulate(np.where(where, motion.t, -np.inf))


def judged_rests(record: Record, disturbing: Disturbances, within: float) -> int:
    """Return how many times rest was looked for: stops and disturbances after which nothing happened for a time, s."""
    if not within:
        return 0
    motion = record.motion
    calm, since = _calm(record, disturbing.of_rest)
    return len(np.unique(since[calm & (motion.t - motion.t[since] > within)]))


def rest(seconds: float) -> Promise:
    """Return the promise of rest within a time, s."""

    def rest(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
        """Joints are slower than {REST_SPEED:g} rad/s from {seconds:g} s after a stop or the last fault on."""
        motion = record.motion
        calm, since = _calm(record, disturbing.of_rest)
        late = calm & (motion.t - motion.t[since] > seconds)
        yield from worst(record, motion.t, np.where(late[:, None], np.abs(motion.qd), 0.0), REST_SPEED)

    return promise(rest, seconds=seconds)


@promise
def travel(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No joint goes farther than {MAX_TRAVEL:g} rad after a stop, besides what its speed makes while no states come."""
    motion, alone = record.motion, coasted(record)
    calm, since = _calm(record, disturbing)
    way = np.abs(motion.q - motion.q[since]) - (alone - alone[since])
    yield from worst(record, motion.t, np.where(calm[:, None], way, 0.0), MAX_TRAVEL)


@promise
def stopped_speed(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """A stopped arm that was slow is faster than its tip and joints may be for {TIP_TIME:g} s at most."""
    motion, (calm, since) = record.motion, _calm(record, disturbing)
    speeds = {1.0: motion.tip_speed, LEVER: np.abs(motion.qd).max(axis=1)}
    for lever, speed in speeds.items():
        allowed = TIP_FACTOR * record.declared.max_tip_speed / lever
        slow = _last(motion, calm & (speed <= allowed)) >= motion.t[since]
        yield from lasting(motion, calm & slow, speed, allowed, TIP_TIME)


@promise
def speeding(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Brakes are called {CALL_TIME:g} s after a stop has added {SPEEDING:g} rad/s to {TIP_FACTOR:g} times the speed."""
    motion, (calm, since) = record.motion, _calm(record, Disturbances())
    speed = np.abs(motion.qd).max(axis=1)
    unbraked = calm & np.isin(motion.commander, ("node", "failsafe"))  # who commands calls them
    yield from lasting(motion, unbraked, speed, TIP_FACTOR * speed[since] + SPEEDING, CALL_TIME)


@promise
def left_at_rest(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Commands of a living process end at below {REST_SPEED:g} rad/s, after {LEFT_TIME:g} s within {LEFT_WAY:g} rad."""
    motion, commander = record.motion, record.motion.commander
    left = (commander[1:] == "") & (commander[:-1] != "") & (commander[:-1] != "brakes")
    for i in np.flatnonzero(left) + 1:
        if motion.mode[i] or commander[i - 1] == "failsafe":
            before, end = (motion.t >= motion.t[i] - LEFT_TIME) & (motion.t <= motion.t[i]), motion.t[i : i + 1]
            yield from worst(record, end, np.ptp(motion.q[before], axis=0)[None], LEFT_WAY)
            yield from worst(record, end, np.abs(motion.qd[i - 1 : i + 1]).max(axis=0)[None], REST_SPEED)


@promise
def brakes(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """The stop service is not called."""
    for t in record.times("stop_service"):
        yield Broken(t, "", 1.0, 0.0)


# ---- modes


@promise
def position_limit(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No joint goes {LIMIT_MARGIN:g} rad beyond its limit."""
    motion, declared = record.motion, record.declared
    beyond = np.maximum(motion.q - declared.upper, declared.lower - motion.q)
    yield from worst(record, motion.t, np.where(_held(record)[:, None], beyond, -np.inf), LIMIT_MARGIN)


@promise
def tip_speed(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Outside `feed_forward` the tip is faster than {TIP_FACTOR:g} times its limit for {TIP_TIME:g} s at most."""
    yield from _slow(record, record.motion.tip_speed, record.declared.max_tip_speed)


@promise
def joint_speed(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Nor is a joint on a lever of {LEVER:g} m."""
    speed = np.max(np.abs(record.motion.qd), axis=1)
    yield from _slow(record, speed, record.declared.max_tip_speed / LEVER)


@promise
def velocity_limit(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """In no mode a joint is faster than {TIP_FACTOR:g} times `velocity_scale` times its limit for {TIP_TIME:g} s."""
    share = np.max(np.abs(record.motion.qd) / record.declared.max_velocity, axis=1)
    yield from lasting(record.motion, record.active, share, TIP_FACTOR, TIP_TIME)


@promise
def swings(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No joint turns more than {MAX_TURNS:g} times in 1 s, between speeds above {REST_SPEED:g} rad/s."""
    motion = record.motion
    for joint, qd in zip(record.declared.joint_names, motion.qd.T):
        fast = np.flatnonzero((np.abs(qd) > REST_SPEED) & (motion.commander != ""))
        t = motion.t[fast[1:][np.diff(np.sign(qd[fast])) != 0]]
        for late in np.flatnonzero(t[MAX_TURNS:] - t[:-MAX_TURNS] <= 1.0)[:1]:
            yield Broken(float(t[late + MAX_TURNS]), joint, MAX_TURNS + 1.0, MAX_TURNS)


def _slow(record: Record, speed: Array, limit: float) -> Iterator[Broken]:
    motion = record.motion
    yield from lasting(motion, motion.in_mode(record.declared.slow_modes), speed, TIP_FACTOR * limit, TIP_TIME)


@promise
def untouched(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """An arm that rests and goes into `gravity`, and that nobody touches, stays within {MAX_TRAVEL:g} rad."""
    motion = record.motion
    alone = motion.in_mode(("gravity",)) & (motion.contact_force == 0)
    for t in record.times("placed home"):
        alone &= np.abs(motion.t - t) > 0.011
    rests = np.max(np.abs(motion.qd), axis=1) < REST_SPEED
    for begin, end in spans(alone):
        still = begin + int(np.argmax(rests[begin:end]))
        if rests[still] and begin > 0 and motion.mode[begin - 1] in ("monitor", "stopped"):
            way = np.abs(motion.q[still:end] - motion.q[still])
            yield from worst(record, motion.t[still:end], way, MAX_TRAVEL)


@promise
def enable(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Without the enabling signal a mode that needs it ends within {ENABLE_TIME:g} s."""
    motion = record.motion
    enabled = motion.in_mode(record.declared.enabled_modes)
    for begin, end, _ in record.faults("enable lost", "arm leaned on"):
        without = (motion.t > begin + ENABLE_TIME) & (motion.t < end)
        yield from first(motion.t, without & enabled, np.inf, ENABLE_TIME)


@promise
def silence(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """A mode ends within {SILENCE_TIME:g} s after `states.timeout` without states."""
    motion, allowed = record.motion, record.declared.state_timeout + SILENCE_TIME
    blind = record.active & (motion.silence > allowed)
    yield from first(motion.t, blind, np.inf, allowed)


@promise
def blind_command(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Without states no joint's command turns back on its way."""
    motion, commands = record.motion, record.commands
    blind = motion.silence > record.declared.state_timeout + 0.02
    for begin, end in spans(blind):
        during = (commands.t >= motion.t[begin]) & (commands.t <= motion.t[end - 1])
        change = np.diff(commands.effort[during], axis=0) / record.declared.effort_limit
        back = np.minimum(np.maximum(change, 0.0).sum(axis=0), np.maximum(-change, 0.0).sum(axis=0))
        yield from worst(record, motion.t[begin : begin + 1], back[None], 1e-9)


@promise
def other_commander(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """A mode ends within {COMMANDER_TIME:g} s after another commander came."""
    motion = record.motion
    for begin, end, _ in record.faults("second commander"):
        beside = (motion.t > begin + COMMANDER_TIME) & (motion.t < end)
        yield from first(motion.t, beside & record.active, np.inf, COMMANDER_TIME)


@promise
def takeover(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """The failsafe process commands within {TAKEOVER_TIME:g} s."""
    motion, commands = record.motion, record.motion.commander == "node"
    back = record.times("node", "resumes")
    for t in sorted(record.times("node", "killed") + record.times("node", "hangs")):
        i = int(np.searchsorted(motion.t, t)) - 1
        if i < 0 or not commands[i] or any(t < each < t + TAKEOVER_TIME for each in back):
            continue
        begun = _last(motion, ~commands)[i]
        if not ((record.commands.t >= begun) & (record.commands.t <= t)).any():
            continue  # it had not begun to command
        by_failsafe = record.commands.t[record.commands.publisher == "failsafe"]
        after = by_failsafe[by_failsafe >= t]
        delay = float(after[0]) - t if len(after) else np.inf
        if delay > TAKEOVER_TIME and motion.t[-1] > t + TAKEOVER_TIME:
            yield Broken(t, "", delay, TAKEOVER_TIME)


# ---- contacts


@promise
def wall_force(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No wall is pressed with more than {MAX_WALL_FORCE:g} N."""
    motion = record.motion
    pressed = _held(record) & (motion.contact_force > MAX_WALL_FORCE)
    yield from first(motion.t, pressed, np.inf, MAX_WALL_FORCE)


@promise
def collision(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """`feed_forward` ends within {COLLISION_TIME:g} s at {COLLISION_FACTOR:g} times the threshold."""
    motion = record.motion
    share = (np.abs(motion.contact_effort) / record.declared.collision_threshold).max(axis=1)
    yield from lasting(motion, motion.in_mode(("feed_forward",)), share, COLLISION_FACTOR, COLLISION_TIME)


@promise
def handover(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """No joint goes farther than {HANDOVER_MOTION:g} rad in 1 s after a switch."""
    motion = record.motion
    for begin, end, _ in record.faults("handed over"):
        begins = [t for t in record.times("handover", "begins") if begin <= t < end]
        for t in record.times("handover", "switched"):
            after = (motion.t >= t) & (motion.t < min(t + 1.0, end))
            if begins and begins[0] <= t < end and after.any():
                way = np.abs(motion.q[after] - motion.q[after][0])
                yield from worst(record, motion.t[after], way, HANDOVER_MOTION)


@promise
def payload(record: Record, disturbing: Disturbances) -> Iterator[Broken]:
    """Away from walls, {RAMP_PART:g} of a payload's ramp makes {RAMP_CHANGE:g} of a resting joint's change at most."""
    commands, motion, declared = record.commands, record.motion, record.declared
    free = (motion.q > declared.lower + WALL) & (motion.q < declared.upper - WALL)
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
        excess = np.where(rests & free[during].all(axis=0), early - RAMP_CHANGE * whole, 0.0)
        share = excess / declared.effort_limit
        yield from worst(record, commands.t[part : part + 1], share[None], RAMP_MARGIN)


ALWAYS = (finite, effort_limit, slew_rate, servo_speed, servo_range, node_alive)
"""What is promised of every world."""
