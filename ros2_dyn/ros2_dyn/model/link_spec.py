"""What every source of a model (URDF, DH table, part of another robot) is first turned into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.spatial import Transform


class LinkSpec(NamedTuple):
    """One link and how it hangs on its parent link. The root has no parent, and its X and joint mean nothing."""

    link: str
    parent: str | None
    X: Transform
    """From the parent link's frame to this link's frame at q = 0."""
    joint: Joint | None
    """None: fixed."""
    inertia: SpatialInertia
    """Of this link alone, in its own frame."""

    def key(self) -> tuple[object, ...]:
        """All of it as plain values, equal for equal links, to compare and to hash."""
        arrays = (self.X.E, self.X.r, self.inertia.parameters)
        joint = None if self.joint is None else self.joint.key()
        return (self.link, self.parent, joint, *(tuple(array.ravel().tolist()) for array in arrays))


def format_tree(links: Sequence[LinkSpec]) -> Iterator[str]:
    """The tree: a line for each link, below that which it hangs on."""
    depth: dict[str | None, int] = {None: -1}
    for link, parent, _, joint, inertia in links:
        depth[link] = depth[parent] + 1
        mass = f" {inertia.mass:.3g} kg" if inertia.mass > 0 else ""
        yield f"{'  ' * depth[link]}{link}{mass}{'' if parent is None else f' ({_held_by(joint)})'}"


def _held_by(joint: Joint | None) -> str:
    if joint is None:
        return "fixed"
    follows = "" if joint.mimics is None else f" = {joint.multiplier:g} '{joint.mimics}' + {joint.offset:g}"
    return f"{joint.type} '{joint.name}'{follows}"
