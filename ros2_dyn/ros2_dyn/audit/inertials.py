# SPDX-License-Identifier: Apache-2.0
"""Masses, centres of mass and inertias, link by link: those that no body has, and those that do not fit its size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ros2_dyn.audit.link_size import Box
from ros2_dyn.model.finding import Finding
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.link_spec import BASE, LinkSpec
from ros2_dyn.model.robot_model import RobotModel
from ros2_dyn.model.spatial import Array, skew

ROUNDING, SUM_ROUNDING = 1e-6, 1e-9
"""Moments of inertia, kg m^2, below which a sign, and the excess over a sum, are rounding in the file."""
PLACEHOLDERS = (1.0, 0.1, 0.01, 0.001)
"""Moments of inertia, kg m^2, that are typed rather than computed where all three are equal."""
MIN_MASS = 0.05
"""Mass, kg, below which a link does not matter: sensors and frames are given any inertia."""
MARGIN = 0.05
"""A centre of mass may lie outside the box by this part of its diagonal: covers and cables are not drawn."""
TOO_LARGE = 1.05
"""Times the inertia of a body whose whole mass is as far away from its centre as the box allows."""
TOO_SMALL = 0.02
"""Radius of gyration, of the diagonal, below which a link would be a point; a solid box has 0.2 to 0.3."""


def check_inertials(model: RobotModel) -> Iterator[Finding]:
    """Yield what is wrong with each link's mass and rotational inertia."""
    moves = [model.links[spec.link].body != BASE for spec in model.link_specs]
    for spec, moving in zip(model.link_specs, moves):
        yield from _check_body(spec, moving)
    yield from _check_placeholders([spec for spec, moving in zip(model.link_specs, moves) if moving])


def _check_body(spec: LinkSpec, moves: bool) -> Iterator[Finding]:
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


def check_masses(model: RobotModel, sizes: Mapping[str, Box]) -> Iterator[Finding]:
    """Yield links with a size and no mass, and what is fixed to each moving link."""
    fixed: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for spec in model.link_specs:
        body, mass = model.links[spec.link].body, float(spec.inertia.mass)
        if body == BASE:
            continue
        if mass == 0 and spec.link in sizes:
            problem = f"it is {sizes[spec.link].diagonal:.2g} m large and has no mass"
            yield Finding("warning", "inertial_missing", f"link '{spec.link}'", problem, "give its <inertial>")
        if mass > 0 and spec.joint is None:
            fixed[model.child_links[body]].append((spec.link, mass))
    for carrier, links in fixed.items():
        names = ", ".join(f"'{link}' ({mass:.3g} kg)" for link, mass in links)
        problem = f"it carries what is fixed to it: {names}"
        yield Finding("note", "fixed_mass", f"link '{carrier}'", problem, "is all of it there?")


def check_sizes(model: RobotModel, sizes: Mapping[str, Box]) -> Iterator[Finding]:
    """Yield the links whose centre of mass or inertia does not fit the box around them."""
    for spec in model.link_specs:
        box, inertia = sizes.get(spec.link), spec.inertia
        if box is not None and inertia.mass >= MIN_MASS and box.diagonal > 0:
            yield from _check_centre(f"link '{spec.link}'", inertia, box)
            yield from _check_radius(f"link '{spec.link}'", inertia, box)


def _check_centre(element: str, inertia: SpatialInertia, box: Box) -> Iterator[Finding]:
    outside = box.distance(inertia.com)
    if outside > MARGIN * box.diagonal:
        at = np.array2string(inertia.com, precision=3)
        problem = f"its centre of mass, {at} m, is {outside:.3g} m outside of its geometry, {box.diagonal:.3g} m large"
        yield Finding("warning", "com_outside", element, problem, "is its <origin> that of another link or unit?")


def _check_radius(element: str, inertia: SpatialInertia, box: Box) -> Iterator[Finding]:
    mass, largest = float(inertia.mass), float(np.linalg.eigvalsh(inertia.I_com)[2])
    radius = np.sqrt(max(largest, 0.0) / mass)
    if largest > TOO_LARGE * mass * box.farthest(inertia.com) ** 2:
        problem = (
            f"its moment of inertia {largest:.3g} kg m^2 is more than {mass:.3g} kg within {box.diagonal:.3g} m have"
        )
        if _fits(_about_origin(inertia), mass, box, inertia.com):
            advice = "it would fit if it were given about the link's origin; URDF has it about the centre of mass"
            yield Finding("warning", "reference_point", element, problem, advice)
        else:
            yield Finding("warning", "inertia_too_large", element, problem, "is its unit kg m^2?")
    elif 0 < radius < TOO_SMALL * box.diagonal:
        problem = f"its inertia is that of {mass:.3g} kg within {radius:.2g} m, and it is {box.diagonal:.3g} m large"
        yield Finding("warning", "inertia_too_small", element, problem, "is its unit kg m^2?")


def _about_origin(inertia: SpatialInertia) -> Array:
    """Return the inertia about the centre of mass if what is given were about the link's origin."""
    c = skew(inertia.com)
    return inertia.I_com + float(inertia.mass) * c @ c


def _fits(I_com: Array, mass: float, box: Box, com: Array) -> bool:
    principal = np.linalg.eigvalsh(I_com)
    possible = principal[0] > 0 and 2 * principal[2] <= 1.001 * principal.sum()
    return bool(possible and principal[2] <= TOO_LARGE * mass * box.farthest(com) ** 2)
