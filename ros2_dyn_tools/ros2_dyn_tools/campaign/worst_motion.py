# SPDX-License-Identifier: Apache-2.0
"""The worst that an arm did in a world, whatever made it do so."""

from __future__ import annotations

import numpy as np

from ros2_dyn_tools.campaign.record import Record

STOP_WINDOW = 3.0
"""Time after a stop during which the travel is measured, s."""
MOTIONS = {
    "joint speed": "rad/s or m/s",
    "tip speed": "m/s",
    "travel after a stop": "rad or m",
    "contact force": "N",
}
"""What is measured, with its unit."""


def worst_motion(record: Record) -> dict[str, float]:
    """Return the figures of `MOTIONS`."""
    motion = record.motion
    active = np.isin(motion.mode, record.declared.modes) & (motion.commander == "node")
    begun = np.maximum.accumulate(np.where(active, np.arange(len(active)), -1))
    stopped = (begun >= 0) & ~active & (motion.t - motion.t[np.maximum(begun, 0)] < STOP_WINDOW)
    for t in record.times("placed home"):
        stopped &= ~((motion.t >= t) & (motion.t[np.maximum(begun, 0)] < t))
    travel = np.where(stopped[:, None], np.abs(motion.q - motion.q[np.maximum(begun, 0)]), 0.0)
    worst = (np.abs(motion.qd), motion.tip_speed, travel, motion.contact_force)
    return {name: float(np.max(values, initial=0.0)) for name, values in zip(MOTIONS, worst)}
