# SPDX-License-Identifier: Apache-2.0
"""Effort limits beside the weight of the robot: whether they are those of motors."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from ros2_dyn.model.finding import Finding
from ros2_dyn.model.link_spec import BASE
from ros2_dyn.model.robot_model import RobotModel
from ros2_dyn.model.spatial import Array

MAX_STRENGTH = 4.0
"""Effort limit of the most loaded joint over its weight, beyond which it is no motor's: arms have 0.3 to 3.2."""


def check_strength(model: RobotModel) -> Iterator[Finding]:
    """Yield a robot whose effort limits are far above the weight of its links, stretched out as far as they may be."""
    times = strength(model)
    if MAX_STRENGTH < times < inf:
        problem = f"its effort limits are {times:.0f} times its weight at each joint, or more"
        advice = "give those of its motors: commands may reach them"
        yield Finding("warning", "effort_limits_large", "robot", problem, advice)


def motor_effort(model: RobotModel) -> Array:
    """Return what motors of the robot may exert: its effort limits, or less where its weight shows that none has these.

    An error of the model counts beside what the robot weighs. Many descriptions have limits of another robot, or 1000.

    Returns:
        N m or N, shape (n,).
    """
    times = strength(model)
    return model.effort_limit * (MAX_STRENGTH / times if MAX_STRENGTH < times < inf else 1.0)


def strength(model: RobotModel) -> float:
    """Return how many times its weight the effort limit of the most loaded joint is; infinite for one without weight.

    A joint carries all links behind it, stretched out as far as they may be.
    """
    masses = [max(float(body.mass), 0.0) for body in model.inertia]
    reaches = [mass * float(np.linalg.norm(body.com)) for mass, body in zip(masses, model.inertia)]
    for i, parent in reversed(list(enumerate(model.lambda_))):
        if parent != BASE:
            joint = model.joints[i]
            slide = max(abs(joint.lower), abs(joint.upper)) if joint.type == "prismatic" else 0.0
            masses[parent] += masses[i]
            reaches[parent] += reaches[i] + masses[i] * (float(np.linalg.norm(model.X_tree[i].r)) + slide)
    loads = [
        9.81 * (mass if joint.type == "prismatic" else reach) / joint.effort_limit if joint.effort_limit > 0 else inf
        for joint, mass, reach in zip(model.joints, masses, reaches)
        if joint.mimics is None and joint.dof == 1
    ]
    return 1 / max(loads) if any(loads) else inf
