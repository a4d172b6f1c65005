# SPDX-License-Identifier: Apache-2.0
"""Inertias that no rigid body has, link by link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ros2_dyn.model.finding import Finding
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.robot_model import BASE, RobotModel

ROUNDING, SUM_ROUNDING = 1e-6, 1e-9
"""Moments of inertia, kg m^2, below which a sign, and the excess over a sum, are rounding in the file."""
PLACEHOLDERS = (1.0, 0.1, 0.01, 0.001)
"""Moments of inertia, kg m^2, that are typed rather than computed where all three are equal."""


def check_inertials(model: RobotModel) -> Iterator[Finding]:
    """Yield what is wrong with each link's mass and rotational inertia."""
    moves = [model.links[spec.link].body != BASE for spec in model.link_specs]
    for spec, moving in zip(model.link_specs, moves):
        yield from _check(spec, moving)
    yield from _check_placeholders([spec for spec, moving in zip(model.link_specs, moves) if moving])


def _check(spec: LinkSpec, moves: bool) -> Iterator[Finding]:
    element, mass, I_com = f"link '{spec.link}'", float(spec.inertia.mass), spec.inertia.I_com
    principal = np.linalg.eigvalsh(I_com)
    if mass < 0:
        yield Finding("error", "mass_negative", element, f"its mass is {mass:.4g} kg", "give its mass")
    if mass == 0 and np.any(I_com):
        problem = "it has rotational inertia but no mass"
        yield Finding("warning", "mass_zero", element, problem, "give its mass, or remove its <inertial>")
    if principal[0] < -ROUNDING:
        problem = f"a principal moment of its inertia is negative, {principal[0]:.3g} kg m^2"
        yield Finding("error", "inertia_negative", element, problem, "look for a product of inertia that is too large")
    elif 2 * principal[2] > 1.001 * principal.sum() + SUM_ROUNDING:
        problem = (
            f"its inertia is impossible: the principal moment {principal[2]:.3g} kg m^2 exceeds the sum of the others, "
            f"{principal[:2].sum():.3g}"
        )
        yield Finding("warning", "inertia_triangle", element, problem, "compute it anew from the shape")
    if mass > 0 and moves and not np.any(I_com):
        advice = "give <inertia>; the joint that turns it seems lighter than it is"
        yield Finding("warning", "inertia_zero", element, "it has mass but no rotational inertia", advice)


def _check_placeholders(moving: Sequence[LinkSpec]) -> Iterator[Finding]:
    for moment in PLACEHOLDERS:
        links = [
            spec.link for spec in moving if np.allclose(spec.inertia.I_com, moment * np.eye(3), rtol=1e-9, atol=1e-12)
        ]
        if links:
            others = f", and those of {len(links) - 1} other links" if links[1:] else ""
            problem = f"all its moments of inertia{others} are {moment:g} kg m^2, which looks typed and not computed"
            yield Finding(
                "warning", "inertia_placeholder", f"link '{links[0]}'", problem, "compute them from the shape"
            )
