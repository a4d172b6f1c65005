# SPDX-License-Identifier: Apache-2.0
"""Joints whose limits are missing, and joints that move nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ros2_dyn.model.finding import Finding
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.robot_model import BASE, RobotModel


def check_joints(model: RobotModel) -> Iterator[Finding]:
    """Yield what is missing at each joint."""
    moves_mass = [body.mass > 0 for body in model.inertia]
    for i, parent in reversed(list(enumerate(model.lambda_))):
        if parent != BASE:
            moves_mass[parent] = moves_mass[parent] or moves_mass[i]
    for joint, moves in zip(model.joints, moves_mass):
        element = f"joint '{joint.name}'"
        if not moves:
            advice = "give the links behind it an <inertial>, or make it fixed"
            yield Finding("warning", "moves_no_mass", element, "it moves no mass", advice)
        if joint.mimics is None:
            yield from _check_limits(joint, element)


def _check_limits(joint: Joint, element: str) -> Iterator[Finding]:
    if joint.dof == 1 and not 0 < joint.effort_limit < np.inf:
        advice = "give <limit effort>: nothing is commanded without it"
        yield Finding("warning", "effort_limit_missing", element, "it has no effort limit", advice)
    if joint.dof == 1 and not 0 < joint.velocity_limit < np.inf:
        advice = "give <limit velocity>"
        yield Finding("warning", "velocity_limit_missing", element, "it has no velocity limit", advice)
    if joint.type in ("revolute", "prismatic") and np.isinf(joint.upper - joint.lower):
        advice = "give <limit lower upper>, or make it continuous"
        yield Finding("warning", "position_limits_missing", element, "it has no position limits", advice)
    elif joint.type in ("revolute", "prismatic") and joint.lower == joint.upper:
        problem = f"its position limits are both {joint.lower:g}: it cannot move"
        yield Finding(
            "warning", "position_limits_equal", element, problem, "give <limit lower upper>, or make it fixed"
        )
