# SPDX-License-Identifier: Apache-2.0
"""Whether a path can be followed at all: positions within their limits, and efforts that hold the arm everywhere."""

from __future__ import annotations

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.effort_terms import EffortTerms
from ros2_dyn_tools.timing.geometric_path import GeometricPath, PathPoints
from ros2_dyn_tools.timing.motion_bounds import MotionBounds
from ros2_dyn_tools.timing.time_optimal import highest_speed

POSITION_TOLERANCE = 1e-3
"""Distance beyond a position limit that is not refused, rad or m: recordings touch them."""
SLOW = np.geomspace(1e-4, 0.1, 13)
"""Speeds as shares of the highest, at which a path counts as followed slowly."""


def check_path(
    model: RobotModel, path: GeometricPath, points: PathPoints, terms: EffortTerms, bounds: MotionBounds
) -> None:
    """Raise for a path that leaves the position limits, or on which the arm could not stand.

    Momentum may carry an arm through a posture in which its motors cannot hold it. That is refused, too: an arm that is
    stopped there falls.

    Raises:
        InputError: it names the joint and the place.
    """
    outside = np.maximum(points.q - model.upper, model.lower - points.q)
    if np.any(outside > POSITION_TOLERANCE):
        i, j = _worst(outside)
        limits = f"{model.lower[j]:.4g} to {model.upper[j]:.4g}"
        raise InputError("trajectory", f"{_place(model, path, points, i, j)}: outside its limits {limits}")
    held = np.abs(terms.c + terms.friction(0 * points.q[:, 0]))
    if np.any(held > bounds.effort):
        i, j = _worst(held / bounds.effort)
        needed = f"to stand still it needs {held[i, j]:.4g} of {bounds.effort[j]:.4g} N m or N"
        raise InputError("trajectory", f"{_place(model, path, points, i, j)}: {needed}, so no speed is slow enough")


def refusal(
    model: RobotModel, path: GeometricPath, points: PathPoints, terms: EffortTerms, bounds: MotionBounds
) -> InputError:
    """Return the error for a path without a timing: the joint and the place that need most when followed slowly."""
    sd = SLOW[:, None] * highest_speed(points, bounds.velocity)
    moved = np.max(np.abs(terms.c + terms.friction(sd)), axis=0)
    i, j = _worst(moved / bounds.effort)
    if moved[i, j] <= bounds.effort[j]:
        problem = "no timing was found, though no limit is in the way: is it shorter than 0.1 mm, or full of noise?"
        return InputError("trajectory", problem)
    needed = f"to move slowly it needs {moved[i, j]:.4g} of {bounds.effort[j]:.4g} N m or N"
    return InputError("trajectory", f"{_place(model, path, points, i, j)}: {needed}; no timing was found")


def _worst(values: Array) -> tuple[int, int]:
    """Return the point and the joint of the largest value."""
    i, j = np.unravel_index(np.argmax(values), values.shape)
    return int(i), int(j)


def _place(model: RobotModel, path: GeometricPath, points: PathPoints, i: int, j: int) -> str:
    at = path.given_time(float(points.s[i]))
    return f"joint '{model.joint_names[j]}' at {at:.3g} s of the given trajectory (position {points.q[i, j]:.4g})"
