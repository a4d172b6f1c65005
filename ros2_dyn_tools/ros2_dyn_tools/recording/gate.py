# SPDX-License-Identifier: Apache-2.0
"""Is a recording good enough to tell what an arm is? Told before anything is fitted, with what to record instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import kinetic_energy, potential_energy
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording import recorded_velocities
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import MIN_STATES

ENOUGH = 30.0
"""Length, s, from which on a recording can be fitted and tested."""
LEAST_RATE = 25.0
"""Rate, Hz: motions are looked at below 10 Hz, and a filter needs 2.5 times that."""
LONGEST_GAP = 0.2
"""Time between two states, s, over which a motion cannot be seen."""
LITTLE = 0.1
"""Range of a joint's positions, rad or m, of which little can be told."""
SLOWLY = 0.1
"""Time between the states, s, by which the direction of a motion is told."""
ONE_WAY = 0.1
"""Share of a joint's way in its rarer direction, below which its friction looks like weight."""
FEW_VALUES = 20
"""Different efforts that a joint has at least, unless they are coarse."""
HELD = 0.1
"""Time, s, for which the largest effort of a moving joint stays the same to the last digit only if it is cut off."""
COARSE = 5.0
"""Ratio of that time to the longest at any other value, above which it is no rounding."""
MOVES = 0.02
"""Speed above which a joint moves, rad/s or m/s."""
DRAWN = 0.05
"""Share of the work by which efforts take energy from an arm that gains some, beyond noise."""
ENERGIES = 1000
"""States whose energy is compared."""


class Check(NamedTuple):
    """An answer about a recording."""

    subject: str
    """What it is about, such as "rate"."""
    joint: str | None
    """The joint; None: all of them."""
    good: bool
    told: str
    instead: str = ""
    """What to record instead; empty where it is good."""


def gate(model: RobotModel, recording: Recording, gravity: ArrayLike | None = None) -> list[Check]:
    """Return what a recording is good for, subject by subject; a joint is named where it is not as good as the others.

    Args:
        model: the robot, with the joints in the recording's order.
        recording: of its motion; velocities may be NaN, efforts too, and stamps may go back.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.
    """
    checks = repeated_stamps(recording.t)
    recording = in_order(recording)
    t = recording.t
    if len(t) < MIN_STATES:
        return [*checks, Check("length", None, False, f"{len(t)} states", f"at least {MIN_STATES} states")]
    checks += [*_gaps(t), *_length(t), *_efforts(model, recording), *_motion(model, recording)]
    for joint, text in recorded_velocities.velocity_faults(model, recording):
        checks.append(Check("velocity", joint, False, text, "what the driver measures"))
    return [*checks, *_power(model, recording, gravity)]


def rows(checks: Iterable[Check]) -> list[tuple[Check, str]]:
    """Return the checks for a table, each with the joints that it is told of alike."""
    alike: dict[Check, list[str]] = {}
    for each in checks:
        alike.setdefault(each._replace(joint=None), []).append(each.joint or "")
    return [(each, ", ".join(joints)) for each, joints in alike.items()]


def in_order(recording: Recording) -> Recording:
    """Return the states whose stamps are later than all before."""
    later = np.append(True, recording.t[1:] > np.maximum.accumulate(recording.t)[:-1])
    return Recording(*(values[later] for values in recording))


def silent_joints(recording: Recording) -> Array:
    """Return which joints have no efforts that change, shape (n,), bool."""
    return np.array([len(np.unique(x[np.isfinite(x)])) < 2 for x in recording.effort.T])


def repeated_stamps(t: Array) -> list[Check]:
    """Return how many states have stamps that are not later than all before."""
    wrong = int(np.sum(t[1:] <= np.maximum.accumulate(t)[:-1]))
    told = f"{wrong} of {len(t)} states have the stamp of the state before or an earlier one; they are left out"
    return [Check("stamps", None, False, told, "one run of one driver, with its own stamps")] if wrong else []


def _gaps(t: Array) -> Iterator[Check]:
    gaps = int(np.sum(np.diff(t) > LONGEST_GAP))
    if gaps:
        told = f"{gaps} gaps of more than {LONGEST_GAP:g} s; what is near them is left out"
        yield Check("stamps", None, False, told, "the bag on the computer of the driver")


def _length(t: Array) -> Iterator[Check]:
    seconds, rate = float(t[-1] - t[0]), 1 / float(np.median(np.diff(t)))
    good = seconds >= ENOUGH
    yield Check("length", None, good, f"{seconds:.0f} s", "" if good else "two minutes: half a minute is the least")
    good = rate >= LEAST_RATE
    yield Check("rate", None, good, f"{rate:.0f} states a second", "" if good else "at the rate of the driver, 100 Hz")


def _efforts(model: RobotModel, recording: Recording) -> Iterator[Check]:
    found = []
    for name, silent, q, effort in zip(model.joint_names, silent_joints(recording), recording.q.T, recording.effort.T):
        moves = np.abs(np.gradient(q, recording.t)) > MOVES
        values = np.unique(effort[np.isfinite(effort)])
        if silent:
            told, instead = "it has no efforts that change: nothing is told of them", "a driver that measures efforts"
        elif len(values) < FEW_VALUES:
            told = f"its efforts have {len(values)} different values: they are coarse"
            instead = "efforts with more digits"
        elif _is_cut_off(recording.t, np.where(moves, effort, np.nan), values[[0, -1]]):
            told, instead = "its effort is cut off at its largest value", "a slower motion, or a lighter load"
        else:
            continue
        found.append(Check("effort", name, False, told, instead))
    yield from found or [Check("effort", None, True, "all joints have efforts that change")]


def _is_cut_off(t: Array, effort: Array, edges: Array) -> bool:
    """Return whether an effort stays at an edge for long, and much longer than coarse digits stay at any value."""
    borders = np.flatnonzero(np.append(np.insert(effort[1:] != effort[:-1], 0, True), True))
    held, value = t[borders[1:] - 1] - t[borders[:-1]], effort[borders[:-1]]
    at_edge = np.isin(value, edges)
    elsewhere = float(np.max(held[~at_edge & np.isfinite(value)], initial=0.0))
    return float(np.max(held[at_edge], initial=0.0)) > max(HELD, COARSE * elsewhere)


def _motion(model: RobotModel, recording: Recording) -> Iterator[Check]:
    found = []
    often = max(1, round(SLOWLY / float(np.median(np.diff(recording.t)))))  # noise goes both ways
    for name, wrapped, little in zip(model.joint_names, recording.q.T, _little(model)):
        q = np.unwrap(wrapped)
        steps = np.diff(q[::often])
        rarer = min(np.sum(steps[steps > 0]), -np.sum(steps[steps < 0]))
        if np.ptp(q) < little:
            told = f"it moves by {np.ptp(q):.2g} alone: little is told of it"
            instead = "a motion over much of its range"
        elif rarer < ONE_WAY * np.sum(np.abs(steps)):
            told = "it moves in one direction: friction and weight look alike"
            instead = "a motion in both directions"
        else:
            continue
        found.append(Check("motion", name, False, told, instead))
    least = np.min(np.ptp(recording.q, axis=0))
    told = f"all joints move both ways, over {least:.2g} rad or m at least"
    yield from found or [Check("motion", None, True, told)]


def _little(model: RobotModel) -> Array:
    """Return of each joint the range of which little can be told: at most half of what it has, shape (n,)."""
    return np.fmin(LITTLE, (model.upper - model.lower) / 2)


def _power(model: RobotModel, recording: Recording, gravity: ArrayLike | None) -> Iterator[Check]:
    """Whether the efforts drive the arm.

    Friction takes energy, so that a motion that gains energy needs work: that from where the first half of the
    recording has the least energy to where the second has the most.
    """
    t, q = recording.t, recording.q
    qd = np.gradient(q, t, axis=0)
    some = np.linspace(0, len(t) - 1, min(len(t), ENERGIES)).astype(int)
    energy = potential_energy(model, q[some], gravity) + kinetic_energy(model, q[some], qd[some])
    half = len(some) // 2
    start, end = some[np.argmin(energy[:half])], some[half + np.argmax(energy[half:])]
    power = np.nan_to_num(recording.effort[start:end]) * qd[start:end]
    work, moved = (_integral(x, t[start:end]) for x in (power, np.abs(power)))
    if work < -DRAWN * moved:
        told = f"the efforts take {-work / moved:.0%} of their work from an arm that gains energy"
        yield Check("power", None, False, told, "the motors' efforts, no reactions: see `ros2_dyn doctor`")
    else:
        yield Check("power", None, True, "the efforts drive the arm")


def _integral(values: Array, t: Array) -> float:
    """Return the integral of all columns together."""
    sums = np.sum(values, axis=1)
    return float(np.sum((sums[1:] + sums[:-1]) / 2 * np.diff(t)))
