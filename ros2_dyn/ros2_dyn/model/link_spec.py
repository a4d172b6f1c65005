# SPDX-License-Identifier: Apache-2.0
"""One link and its joint: the form that every source of a model (URDF, DH table, other model) is brought into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.spatial import Transform

BASE = -1
"""Index of the fixed base, the parent of the first bodies."""


class LinkFrame(NamedTuple):
    """Frame of a link, given by the moving body that it is fixed to."""

    body: int
    """Index of the body; BASE for a link that does not move."""
    X: Transform
    """Transform from the body's frame to the link's frame."""


class LinkSpec(NamedTuple):
    """One link, and the joint that connects it to its parent link.

    The root has no parent; its `X` and `joint` are not used.
    """

    link: str
    """Name of the link."""
    parent: str | None
    """Name of the parent link; None for the root."""
    X: Transform
    """Transform from the parent link's frame to this link's frame at q = 0."""
    joint: Joint | None
    """Joint that moves the link; None for a fixed one."""
    inertia: SpatialInertia
    """Inertia of this link alone, in its own frame."""

    def key(self) -> tuple[object, ...]:
        """Return the content as plain values, equal for equal links, to compare and to hash."""
        arrays = (self.X.E, self.X.r, self.inertia.parameters)
        joint = None if self.joint is None else self.joint.key()
        return (self.link, self.parent, joint, *(tuple(array.ravel().tolist()) for array in arrays))


def format_tree(links: Sequence[LinkSpec]) -> Iterator[str]:
    """Yield a line for each link, indented below its parent's line."""
    depth: dict[str | None, int] = {None: -1}
    for link, parent, _, joint, inertia in links:
        depth[link] = depth[parent] + 1
        mass = f" {inertia.mass:.3g} kg" if inertia.mass > 0 else ""
        yield f"{'  ' * depth[link]}{link}{mass}{'' if parent is None else f' ({_format_joint(joint)})'}"


def _format_joint(joint: Joint | None) -> str:
    if joint is None:
        return "fixed"
    mimic = "" if joint.mimics is None else f" = {joint.multiplier:g} '{joint.mimics}' + {joint.offset:g}"
    return f"{joint.type} '{joint.name}'{mimic}"
