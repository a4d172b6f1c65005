"""What every source of a model (URDF, DH table, part of another robot) is first turned into."""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.spatial import Transform


class Branch(NamedTuple):
    """One link and how it hangs on its parent link. The root has no parent, and its X and joint mean nothing."""

    link: str
    parent: str | None
    X: Transform
    """From the parent link's frame to this link's frame at q = 0."""
    joint: Joint | None
    """None: fixed."""
    inertia: SpatialInertia
    """Of this link alone, in its own frame."""
