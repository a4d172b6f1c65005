# SPDX-License-Identifier: Apache-2.0
"""The fastest timing of a given path within velocity, acceleration, jerk and effort limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.timing.effort_terms import effort_terms, motor_effort
from ros2_dyn_tools.timing.feasible_path import check_path, refusal
from ros2_dyn_tools.timing.geometric_path import GeometricPath, divided
from ros2_dyn_tools.timing.joint_trajectory import JointTrajectory
from ros2_dyn_tools.timing.limit_use import TOLERANCE, LimitUse, limit_use
from ros2_dyn_tools.timing.motion_bounds import MotionBounds
from ros2_dyn_tools.timing.slow_down import slowed, smoothed
from ros2_dyn_tools.timing.speed_profile import SpeedProfile
from ros2_dyn_tools.timing.time_optimal import fastest_speed, highest_speed, travel_time

RATE = 100.0
"""Default rate of the points, Hz."""
MAX_GRIDS = 4
"""Number of grids that are tried."""
MAX_POINTS = 100_000
"""Largest number of points of a timed trajectory: as a message they take 300 MB."""


@dataclass(frozen=True, eq=False)
class Retimed:
    """A trajectory with its new timing."""

    trajectory: JointTrajectory
    """Points with positions, velocities, accelerations and efforts; the last one is at rest."""
    duration_before: float
    """Time that the given one took, s."""
    duration_by_velocity: float
    """Time that velocity limits alone would need, without a start and an end at rest, s."""
    use: LimitUse
    """What the motion uses of the limits, at times that are finer than the points."""

    @property
    def duration(self) -> float:
        """Time that the trajectory takes, s."""
        return self.trajectory.duration


def retime(
    model: RobotModel,
    trajectory: JointTrajectory,
    bounds: MotionBounds,
    gravity: ArrayLike | None = None,
    rate: float = RATE,
) -> Retimed:
    """Return the fastest motion along the path of a trajectory, from rest to rest.

    Limits are kept to 1 % at every time; this is looked at after the fact, and a motion that breaks one is slowed.

    Args:
        model: the robot with its payload, see `RobotModel.carrying`.
        trajectory: the path; its joints in any order, times are needed only with velocities.
        bounds: the limits.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.
        rate: points per second, Hz, at least; they are evenly spaced.

    Raises:
        InputError: toppra is not installed; joints differ; the path leaves position limits, or no speed is slow enough
            for the limits: the error names the joint and the place.
    """
    if model.n != model.nq or model.n != len(model.joint_names):
        raise InputError("model", "expected joints of one degree of freedom")
    if not (np.isfinite(rate) and rate > 0):
        raise InputError("rate", f"expected a positive number of Hz, got {rate}")
    path = GeometricPath(trajectory.ordered(model.joint_names), bounds.velocity)
    points = path.at(path.grid)
    check_path(model, path, points, effort_terms(model, points, gravity), bounds)
    profile = _fastest(model, path, bounds, gravity)
    smooth = np.any(np.isfinite(bounds.jerk))
    profile = (smoothed if smooth else slowed)(model, path, profile, bounds, gravity)
    use = limit_use(model, path, profile, bounds, gravity)
    quantity, joint, t, share = use.highest()
    if share > 1 + TOLERANCE:
        place = f"{quantity} of joint '{joint}' at {path.given_time(use.s_at(t)):.3g} s of the given trajectory"
        raise InputError("limits", f"no timing was found within them: {share:.3g} times the {place}")
    by_velocity = travel_time(points.s, highest_speed(points, bounds.velocity))
    return Retimed(_sample(model, path, profile, gravity, rate), trajectory.duration, by_velocity, use)


def _fastest(model: RobotModel, path: GeometricPath, bounds: MotionBounds, gravity: ArrayLike | None) -> SpeedProfile:
    """Return the fastest motion; where it crosses a limit between the points of the grid, these are made more."""
    unjerked = replace(bounds, jerk=np.full(model.n, np.inf))
    grid, profile = path.grid, None
    for _ in range(MAX_GRIDS):
        points = path.at(grid)
        terms = effort_terms(model, points, gravity)
        speed = fastest_speed(points, terms, bounds)
        if speed is None and profile is None and len(grid) > len(path.coarse_grid):
            grid = path.coarse_grid
            continue
        if speed is None and profile is not None:
            break
        if speed is None:
            raise refusal(model, path, points, terms, bounds)
        profile = SpeedProfile.of(grid, speed)
        places = limit_use(model, path, profile, unjerked, gravity).crossed(1 + TOLERANCE / 2)
        if not len(places):
            break
        grid = divided(grid, places)
    assert profile is not None
    return profile


def _sample(
    model: RobotModel, path: GeometricPath, profile: SpeedProfile, gravity: ArrayLike | None, rate: float
) -> JointTrajectory:
    """Return points at a rate; the last one is at rest, so that what repeats its effort holds the arm."""
    count = max(1, int(np.ceil(profile.duration * rate)))
    if count > MAX_POINTS:
        raise InputError("rate", f"{count} points are too many: the motion takes {profile.duration:.4g} s")
    t = np.linspace(0.0, profile.duration, count + 1)
    motion = profile.at(t)
    there = path.at(motion.s)
    q = there.q
    qd = there.dq * motion.sd[:, None]
    qdd = there.dq * motion.sdd[:, None] + there.ddq * (motion.sd**2)[:, None]
    qd[[0, -1]] = 0.0
    qdd[-1] = 0.0
    effort = motor_effort(model, q, qd, qdd, gravity)
    return JointTrajectory(model.joint_names, t, q, qd, qdd, effort)
