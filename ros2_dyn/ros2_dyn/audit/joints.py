# SPDX-License-Identifier: Apache-2.0
"""Joints, limits and lengths: those that are missing, or too large for the robot or for SI units."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, inf, tau
from xml.etree.ElementTree import Element

import numpy as np

from ros2_dyn.model.finding import Finding
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.link_spec import BASE
from ros2_dyn.model.robot_model import RobotModel

MAX_TURNS = 4.0
"""Turns from a position limit to the other beyond which they are degrees: some wrists make three."""
MAX_SPEED = 60.0
"""rad/s beyond which a velocity limit is in degrees: fast wrists make 10."""
MAX_LENGTH = 20.0
"""m from a joint to the next beyond which it is given in mm."""
MAX_MASS = 500.0
"""kg of a link beyond which it is given in g, in a robot of ordinary size."""


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


def check_units(model: RobotModel) -> Iterator[Finding]:
    """Yield limits, lengths and masses that suggest another unit."""
    for joint in model.joints:
        turns = joint.type == "revolute"
        span = joint.upper - joint.lower
        if turns and MAX_TURNS * tau < span < inf:
            problem = f"its limits, {joint.lower:g} and {joint.upper:g} rad, are {span / tau:.0f} turns apart"
            yield _suspect("degrees", f"joint '{joint.name}'", problem, "are they degrees? URDF has rad")
        if turns and MAX_SPEED < joint.velocity_limit < inf:
            problem = f"its velocity limit is {joint.velocity_limit:g} rad/s"
            yield _suspect("degrees", f"joint '{joint.name}'", problem, "is it in degrees? URDF has rad/s")
    longest = 0.0
    for spec in model.link_specs[1:]:
        length = float(np.linalg.norm(spec.X.r))
        longest = max(longest, length)
        if length > MAX_LENGTH:
            yield _suspect("mm", f"link '{spec.link}'", f"it is {length:g} m away from its parent", "are these mm?")
    for spec in model.link_specs:
        if spec.inertia.mass > MAX_MASS and longest < MAX_LENGTH:
            problem = f"its mass is {spec.inertia.mass:g} kg"
            yield _suspect("g", f"link '{spec.link}'", problem, "is it in g? URDF has kg")


def check_origins(robot: Element) -> Iterator[Finding]:
    """Yield orientations in a URDF that suggest degrees; the model has them as rotations only."""
    for parent in robot.iter():
        for origin in parent.findall("origin"):
            if (text := origin.get("rpy")) and _size(text) > 1.5 * tau:
                element = f"{parent.tag} '{parent.get('name')}'" if parent.get("name") else f"a <{parent.tag}>"
                yield _suspect("degrees", element, f'its origin has rpy="{text}"', "are these degrees? URDF has rad")


def _size(vector: str) -> float:
    """Return the length of a vector in a text; 0 where it is none, which does not matter for the dynamics."""
    try:
        return hypot(*map(float, vector.split()))
    except ValueError:
        return 0.0


def _suspect(unit: str, element: str, problem: str, advice: str) -> Finding:
    return Finding("warning", f"unit_{unit}", element, problem, advice)
