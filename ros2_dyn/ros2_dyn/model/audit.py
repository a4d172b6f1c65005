"""Warnings about robot descriptions that are valid but implausible."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ros2_dyn.model.robot_model import BASE, RobotModel


def audit(model: RobotModel) -> list[str]:
    """Return warnings about a model, each with the name of its link or joint; empty for a plausible model."""
    return [*_links(model), *_joints(model)]


def _links(model: RobotModel) -> Iterator[str]:
    for spec in model.link_specs:
        mass, I_com = float(spec.inertia.mass), spec.inertia.I_com
        if mass == 0 and np.any(I_com):
            yield f"link '{spec.link}' has rotational inertia but no mass"
        principal = np.linalg.eigvalsh(I_com)
        if principal[0] < -1e-9:
            yield f"link '{spec.link}' has a negative principal moment of inertia, {principal[0]:.2g} kg m^2"
        elif 2 * principal.max() > 1.001 * principal.sum() + 1e-9:
            yield f"link '{spec.link}' has an impossible inertia: one principal moment exceeds the sum of the others"
        if mass > 0 and not np.any(I_com) and model.links[spec.link].body != BASE:
            yield f"link '{spec.link}' has mass but no rotational inertia"


def _joints(model: RobotModel) -> Iterator[str]:
    moves_mass = [body.mass > 0 for body in model.inertia]
    for i, parent in reversed(list(enumerate(model.lambda_))):
        if parent != BASE:
            moves_mass[parent] = moves_mass[parent] or moves_mass[i]
    for joint, moves in zip(model.joints, moves_mass):
        if not moves:
            yield f"joint '{joint.name}' moves no mass"
        if joint.dof == 1 and joint.mimics is None and not 0 < joint.effort_limit < np.inf:
            yield f"joint '{joint.name}' has no effort limit"
        if joint.type in ("revolute", "prismatic") and joint.mimics is None and np.isinf(joint.upper - joint.lower):
            yield f"joint '{joint.name}' has no position limits"
