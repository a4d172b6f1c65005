# SPDX-License-Identifier: Apache-2.0
"""Recorded velocities and time stamps, against the positions; the diagnosis itself needs neither velocity."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.diagnosis import Note
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import zero_phase

CUTOFF = 8.0
"""Cut-off of the filter of both velocities before they are compared, Hz."""
LATE = 0.01
"""Delay of a velocity that is told, s."""
SHIFTS = np.arange(0.0, 0.2, 0.002)
"""Delays that are tried, s."""
DIFFERENT = 0.1
"""Relative difference of two velocities that is told."""


def notes(model: RobotModel, recording: Recording) -> list[Note]:
    """Return what is odd with velocities."""
    known = np.all(np.isfinite(recording.qd), axis=1)
    if not np.any(known):
        return [Note("velocity", None, "there are no velocities: the node estimates them from positions")]
    t, keep = np.unique(recording.t[known], return_index=True)
    step = float(np.median(np.diff(t)))
    even = np.arange(t[0], t[-1], step)
    q, qd = (
        np.stack([np.interp(even, t, x) for x in table[known][keep].T], axis=1) for table in (recording.q, recording.qd)
    )
    found = []
    true = zero_phase(np.gradient(q, step, axis=0), CUTOFF, step)
    told = zero_phase(qd, CUTOFF, step)
    for i, name in enumerate(model.joint_names):
        found += _of_joint(name, even, true[:, i], told[:, i])
    return found


def stamps(t: Array) -> list[Note]:
    """Return how many states have stamps that are not later than all before."""
    wrong = int(np.sum(t[1:] <= np.maximum.accumulate(t)[:-1]))
    if wrong == 0:
        return []
    told = f"{wrong} of {len(t)} states have the stamp of the state before or an earlier one; they are left out"
    return [Note("stamps", None, told)]


def _of_joint(name: str, t: Array, true: Array, told: Array) -> list[Note]:
    if not np.any(true):
        return []
    if not np.any(told):
        return [Note("velocity", name, "its velocity is always 0 although it moves: velocities are missing")]
    errors = [np.mean((told - np.interp(t - shift, t, true)) ** 2) for shift in SHIFTS]
    late = float(SHIFTS[int(np.argmin(errors))])
    shifted = np.interp(t - late, t, true)
    ratio = float(told @ shifted) / max(float(shifted @ shifted), 1e-12)
    found = []
    if late >= LATE:
        found.append(Note("velocity", name, f"its velocity is {1e3 * late:.0f} ms late: the driver filters it"))
    if abs(ratio - 1) > DIFFERENT:
        found.append(Note("velocity", name, f"its velocity is {ratio:.3g} times that of its positions"))
    return found
