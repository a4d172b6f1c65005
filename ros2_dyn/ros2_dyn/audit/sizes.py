# SPDX-License-Identifier: Apache-2.0
"""Centres of mass and inertias that do not fit the size of their link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ros2_dyn.audit.link_size import Box
from ros2_dyn.model.finding import Finding
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.robot_model import RobotModel
from ros2_dyn.model.spatial import Array, skew

MIN_MASS = 0.05
"""Mass, kg, below which a link does not matter: sensors and frames are given any inertia."""
MARGIN = 0.05
"""A centre of mass may lie outside the box by this part of its diagonal: covers and cables are not drawn."""
TOO_LARGE = 1.05
"""Times the inertia of a body whose whole mass is as far away from its centre as the box allows."""
TOO_SMALL = 0.02
"""Radius of gyration, of the diagonal, below which a link would be a point; a solid box has 0.2 to 0.3."""


def check_sizes(model: RobotModel, sizes: Mapping[str, Box]) -> Iterator[Finding]:
    """Yield the links whose centre of mass or inertia does not fit the box around them."""
    for spec in model.link_specs:
        box, inertia = sizes.get(spec.link), spec.inertia
        if box is not None and inertia.mass >= MIN_MASS and box.diagonal > 0:
            yield from _check_centre(f"link '{spec.link}'", inertia, box)
            yield from _check_inertia(f"link '{spec.link}'", inertia, box)


def _check_centre(element: str, inertia: SpatialInertia, box: Box) -> Iterator[Finding]:
    outside = box.distance(inertia.com)
    if outside > MARGIN * box.diagonal:
        at = np.array2string(inertia.com, precision=3)
        problem = f"its centre of mass, {at} m, is {outside:.3g} m outside of its geometry, {box.diagonal:.3g} m large"
        yield Finding("warning", "com_outside", element, problem, "is its <origin> that of another link or unit?")


def _check_inertia(element: str, inertia: SpatialInertia, box: Box) -> Iterator[Finding]:
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
