# SPDX-License-Identifier: Apache-2.0
"""What a motion uses of its limits, at times between the points, too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.effort_terms import motor_effort
from ros2_dyn_tools.timing.geometric_path import GeometricPath
from ros2_dyn_tools.timing.motion_bounds import MotionBounds
from ros2_dyn_tools.timing.speed_profile import SpeedProfile

TOLERANCE = 0.01
"""Share of a limit by which it may be exceeded."""
TIMES = 2000
"""Number of evenly spaced times; and there are three in each interval of constant acceleration."""
AROUND = 5e-5 * 2.0 ** np.arange(6)
"""Distances in time from the turn of a joint, s, at which a motion is looked at: its friction flips within some ms."""
AT_LIMIT = 0.98
"""Share of a limit from which on it counts as reached."""


class LimitUse(NamedTuple):
    """Shares of the limits: absolute values divided by their limits, each of shape (m, n)."""

    joint_names: tuple[str, ...]
    times: Array
    """Increasing times, s, shape (m,)."""
    s: Array
    """The place on the path, shape (m,)."""
    shares: dict[str, Array]
    """By quantity: velocity, acceleration, jerk and effort."""

    def highest(self) -> tuple[str, str, float, float]:
        """Return quantity, joint, time and value of the largest share."""
        peaks = {name: float(np.max(share)) for name, share in self.shares.items()}
        name = max(peaks, key=lambda each: peaks[each])
        i, j = np.unravel_index(np.argmax(self.shares[name]), self.shares[name].shape)
        return name, self.joint_names[j], float(self.times[i]), peaks[name]

    def crossed(self, share: float) -> Array:
        """Return the places where a share of a limit is exceeded, shape (k,)."""
        over = [np.any(each > share, axis=-1) for each in self.shares.values()]
        return self.s[np.any(over, axis=0)]

    def s_at(self, t: float) -> float:
        """Return the place on the path at a time."""
        return float(np.interp(t, self.times, self.s))

    def time_at_limit(self, name: str) -> Array:
        """Return the time that each joint is at its limit of a quantity, s, shape (n,)."""
        reached = self.shares[name] >= AT_LIMIT
        return np.diff(self.times) @ (reached[1:] & reached[:-1])


def check_times(path: GeometricPath, profile: SpeedProfile) -> Array:
    """Return times, s, at which a motion is looked at.

    They are evenly spaced; near both ends of each interval of constant acceleration; and around each turn of a joint.
    """
    last = profile.duration * (1 - 1e-9)
    even = np.linspace(0.0, last, TIMES)
    turns = np.interp(path.reversals(), profile.at(even).s, even)
    around = (turns[:, None] + np.concatenate([-AROUND, AROUND])).ravel()
    breaks = profile.slowness * profile.curve.x[1:-1]
    inner = (breaks[:-1, None] + np.diff(breaks)[:, None] * np.array([1e-6, 0.5, 1 - 1e-6])).ravel()
    times = [even, around] if profile.window else [even, around, inner]
    return np.unique(np.clip(np.concatenate(times), 0.0, last))


def limit_use(
    model: RobotModel, path: GeometricPath, profile: SpeedProfile, bounds: MotionBounds, gravity: ArrayLike | None
) -> LimitUse:
    """Return the shares of the limits that a motion uses; its efforts are those of the inverse dynamics."""
    t = check_times(path, profile)
    motion = profile.at(t)
    at = path.at(motion.s)
    sd, sdd, sddd = (each[:, None] for each in motion[1:])
    qd, qdd = at.dq * sd, at.dq * sdd + at.ddq * sd**2
    shares = {"velocity": np.abs(qd) / bounds.velocity, "acceleration": np.abs(qdd) / bounds.acceleration}
    if np.any(np.isfinite(bounds.jerk)):
        shares["jerk"] = np.abs(at.dq * sddd + 3 * at.ddq * sd * sdd + at.dddq * sd**3) / bounds.jerk
    shares["effort"] = np.abs(motor_effort(model, at.q, qd, qdd, gravity)) / bounds.effort
    return LimitUse(model.joint_names, t, motion.s, shares)
