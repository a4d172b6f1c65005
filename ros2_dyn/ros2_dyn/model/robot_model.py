"""The robot: a tree of rigid bodies joined by joints, as frozen data (RBDA section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.model import dh, urdf
from ros2_dyn.model.branch import Branch
from ros2_dyn.model.dh import DHRow
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.payload import Payload
from ros2_dyn.model.spatial import Array, Transform, identity_transform

BASE = -1
"""Index of the immobile base, the parent of the first bodies."""


class Placement(NamedTuple):
    """Where a link is: fixed to which moving body, and the transform from that body's frame to the link's."""

    body: int
    X: Transform


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A robot with n joints of one degree of freedom each, moving n bodies; body i hangs on joint i.

    Links behind fixed joints are lumped into the body that they are fixed to. The frame of a body is that of the link
    that its joint moves, as in URDF. Bodies are numbered so that parents come before children.
    """

    name: str
    base_link: str
    """The root link."""
    joints: tuple[Joint, ...]
    lambda_: tuple[int, ...]
    """Parent body of each body, BASE for those on the base."""
    X_tree: tuple[Transform, ...]
    """Of each joint: from its parent body's frame to the joint's frame at q = 0."""
    inertia: tuple[SpatialInertia, ...]
    """Of each body, in its own frame."""
    base_inertia: SpatialInertia
    """Of all that is fixed to the base, in the root link's frame."""
    links: Mapping[str, Placement]
    """Of every link, moving or not, in the order of the tree."""
    branches: tuple[Branch, ...]
    """The links and joints that all of this was made from, the root first, parents before children."""

    @classmethod
    def from_urdf_file(cls, path: str | Path) -> RobotModel:
        """Load a URDF file.

        Raises:
            ModelError: the file cannot be read, or what `from_urdf` raises.
        """
        try:
            return cls.from_urdf(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"file '{path}'", f"cannot be read: {error}") from error

    @classmethod
    def from_urdf(cls, xml: str) -> RobotModel:
        """Make the model from the text of a URDF.

        Raises:
            ModelError: the URDF is wrong; the error names the link or joint and what is wrong with it.
        """
        return cls.from_branches(*urdf.read(xml))

    @classmethod
    def from_dh(cls, rows: Sequence[DHRow], modified: bool = True, name: str = "robot") -> RobotModel:
        """Make the model from a table of Denavit-Hartenberg parameters.

        Args:
            rows: one for each joint, from the base outwards.
            modified: whether the table is a modified one (Craig 3.6), or a standard one (Paul 1981).
            name: name of the robot.

        Raises:
            ModelError: a row is wrong; the error names it and what is wrong with it.
        """
        return cls.from_branches(name, dh.read(rows, modified))

    @classmethod
    def from_branches(cls, name: str, branches: Iterable[Branch]) -> RobotModel:
        """Number the bodies, and lump each fixed link into the body that it is fixed to.

        Args:
            name: name of the robot.
            branches: the root first, parents before children; joints are numbered in this order.

        Raises:
            ModelError: there is no moving joint.
        """
        root, *others = branches = tuple(branches)
        joints: list[Joint] = []
        lambda_: list[int] = []
        X_tree: list[Transform] = []
        inertia = {BASE: root.inertia}
        links = {root.link: Placement(BASE, identity_transform())}
        for branch in others:
            body, X = links[branch.parent or root.link]
            placement = Placement(body, branch.X.after(X))
            if branch.joint is not None:
                joints.append(branch.joint)
                lambda_.append(body)
                X_tree.append(placement.X)
                placement = Placement(len(joints) - 1, identity_transform())
            links[branch.link] = placement
            added = branch.inertia.in_parent(placement.X)
            inertia[placement.body] = inertia[placement.body] + added if placement.body in inertia else added
        if not joints:
            raise ModelError(f"robot '{name}'", "it has no moving joint")
        bodies = tuple(inertia[i] for i in range(len(joints)))
        return cls(
            name,
            root.link,
            tuple(joints),
            tuple(lambda_),
            tuple(X_tree),
            bodies,
            inertia[BASE],
            MappingProxyType(links),
            branches,
        )

    def chain(self, base: str, tip: str, positions: Mapping[str, float] | None = None) -> RobotModel:
        """The arm between two links of a bigger robot, standing on its base link.

        What hangs on the arm stays on it: joints that are not between the two links are locked, and the bodies beyond
        them lumped in. What the base link hangs on is left out.

        Args:
            base: the link that does not move any more.
            tip: a link that hangs on it.
            positions: where joints are locked, rad or m, by name; 0 for those that are not named.

        Raises:
            InputError: the robot has no such link or joint, or the tip does not hang on the base.
            ModelError: no joint moves between the two.
        """
        self.placement(base), self.placement(tip)
        by_link = {branch.link: branch for branch in self.branches}
        path = [by_link[tip]]
        while path[-1].link != base:
            if path[-1].parent is None:
                raise InputError("tip", f"the link '{tip}' does not hang on '{base}'")
            path.append(by_link[path[-1].parent])
        moving = {branch.joint.name for branch in path[:-1] if branch.joint is not None}
        locked = dict(positions or {})
        wrong = [name for name in locked if name in moving or name not in self.joint_names]
        if wrong:
            raise InputError("positions", f"'{wrong[0]}' is no joint that is locked; those that move are {moving}")

        kept = {base: by_link[base]._replace(parent=None, joint=None)}
        for branch in self.branches:
            if branch.parent in kept and branch.link != base:
                joint = branch.joint
                if joint is not None and joint.name not in moving:
                    X_J = joint.transform(np.asarray(float(locked.get(joint.name, 0.0))))
                    branch = branch._replace(X=X_J.after(branch.X), joint=None)
                kept[branch.link] = branch
        return RobotModel.from_branches(self.name, kept.values())

    def carrying(self, payload: Payload) -> RobotModel:
        """The same robot with a payload fixed to one of its links.

        Raises:
            InputError: the robot has no such link, or the payload's numbers make no sense.
        """
        body, X = self.placement(payload.link)
        added = payload.inertia.in_parent(X)
        if body == BASE:
            return replace(self, base_inertia=self.base_inertia + added)
        inertia = list(self.inertia)
        inertia[body] = inertia[body] + added
        return replace(self, inertia=tuple(inertia))

    def __post_init__(self) -> None:
        """Make every array read-only: kernels have their numbers folded in."""
        transforms = [*self.X_tree, *(link.X for link in self.links.values()), *(branch.X for branch in self.branches)]
        inertias = [*self.inertia, self.base_inertia, *(branch.inertia for branch in self.branches)]
        arrays = [array for X in transforms for array in X]
        arrays += [array for I in inertias for array in (I.mass, I.h, I.I_origin)]
        for array in [*arrays, *(joint.axis for joint in self.joints)]:
            array.setflags(write=False)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the model's order: depth first, children in document order."""
        return tuple(joint.name for joint in self.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, the root first."""
        return tuple(self.links)

    @property
    def effort_limit(self) -> Array:
        """N m or N, shape (n,); infinite where the robot description gives none."""
        return np.array([joint.effort_limit for joint in self.joints])

    @property
    def default_tip(self) -> str:
        """The link with the most moving joints between it and the base; of several, the last in the tree."""
        return max(reversed(self.link_names), key=lambda link: len(self.support(self.links[link].body)))

    def support(self, body: int) -> tuple[int, ...]:
        """The joints between the base and a body, from the base outwards: kappa(i) of RBDA section 4.1.4."""
        path: list[int] = []
        while body != BASE:
            path.append(body)
            body = self.lambda_[body]
        return tuple(reversed(path))

    def placement(self, link: str | None) -> Placement:
        """Where a link is; `default_tip` for None.

        Raises:
            InputError: the robot has no such link.
        """
        link = self.default_tip if link is None else link
        if link not in self.links:
            raise InputError("link", f"the robot '{self.name}' has no link '{link}'; it has {', '.join(self.links)}")
        return self.links[link]

    def __repr__(self) -> str:
        return f"RobotModel('{self.name}', {self.n} joints: {', '.join(self.joint_names)})"
