# SPDX-License-Identifier: Apache-2.0
"""Motions along a path made slower: where a limit is crossed between the points of the grid, and for limits of jerk.

toppra has no limits of jerk. Its motion is smoothed with a moving average of s(t), which keeps the path, and then made
as slow as all limits need. Of a few widths of the average the fastest is taken. The result keeps the limits, and is not
the fastest one that does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.effort_terms import effort_terms
from ros2_dyn_tools.timing.geometric_path import GeometricPath
from ros2_dyn_tools.timing.limit_use import TOLERANCE, check_times
from ros2_dyn_tools.timing.motion_bounds import MotionBounds
from ros2_dyn_tools.timing.speed_profile import SpeedProfile

WIDTHS = np.geomspace(0.02, 1.0, 12)
"""Widths of the moving average that are tried, as shares of the duration."""
MIN_SLOWNESS, MAX_SLOWNESS = 0.1, 1e3
"""How much faster and slower a smoothed motion can become."""
BISECTIONS = 40


def slowed(
    model: RobotModel, path: GeometricPath, profile: SpeedProfile, bounds: MotionBounds, gravity: ArrayLike | None
) -> SpeedProfile:
    """Return a motion slowed until it exceeds no limit by more than half of the tolerance.

    Raises:
        InputError: no speed is slow enough.
    """
    slowness = needed_slowness(model, path, profile, bounds, gravity, share=1 + TOLERANCE / 2)
    return profile._replace(slowness=max(1.0, slowness))


def smoothed(
    model: RobotModel, path: GeometricPath, profile: SpeedProfile, bounds: MotionBounds, gravity: ArrayLike | None
) -> SpeedProfile:
    """Return a motion within its limits of jerk and all others.

    Raises:
        InputError: no speed is slow enough.
    """
    tried = []
    for width in WIDTHS * profile.given_duration:
        smooth = profile._replace(window=float(width))
        tried.append(smooth._replace(slowness=needed_slowness(model, path, smooth, bounds, gravity, share=1.0)))
    return min(tried, key=lambda each: each.duration)


def needed_slowness(
    model: RobotModel,
    path: GeometricPath,
    profile: SpeedProfile,
    bounds: MotionBounds,
    gravity: ArrayLike | None,
    *,
    share: float,
) -> float:
    """Return the smallest factor of time with which a motion uses no more than a share of each limit.

    Velocities, accelerations and jerks fall with the factor, its square and its cube. Efforts fall towards what carries
    the weight, with friction that changes with the speed, so their factor is searched for.

    Raises:
        InputError: no speed is slow enough.
    """
    motion = profile.at(check_times(path, profile))
    at = path.at(motion.s)
    sd, sdd, sddd = (each[:, None] for each in motion[1:])
    kinematic = [
        np.max(np.abs(at.dq * sd) / bounds.velocity) / share,
        np.sqrt(np.max(np.abs(at.dq * sdd + at.ddq * sd**2) / bounds.acceleration) / share),
    ]
    if profile.window:
        jerk = np.abs(at.dq * sddd + 3 * at.ddq * sd * sdd + at.dddq * sd**3)
        kinematic.append(np.cbrt(np.max(jerk / bounds.jerk) / share))
    terms = effort_terms(model, at, gravity)

    def keeps(slowness: float) -> bool:
        effort: Array = terms.effort(motion.sd / slowness, motion.sdd / slowness**2)
        return bool(np.all(np.abs(effort) <= share * bounds.effort))

    low = max(MIN_SLOWNESS, *map(float, kinematic))
    if keeps(low):
        return low
    high = low
    while not keeps(high):
        high *= 1.1 if high < 2 else 2
        if high > MAX_SLOWNESS:
            raise InputError("limits", "no speed is slow enough for the efforts")
    low = max(low, high / (1.1 if high <= 2.2 else 2))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high
