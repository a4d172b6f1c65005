# SPDX-License-Identifier: Apache-2.0
"""Links of a chain from a table of Denavit-Hartenberg parameters, modified (Craig) or standard (Paul)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import ModelError
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.spatial import Array, Transform, identity_transform, rotation_from_rpy


@dataclass(frozen=True)
class DHRow:
    """One joint and its link: four Denavit-Hartenberg parameters, and the link's inertia in the link's own frame.

    In a modified table (Craig 3.6) a and alpha precede the joint (a_{i-1}, alpha_{i-1}), and the link's frame lies on
    its joint's axis. In a standard table they follow the joint, and the frame lies on the next joint's axis.
    """

    a: float = 0.0
    """Translation along x, m."""
    alpha: float = 0.0
    """Rotation about x, rad."""
    d: float = 0.0
    """Translation along z, m; added to the position of a prismatic joint."""
    theta: float = 0.0
    """Rotation about z, rad; added to the position of a revolute joint."""
    prismatic: bool = False
    """Type of the joint: prismatic or revolute."""
    mass: float = 0.0
    """Mass of the link, kg."""
    com: ArrayLike = (0.0, 0.0, 0.0)
    """Centre of mass, m, shape (3,)."""
    I_com: ArrayLike | None = None
    """Rotational inertia about the centre of mass, in the frame's axes, kg m^2, shape (3, 3)."""
    I_origin: ArrayLike | None = None
    """Rotational inertia about the frame's origin, kg m^2, shape (3, 3).

    Give at most one of the two, because books use both; a link with neither is a point mass.
    """


def read(rows: Sequence[DHRow], modified: bool) -> Iterator[LinkSpec]:
    """Yield the links ``link0`` (the base) to ``linkn``, joined by ``joint1`` to ``jointn``, in the table's frames.

    In a standard table the joint's axis lies on the previous frame, so that each body has a second frame there,
    ``link1_joint`` and so on.

    Raises:
        ModelError: a number is not finite, a mass is negative, or both inertias are given.
    """
    yield LinkSpec("link0", None, identity_transform(), None, SpatialInertia.zero())
    for i, row in enumerate(rows, start=1):
        joint = Joint(f"joint{i}", "prismatic" if row.prismatic else "revolute", np.array([0.0, 0.0, 1.0]))
        about_x = _screw(row.a, row.alpha, 0)
        about_z = _screw(row.d, row.theta, 2)
        link, before = f"link{i}", f"link{i - 1}"
        if modified:
            yield LinkSpec(link, before, about_z.after(about_x), joint, _inertia(row, i))
        else:
            yield LinkSpec(f"{link}_joint", before, about_z, joint, SpatialInertia.zero())
            yield LinkSpec(link, f"{link}_joint", about_x, None, _inertia(row, i))


def _screw(length: float, angle: float, axis: int) -> Transform:
    """Return a translation along an axis of the frame and a rotation about it."""
    e = np.eye(3)[axis]
    return Transform(rotation_from_rpy(angle * e).T, length * e)


def _inertia(row: DHRow, i: int) -> SpatialInertia:
    label = f"row {i}"
    com: Array = np.asarray(row.com, dtype=float)
    given = row.I_com if row.I_origin is None else row.I_origin
    I: Array = np.zeros((3, 3)) if given is None else np.array(given, dtype=float)
    numbers = np.concatenate([[row.a, row.alpha, row.d, row.theta, row.mass], com.ravel(), I.ravel()])
    if com.shape != (3,) or I.shape != (3, 3) or not np.all(np.isfinite(numbers)):
        raise ModelError(label, "expected finite numbers, com of shape (3,) and an inertia of shape (3, 3)")
    if row.mass < 0:
        raise ModelError(label, f"mass is {row.mass}, expected a number of kg, not negative")
    if row.I_origin is None:
        return SpatialInertia.from_com(row.mass, com, I)
    if row.I_com is not None:
        raise ModelError(label, "both I_com and I_origin are given; expected one of them")
    return SpatialInertia(np.asarray(float(row.mass)), row.mass * com, I)
