# SPDX-License-Identifier: Apache-2.0
"""Positions in degrees: joints that are far outside of what they can reach, or much too fast."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.diagnosis import Diagnosis
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import zero_phase

DEGREE = np.pi / 180
TOO_FAST = 3.0
"""Speed, as a multiple of the velocity limit, that no joint has."""
TYPICAL_LIMIT = 3.0
"""Velocity limit of a joint whose description has none, rad/s."""
TOO_FAR = 4.5 * np.pi
"""Distance from zero that no joint has, rad, whose description has no limits."""
REACH = 1.5
"""Distance from zero that no joint has, as a multiple of its limits."""
ALIKE = 1.3
"""Greatest ratio of two speeds that count as the same."""
STILL = 0.02
"""Range of the positions of a joint that does not move, degrees or rad."""


def in_radians(model: RobotModel, recording: Recording) -> tuple[Recording, list[Diagnosis]]:
    """Return a recording with positions in rad, and what was wrong with it.

    Positions count as degrees if the joints that move, by the majority, are faster or farther than they can be, or move
    57 times as fast as their velocities say.
    """
    turning = [i for i, joint in enumerate(_joints(model)) if joint != "prismatic"]
    moving = [i for i in turning if np.ptp(recording.q[:, i]) > STILL]
    speed = _speed(recording)
    ratio = _ratio(speed, recording.qd)
    by_velocity = [i for i in moving if abs(np.log(ratio[i] * DEGREE)) < np.log(ALIKE)]
    too_fast = [i for i in moving if np.percentile(np.abs(speed[:, i]), 95) > TOO_FAST * _velocity_limit(model, i)]
    too_far = [i for i in moving if np.max(np.abs(recording.q[:, i])) > _reach(model, i)]
    wrong = {*by_velocity, *too_fast, *too_far}
    if not moving or 2 * len(wrong) <= len(moving):
        return recording, []
    factor = np.ones(model.n)
    factor[turning] = DEGREE
    reasons = [
        f"{len(which)} of {len(moving)} moving joints {what}"
        for which, what in (
            (too_far, "leave their limits by far"),
            (too_fast, "are faster than they can be"),
            (by_velocity, "move 57 times as fast as their velocities say"),
        )
        if which
    ]
    share = len(wrong) / len(moving)
    remedy = "publish positions in rad (REP 103): the driver has to multiply them by pi/180"
    found = Diagnosis("degrees", None, DEGREE, round(0.5 + 0.49 * share, 2), "; ".join(reasons), remedy)
    return recording._replace(q=recording.q * factor), [found]


def _joints(model: RobotModel) -> list[str]:
    return [joint.type for joint in model.joints if joint.mimics is None]


def _speed(recording: Recording) -> Array:
    t, keep = np.unique(recording.t, return_index=True)
    step = float(np.median(np.diff(t)))
    even = np.arange(t[0], t[-1], step)
    smooth = (zero_phase(np.interp(even, t, x), 5.0, step) for x in recording.q[keep].T)
    return np.stack([np.interp(recording.t, even, np.gradient(x, step)) for x in smooth], axis=1)


def _ratio(speed: Array, qd: Array) -> Array:
    """Return how many times the joints are faster than recorded, shape (n,); 1 where that is not known."""
    known = np.all(np.isfinite(qd), axis=0) & (np.sum(np.nan_to_num(qd) ** 2, axis=0) > 0)
    recorded = np.where(known, qd, speed)
    return np.maximum(np.sum(speed * recorded, axis=0) / np.maximum(np.sum(recorded**2, axis=0), 1e-12), 1e-3)


def _velocity_limit(model: RobotModel, i: int) -> float:
    limit = float(model.velocity_limit[i])
    return limit if 0 < limit < np.inf else TYPICAL_LIMIT


def _reach(model: RobotModel, i: int) -> float:
    limits = np.abs([model.lower[i], model.upper[i]])
    return max(REACH * float(np.max(limits)), 2 * np.pi) if np.all(np.isfinite(limits)) else TOO_FAR
