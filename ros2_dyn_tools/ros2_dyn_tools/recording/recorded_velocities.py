# SPDX-License-Identifier: Apache-2.0
"""Recorded velocities against the positions."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import MIN_STATES, zero_phase

CUTOFF = 8.0
"""Cut-off of the filter of both velocities before they are compared, Hz."""
LATE = 0.01
"""Delay of a velocity that is told, s."""
SHIFTS = np.arange(0.0, 0.2, 0.002)
"""Delays that are tried, s."""
MOVES = 0.02
"""Speed that a joint has to reach, rad/s or m/s: noise of positions has no velocity."""
DIFFERENT = 0.1
"""Relative difference of two velocities that is told."""


def velocity_faults(model: RobotModel, recording: Recording) -> list[tuple[str | None, str]]:
    """Return what is odd with velocities: the joint, None for all, and what."""
    known = np.all(np.isfinite(recording.qd), axis=1)
    if np.sum(known) < MIN_STATES:
        return [(None, "there are no velocities: they are estimated from positions")]
    t, keep = np.unique(recording.t[known], return_index=True)
    rows, step = np.flatnonzero(known)[keep], float(np.median(np.diff(t)))
    even = np.arange(t[0], t[-1], step)
    found: list[tuple[str | None, str]] = []
    for name, q, qd in zip(model.joint_names, recording.q.T, recording.qd.T):
        true = zero_phase(np.gradient(np.interp(even, t, q[rows]), step), CUTOFF, step)
        told = zero_phase(np.interp(even, t, qd[rows]), CUTOFF, step)
        found += [(name, text) for text in _of_joint(even, true, told)]
    return found


def _of_joint(t: Array, true: Array, told: Array) -> list[str]:
    if np.max(np.abs(true), initial=0.0) < MOVES:
        return []
    if not np.any(told):
        return ["its velocity is always 0 although it moves: velocities are missing"]
    errors = [np.mean((told - np.interp(t - shift, t, true)) ** 2) for shift in SHIFTS]
    late = float(SHIFTS[int(np.argmin(errors))])
    shifted = np.interp(t - late, t, true)
    ratio = float(told @ shifted) / max(float(shifted @ shifted), 1e-12)
    found = []
    if late >= LATE:
        found.append(f"its velocity is {1e3 * late:.0f} ms late: the driver filters it")
    if abs(ratio - 1) > DIFFERENT:
        found.append(f"its velocity is {ratio:.3g} times that of its positions")
    return found
