"""Measured signals as an identification needs them: at equal steps, filtered without delay, and differentiated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.recording import Recording
from ros2_dyn.model.spatial import Array

MIN_STATES = 50
"""States that a recording needs at least."""
ORDER = 2
"""Order of the filter, which runs forwards and backwards."""


class Motion(NamedTuple):
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


def even_motion(recording: Recording, cutoff: float = 10.0) -> Motion:
    """Return a recording at equal steps, its positions and velocities filtered and differentiated without delay.

    Args:
        recording: the motion; its times may jitter.
        cutoff: cut-off frequency of the filter, Hz.

    Raises:
        InputError: the recording is too short.
    """
    if len(recording.t) < MIN_STATES:
        raise InputError("recording", f"expected at least {MIN_STATES} states, got {len(recording.t)}")
    step = float(np.median(np.diff(recording.t)))
    t = recording.t[0] + step * np.arange(int((recording.t[-1] - recording.t[0]) / step) + 1)
    q, qd, effort = (
        np.stack([np.interp(t, recording.t, column) for column in table.T], axis=1) for table in recording[1:]
    )
    qd = zero_phase(qd, cutoff, step)
    return Motion(t, zero_phase(q, cutoff, step), qd, np.gradient(qd, step, axis=0), effort)


def zero_phase(values: Array, cutoff: float, step: float, order: int = ORDER) -> Array:
    """Return values, shape (m, ...), through a Butterworth filter forwards and backwards, so without delay.

    Args:
        values: at equal steps.
        cutoff: cut-off frequency of the filter, Hz; at most 0.4 of the sampling rate.
        step: time step, s.
        order: of the filter that runs twice.
    """
    from scipy.signal import butter, filtfilt  # here, because it takes half a second to import

    b, a = butter(order, 2 * step * min(cutoff, 0.4 / step))
    return filtfilt(b, a, values, axis=0)
