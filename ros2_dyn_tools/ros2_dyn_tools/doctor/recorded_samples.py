# SPDX-License-Identifier: Apache-2.0
"""A recorded motion as the doctor compares it with a model: a few hundred samples, all of them low-passed alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics.presliding import stretches
from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import zero_phase

MIN_STATES = 50
"""States with efforts that are needed."""
MIN_DURATION = 5.0
"""Shortest motion that can be diagnosed, s."""
MAX_DURATION = 45.0
"""Longest part of a recording that is used, s; of a longer one, the liveliest part."""
FINE_STEP = 0.008
"""Time step at which signals are differentiated and filtered, s; more where the recording's is longer."""
STEP = 0.08
"""Time step of the samples, s."""
MOTION_CUTOFF = 5.0
"""Cut-off of the filter of positions, Hz."""
CUTOFF = 1.7
"""Cut-off of the filter of efforts, measured and modelled, Hz: some drivers filter them about as much themselves."""
TRIM = 0.6
"""What is left out at each end and beside each gap, s, where filters and delays have no data."""
GAP = 0.3
"""Time between two states, s, that is a gap."""
MOVES = 0.02
"""Speed above which a joint moves, rad/s or m/s."""
TRANSITION = 0.02
"""Speed at which Coulomb friction has almost its full value, rad/s or m/s."""
YIELDS = (0.01, 0.05)
"""Distances, rad or m, after which the two springs of the friction before sliding yield."""
FRICTIONS = ("viscous", "coulomb", "offset", "armature", "presliding, fine", "presliding, coarse")
"""The columns of friction."""


class Samples(NamedTuple):
    """Samples of a motion at equal steps."""

    t: Array
    """Time, s, shape (m,)."""
    q: Array
    """Joint positions, rad or m, shape (m, n)."""
    qd: Array
    """Joint velocities, by differentiation of positions, rad/s or m/s, shape (m, n)."""
    qdd: Array
    """Joint accelerations, rad/s^2 or m/s^2, shape (m, n)."""
    effort: Array
    """Measured efforts in the driver's unit, low-passed, shape (m, n)."""
    friction: Array
    """Efforts of friction and rotor per unit of its parameters, low-passed, shape (m, n, 6): see `FRICTIONS`."""
    known: Array
    """Whether a sample is away from ends and gaps, shape (m,)."""

    @property
    def step(self) -> float:
        """Time step, s."""
        return float(self.t[1] - self.t[0])

    def thinned(self, stride: int) -> Samples:
        """Return every stride-th sample."""
        return Samples(*(values[::stride] for values in self))

    def inner(self, stride: int) -> Array:
        """Return the indices of every stride-th sample away from ends and gaps."""
        return np.flatnonzero(self.known)[::stride]

    def effort_at(self, indices: Array, delay: float) -> Array:
        """Return the efforts that belong to some samples if efforts are recorded late by a delay, s."""
        return np.stack([np.interp(self.t[indices] + delay, self.t, column) for column in self.effort.T], axis=1)


def take_samples(recording: Recording) -> Samples:
    """Return the samples of a recording, whose velocities are not used; a state without all efforts is left out.

    Raises:
        InputError: the recording is too short, moves for too short a time, or has too many gaps.
    """
    complete = np.all(np.isfinite(recording.q) & np.isfinite(recording.effort), axis=1)
    recording = Recording(*(values[complete] for values in recording))
    t, keep = np.unique(recording.t, return_index=True)
    if len(t) < MIN_STATES or t[-1] - t[0] < MIN_DURATION:
        wanted = f"expected at least {MIN_STATES} states with efforts over {MIN_DURATION:g} s"
        raise InputError("recording", f"{wanted}, got {len(t)}")
    step = max(float(np.median(np.diff(t))), FINE_STEP)
    even = t[0] + step * np.arange(int((t[-1] - t[0]) / step) + 1)
    q, effort = (
        np.stack([np.interp(even, t, x) for x in table[keep].T], axis=1) for table in (recording.q, recording.effort)
    )
    q = zero_phase(q, MOTION_CUTOFF, step)
    qd = np.gradient(q, step, axis=0)
    _check_motion(qd, step)
    part = _liveliest(qd, step)
    even, q, qd, effort = even[part], q[part], qd[part], effort[part]
    qdd = np.gradient(qd, step, axis=0)
    columns = np.stack([qd, np.tanh(qd / TRANSITION), np.ones_like(q), qdd], axis=-1)
    friction = zero_phase(np.concatenate([columns, stretches(q, YIELDS)], axis=-1), CUTOFF, step)
    few = slice(None, None, max(1, round(STEP / step)))
    known = _away_from_gaps(even[few], t)
    return Samples(even[few], q[few], qd[few], qdd[few], zero_phase(effort, CUTOFF, step)[few], friction[few], known)


def _check_motion(qd: Array, step: float) -> None:
    seconds = step * np.sum(np.any(np.abs(qd) > MOVES, axis=1))
    if seconds < MIN_DURATION:
        advice = "move all joints, over much of their range, for half a minute"
        raise InputError("recording", f"expected at least {MIN_DURATION:g} s of motion, got {seconds:.1f} s: {advice}")


def _away_from_gaps(even: Array, t: Array) -> Array:
    """Return whether samples are away from the ends, and from gaps between some times."""
    known = (even > even[0] + TRIM) & (even < even[-1] - TRIM)
    for i in np.flatnonzero(np.diff(t) > GAP):
        known &= (even < t[i] - TRIM) | (even > t[i + 1] + TRIM)
    if np.sum(known) * (even[1] - even[0]) < MIN_DURATION - 2 * TRIM - STEP:
        raise InputError("recording", f"between its gaps of more than {GAP:g} s is too little: see the driver's rate")
    return known


def _liveliest(qd: Array, step: float) -> slice:
    """Return the part of at most `MAX_DURATION` in which most joints move most, each by its own measure."""
    length = int(MAX_DURATION / step)
    if len(qd) <= length:
        return slice(None)
    motion = np.cumsum(np.sum(np.abs(qd) / (np.mean(np.abs(qd), axis=0) + 1e-9), axis=1))
    start = int(np.argmax(motion[length:] - motion[:-length]))
    return slice(start, start + length)
