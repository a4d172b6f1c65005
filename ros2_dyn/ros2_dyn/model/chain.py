"""Cut an arm out of a bigger robot: lock the joints that are none of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.spatial import Array


def subtree(links: Sequence[LinkSpec], base: str, tip: str, positions: Mapping[str, ArrayLike]) -> Iterator[LinkSpec]:
    """What hangs on the link `base`, with all joints locked but those between it and the link `tip`.

    Raises:
        InputError: the tip does not hang on the base, or a position is not that of a locked joint.
    """
    path = _path({spec.link: spec for spec in links}, base, tip)
    return lock_joints(links, base, {spec.joint.name for spec in path if spec.joint is not None}, positions)


def lock_joints(
    links: Sequence[LinkSpec], base: str, moving: Collection[str], positions: Mapping[str, ArrayLike]
) -> Iterator[LinkSpec]:
    """What hangs on the link `base`, with all joints locked but the named ones.

    Joints that mimic one that moves move with it, and those that mimic one that is locked are locked with it.

    Raises:
        InputError: a position is not that of a locked joint.
    """
    joints = [spec.joint for spec in links if spec.joint is not None]
    locked = _locked([joint for joint in joints if joint.name not in moving], positions)

    kept: set[str] = set()
    for spec in links:
        if spec.link == base:
            kept.add(base)
            yield spec._replace(parent=None, joint=None)
        elif spec.parent in kept:
            kept.add(spec.link)
            joint = spec.joint
            master = joint and (joint.mimics or joint.name)
            if joint is not None and master in locked:
                spec = spec._replace(X=joint.transform(locked[master]).after(spec.X), joint=None)
            yield spec


def _path(by_link: Mapping[str, LinkSpec], base: str, tip: str) -> list[LinkSpec]:
    """The links from the tip inwards, as far as the base, which is not one of them."""
    path = []
    link = tip
    while link != base:
        path.append(by_link[link])
        if path[-1].parent is None:
            raise InputError("tip", f"the link '{tip}' does not hang on '{base}'")
        link = path[-1].parent
    return path


def _locked(joints: Sequence[Joint], positions: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Where those joints are locked that mimic no other."""
    locked = {joint.name: joint.neutral for joint in joints if joint.mimics is None}
    for name, position in positions.items():
        if name not in locked:
            raise InputError("positions", f"'{name}' is no joint that is locked; those are: {', '.join(locked)}")
        q = np.atleast_1d(np.asarray(position, dtype=float))
        if q.shape != locked[name].shape or not np.all(np.isfinite(q)):
            raise InputError(f"positions['{name}']", f"expected {len(locked[name])} finite numbers, got {q}")
        locked[name] = q
    return locked
