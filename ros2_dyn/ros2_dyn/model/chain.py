# SPDX-License-Identifier: Apache-2.0
"""Parts of a robot: the arm between two links of a bigger robot, and robots with some joints locked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.spatial import Array


def subtree(links: Sequence[LinkSpec], base: str, tip: str, positions: Mapping[str, ArrayLike]) -> Iterator[LinkSpec]:
    """Yield the link `base` and its descendants, with all joints locked except those between `base` and `tip`.

    Raises:
        InputError: the tip is no descendant of the base, or a position is given for a joint that is not locked.
    """
    path = _path({spec.link: spec for spec in links}, base, tip)
    return lock_joints(links, base, {spec.joint.name for spec in path if spec.joint is not None}, positions)


def lock_joints(
    links: Sequence[LinkSpec], base: str, moving: Collection[str], positions: Mapping[str, ArrayLike]
) -> Iterator[LinkSpec]:
    """Yield the link `base` and its descendants, with all joints locked except the named ones.

    A joint that mimics another moves or is locked with it.

    Raises:
        InputError: a position is given for a joint that is not locked.
    """
    joints = [spec.joint for spec in links if spec.joint is not None]
    locked = _locked_positions([joint for joint in joints if joint.name not in moving], positions)

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
                yield spec._replace(X=joint.transform(locked[master]).after(spec.X), joint=None)
            else:
                yield spec


def _path(by_link: Mapping[str, LinkSpec], base: str, tip: str) -> list[LinkSpec]:
    """Return the links from the tip to the base, without the base itself."""
    path = []
    link = tip
    while link != base:
        path.append(by_link[link])
        if path[-1].parent is None:
            raise InputError("tip", f"the link '{tip}' is no descendant of '{base}'")
        link = path[-1].parent
    return path


def _locked_positions(joints: Sequence[Joint], positions: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Return the position at which each of the joints that mimic no other is locked."""
    locked = {joint.name: joint.neutral for joint in joints if joint.mimics is None}
    for name, position in positions.items():
        if name not in locked:
            raise InputError("positions", f"'{name}' is not a locked joint; the locked ones are: {', '.join(locked)}")
        q = np.atleast_1d(np.asarray(position, dtype=float))
        if q.shape != locked[name].shape or not np.all(np.isfinite(q)):
            raise InputError(f"positions['{name}']", f"expected {len(locked[name])} finite numbers, got {q}")
        locked[name] = q
    return locked
