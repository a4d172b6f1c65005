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
    for i, joint in enumerate(model.joints):
        beyond = [j for j in range(len(model.joints)) if i in model.support(j)]
        if not any(model.inertia[j].mass > 0 for j in beyond):
            yield f"joint '{joint.name}' moves no mass"
        if joint.dof == 1 and joint.mimics is None and not 0 < joint.effort_limit < np.inf:
            yield f"joint '{joint.name}' has no effort limit"
        if joint.type in ("revolute", "prismatic") and joint.mimics is None and np.isinf(joint.upper - joint.lower):
            yield f"joint '{joint.name}' has no position limits"
