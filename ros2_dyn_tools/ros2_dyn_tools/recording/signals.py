# SPDX-License-Identifier: Apache-2.0
"""Measured signals as an identification needs them: at equal steps, filtered without delay, and differentiated."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.recording import Recording

MIN_STATES = 50
"""States that a recording needs at least."""
RATE = 125.0
"""Highest sampling rate, Hz, of the motion that is identified from; arms move below 10 Hz."""
GAP = 0.2
"""Time between two states, s, from which on the motion between them is not known."""
ORDER = 2
"""Order of the filter, which runs forwards and backwards."""


class EvenMotion(NamedTuple):
    """A motion at equal time steps."""

    t: Array
    """Time, s, shape (m,)."""
    q: Array
    """Joint positions, rad or m, shape (m, n)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (m, n)."""
    qdd: Array
    """Joint accelerations, rad/s^2 or m/s^2, shape (m, n)."""
    effort: Array
    """Measured efforts, not filtered, N m or N, shape (m, n)."""

    @property
    def step(self) -> float:
        """Time step, s."""
        return float(self.t[1] - self.t[0])


def even_motion(recording: Recording, cutoff: float = 10.0) -> EvenMotion:
    """Return a recording at equal steps, its positions and velocities filtered and differentiated without delay.

    A recording of a higher rate than `RATE` is thinned out; its efforts are filtered to 0.4 of the new rate before.

    Args:
        recording: the motion; its times may jitter.
        cutoff: cut-off frequency of the filter, Hz.

    Raises:
        InputError: the recording is too short.
    """
    if len(recording.t) < MIN_STATES:
        raise InputError("recording", f"expected at least {MIN_STATES} states, got {len(recording.t)}")
    step = float(np.median(np.diff(recording.t)))
    t = recording.t[0] + step * np.arange(int((recording.t[-1] - recording.t[0]) / step + 1e-6) + 1)
    every = max(1, int(1.01 / (step * RATE)))
    still: float | None = 0.4 / (step * every) if every > 1 else None
    signals = ((recording.q, cutoff), (recording.qd, cutoff), (recording.effort, still))
    q, qd, effort = (_even(recording.t, table, t, every, f) for table, f in signals)
    return EvenMotion(t[::every], q, qd, _derivative(qd, step * every), effort)


def _even(times: Array, table: Array, t: Array, every: int, cutoff: float | None) -> Array:
    """Return columns at equal steps, filtered and thinned out one by one: copies of all would take much memory."""
    columns = []
    for column in table.T:
        even = np.interp(t, times, column)
        even = zero_phase(even, cutoff, float(t[1] - t[0])) if cutoff else even
        columns.append(even[::every].copy())
    return np.stack(columns, axis=1)


def _derivative(values: Array, step: float) -> Array:
    """Return the derivative of a cubic spline: of fourth order, where differences of neighbours are of second."""
    from scipy.interpolate import CubicSpline

    t = step * np.arange(len(values))
    return CubicSpline(t, values)(t, 1)


def unbroken(recording: Recording) -> list[Recording]:
    """Return the parts of a recording between gaps that last longer than `GAP`; parts too short are left out."""
    ends = [0, *(np.flatnonzero(np.diff(recording.t) > GAP) + 1), len(recording.t)]
    parts = [slice(start, end) for start, end in pairwise(ends) if end - start >= MIN_STATES]
    return [Recording(*(values[part] for values in recording)) for part in parts]


def zero_phase(values: Array, cutoff: float, step: float) -> Array:
    """Return values, shape (m, ...), through a Butterworth filter forwards and backwards, so without delay.

    Args:
        values: at equal steps.
        cutoff: cut-off frequency of the filter, Hz; at most 0.4 of the sampling rate.
        step: time step, s.
    """
    from scipy.signal import butter, filtfilt  # here, because it takes half a second to import

    b, a = butter(ORDER, 2 * step * min(cutoff, 0.4 / step))
    return filtfilt(b, a, values, axis=0)
