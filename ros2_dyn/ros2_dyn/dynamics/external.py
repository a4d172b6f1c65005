# SPDX-License-Identifier: Apache-2.0
"""External wrenches: those of the surroundings on any point of any link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import vector
from ros2_dyn.dynamics.kinematics import body_transforms, link_transform
from ros2_dyn.dynamics.wrenches import shift_wrench
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, swap, turn


class ExternalWrench(NamedTuple):
    """Wrench of the surroundings on a link."""

    link: str
    """Link that the wrench acts on."""
    wrench: ArrayLike
    """[force; moment about the point], N and N m, shape (..., 6)."""
    point: ArrayLike = (0.0, 0.0, 0.0)
    """Point of action in that link's frame, m, shape (..., 3)."""
    frame: str | None = None
    """Link in whose axes the wrench is given; the link that it acts on for None."""


External = Mapping[str, ArrayLike] | Sequence[ExternalWrench]
"""Wrenches by link name, each at the link's origin and in its axes; or a list, at any point and in any axes."""


def external_forces(model: RobotModel, q: Array, external: External | None) -> list[Array]:
    """Return the spatial force (..., 6) on each body, in its own frame.

    Raises:
        InputError: the robot has no link of that name, a shape is wrong or a number is not finite.
    """
    forces: list[Array] = [np.zeros(6)] * len(model.joints)
    if isinstance(external, Mapping):
        external = [ExternalWrench(link, wrench) for link, wrench in external.items()]
    for link, wrench, point, frame in external or ():
        body, X = model.link_frame(link)
        wrench = vector(f"wrench on '{link}'", wrench, 6)
        if frame not in (None, link):
            X0 = body_transforms(model, q)
            to_base = np.swapaxes(link_transform(model, X0, frame).E, -1, -2)
            wrench = turn(link_transform(model, X0, link).E @ to_base, wrench)
        if body != BASE:
            at_origin = shift_wrench(wrench, -vector(f"point of '{link}'", point, 3))
            forces[body] = forces[body] + X.force_back(swap(at_origin))
    return forces
