"""The robot: a tree of rigid bodies joined by joints, as frozen data (RBDA section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.model import chain, dh, urdf
from ros2_dyn.model.dh import DHRow
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn.model.link_spec import LinkSpec, format_tree
from ros2_dyn.model.payload import Payload
from ros2_dyn.model.spatial import Array, Transform, identity_transform

BASE = -1
"""Index of the immobile base, the parent of the first bodies."""


class LinkFrame(NamedTuple):
    """Where a link is: fixed to which moving body, and the transform from that body's frame to the link's."""

    body: int
    X: Transform


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A tree of bodies; body i hangs on joint i, and bodies are numbered so that parents come before children.

    Links behind fixed joints are lumped into the body that they are fixed to. The frame of a body is that of the link
    that its joint moves, as in URDF. Models are immutable; those of equal links and joints are equal.
    """

    name: str
    base_link: str
    """The root link."""
    joints: tuple[Joint, ...]
    """All that move, those that mimic another among them."""
    q_slices: tuple[slice, ...]
    """Where each joint's position is in q; that of a joint that mimics another is the other's."""
    v_slices: tuple[slice, ...]
    """Where each joint's velocity, acceleration and effort are in qd, qdd and tau."""
    lambda_: tuple[int, ...]
    """Parent body of each body, BASE for those on the base."""
    X_tree: tuple[Transform, ...]
    """Of each joint: from its parent body's frame to the joint's frame at q = 0."""
    inertia: tuple[SpatialInertia, ...]
    """Of each body, in its own frame."""
    base_inertia: SpatialInertia
    """Of all that is fixed to the base, in the root link's frame."""
    links: Mapping[str, LinkFrame]
    """Of every link, moving or not, in the order of the tree."""
    link_specs: tuple[LinkSpec, ...]
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
        return cls.from_links(*urdf.read(xml))

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
        return cls.from_links(name, dh.read(rows, modified))

    @classmethod
    def from_links(cls, name: str, specs: Iterable[LinkSpec]) -> RobotModel:
        """Number the bodies, and lump each fixed link into the body that it is fixed to.

        Args:
            name: name of the robot.
            specs: the root first, parents before children; joints are numbered in this order.

        Raises:
            ModelError: there is no moving joint, or a joint mimics one that it cannot.
        """
        root, *others = specs = tuple(specs)
        joints: list[Joint] = []
        lambda_: list[int] = []
        X_tree: list[Transform] = []
        inertia = {BASE: root.inertia}
        links = {root.link: LinkFrame(BASE, identity_transform())}
        for spec in others:
            body, X = links[spec.parent or root.link]
            frame = LinkFrame(body, spec.X.after(X))
            if spec.joint is not None:
                joints.append(spec.joint)
                lambda_.append(body)
                X_tree.append(frame.X)
                frame = LinkFrame(len(joints) - 1, identity_transform())
            links[spec.link] = frame
            added = spec.inertia.in_parent(frame.X)
            inertia[frame.body] = inertia[frame.body] + added if frame.body in inertia else added
        if not joints:
            raise ModelError(f"robot '{name}'", "it has no moving joint")
        bodies = tuple(inertia[i] for i in range(len(joints)))
        q_slices, v_slices = _coordinates(joints)
        return cls(
            name,
            root.link,
            tuple(joints),
            q_slices,
            v_slices,
            tuple(lambda_),
            tuple(X_tree),
            bodies,
            inertia[BASE],
            MappingProxyType(links),
            specs,
        )

    def chain(self, base: str, tip: str, positions: Mapping[str, ArrayLike] | None = None) -> RobotModel:
        """The arm between two links of a bigger robot, standing on its base link.

        What hangs on the arm stays on it: joints that are not between the two links are locked, and the bodies beyond
        them lumped in. What the base link hangs on is left out.

        Args:
            base: the link that does not move any more.
            tip: a link that hangs on it.
            positions: where joints are locked, rad or m, by name; neutral for those that are not named. A joint that
                mimics another goes with it.

        Raises:
            InputError: the robot has no such link or joint, or the tip does not hang on the base.
            ModelError: no joint moves between the two.
        """
        self.link_frame(base), self.link_frame(tip)
        return RobotModel.from_links(self.name, chain.subtree(self.link_specs, base, tip, positions or {}))

    def reduced(self, names: Sequence[str], positions: Mapping[str, ArrayLike] | None = None) -> RobotModel:
        """The same robot with all joints locked but the named ones (and those that mimic them).

        Args:
            names: joints of this model, in any order; the model's order stays.
            positions: where the others are locked, as in `chain`.

        Raises:
            InputError: the robot has no such joint.
        """
        for name in names:
            if name not in self.joint_names:
                raise InputError("joints", f"the robot '{self.name}' has no joint '{name}'; it has {self.joint_names}")
        return RobotModel.from_links(
            self.name, chain.lock_joints(self.link_specs, self.base_link, names, positions or {})
        )

    def carrying(self, payload: Payload) -> RobotModel:
        """The same robot with a payload fixed to one of its links.

        Raises:
            InputError: the robot has no such link, or the payload's numbers make no sense.
        """
        return self.with_body(payload.link or self.default_tip, payload.inertia)

    def with_body(self, link: str, inertia: SpatialInertia) -> RobotModel:
        """The same robot with a body fixed to a link, given in that link's frame.

        Raises:
            InputError: the robot has no such link.
        """
        self.link_frame(link)
        loaded = [b._replace(inertia=b.inertia + inertia) if b.link == link else b for b in self.link_specs]
        return RobotModel.from_links(self.name, loaded)

    def with_joint_dynamics(self, dynamics: Mapping[str, JointDynamics]) -> RobotModel:
        """The same robot with other friction, springs and rotors in some of its joints.

        Args:
            dynamics: for each such joint's name what takes the place of its dynamics.

        Raises:
            InputError: the robot has no such joint, or it has several degrees of freedom.
        """
        by_name = {joint.name: joint for joint in self.joints}
        for name in dynamics:
            if name not in by_name or by_name[name].dof > 1:
                names = ", ".join(joint.name for joint in self.joints if joint.dof == 1)
                raise InputError(
                    "dynamics",
                    f"the robot '{self.name}' has no joint '{name}' of one degree of freedom; it has {names}",
                )
        driven = [
            b._replace(joint=replace(b.joint, dynamics=dynamics[b.joint.name]))
            if b.joint and b.joint.name in dynamics
            else b
            for b in self.link_specs
        ]
        return RobotModel.from_links(self.name, driven)

    def __post_init__(self) -> None:
        """Make every array read-only: kernels have their numbers folded in."""
        transforms = [*self.X_tree, *(link.X for link in self.links.values()), *(spec.X for spec in self.link_specs)]
        inertias = [*self.inertia, self.base_inertia, *(spec.inertia for spec in self.link_specs)]
        arrays = [array for X in transforms for array in X]
        arrays += [array for I in inertias for array in (I.mass, I.h, I.I_origin)]
        for array in [*arrays, *(array for joint in self.joints for array in (joint.axis, joint.S))]:
            array.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same name, links and joints, to the last bit."""
        return isinstance(other, RobotModel) and self._key == other._key

    def __hash__(self) -> int:
        """By content."""
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (self.name, *(spec.key() for spec in self.link_specs))

    def __reduce__(self) -> tuple[object, ...]:
        """Models can be copied, and sent to other processes."""
        return RobotModel.from_links, (self.name, self.link_specs)

    @cached_property
    def n(self) -> int:
        """Number of degrees of freedom: the length of qd, qdd and tau."""
        return max(where.stop for where in self.v_slices)

    @cached_property
    def nq(self) -> int:
        """The length of q: n, but for planar and floating joints."""
        return max(where.stop for where in self.q_slices)

    @property
    def neutral(self) -> Array:
        """The q at which all joints are neutral: zeros, but for planar and floating joints; shape (nq,)."""
        return np.concatenate([joint.neutral for joint in self._independent])

    @property
    def _independent(self) -> tuple[Joint, ...]:
        """The joints that mimic no other, in the order of q."""
        return tuple(joint for joint in self.joints if joint.mimics is None)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that q and qd hold, in their order: depth first, children in document order."""
        return tuple(joint.name for joint in self._independent)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, the root first."""
        return tuple(self.links)

    @property
    def child_links(self) -> tuple[str, ...]:
        """The link that each joint moves, whose frame is its body's."""
        return tuple(spec.link for spec in self.link_specs if spec.joint is not None)

    @property
    def effort_limit(self) -> Array:
        """N m or N, shape (n,); infinite where the robot description gives none."""
        return self._per_dof("effort_limit")

    @property
    def velocity_limit(self) -> Array:
        """rad/s or m/s, shape (n,); infinite where the robot description gives none."""
        return self._per_dof("velocity_limit")

    @property
    def lower(self) -> Array:
        """Least positions, rad or m, shape (n,); -inf where the robot description gives none."""
        return self._per_dof("lower")

    @property
    def upper(self) -> Array:
        """Greatest positions, rad or m, shape (n,); inf where the robot description gives none."""
        return self._per_dof("upper")

    def _per_dof(self, attribute: str) -> Array:
        return np.array([getattr(joint, attribute) for joint in self._independent for _ in range(joint.dof)])

    @cached_property
    def armature(self) -> Array:
        """Inertia of the rotors about or along each degree of freedom, kg m^2 or kg, shape (n,)."""
        armature = np.zeros(self.n)
        for joint, where in zip(self.joints, self.v_slices):
            armature[where] += joint.multiplier**2 * joint.dynamics.armature
        armature.setflags(write=False)
        return armature

    @property
    def has_mimic_joints(self) -> bool:
        """Whether joints mimic others, so that one degree of freedom moves several bodies' joints."""
        return len(self._independent) < len(self.joints)

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

    def link_frame(self, link: str | None) -> LinkFrame:
        """Where a link is; `default_tip` for None.

        Raises:
            InputError: the robot has no such link.
        """
        link = self.default_tip if link is None else link
        if link not in self.links:
            raise InputError("link", f"the robot '{self.name}' has no link '{link}'; it has {', '.join(self.links)}")
        return self.links[link]

    def __repr__(self) -> str:
        """The tree: a line for each link, below that which it hangs on."""
        title = (
            f"RobotModel '{self.name}': {self.n} degrees of freedom, {sum(I.mass for I in self.inertia):.3g} kg move"
        )
        return "\n".join([title, *format_tree(self.link_specs)])


def _coordinates(joints: Sequence[Joint]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Where each joint's numbers are in q and in qd."""
    places: dict[str, tuple[slice, slice]] = {}
    nq = n = 0
    for joint in joints:
        if joint.mimics is None:
            places[joint.name] = slice(nq, nq + len(joint.neutral)), slice(n, n + joint.dof)
            nq, n = nq + len(joint.neutral), n + joint.dof
    one = {joint.name for joint in joints if joint.mimics is None and joint.dof == 1}
    for joint in joints:
        if joint.mimics is not None:
            if joint.mimics not in one or joint.dof > 1:
                expected = "expected a joint with one degree of freedom that mimics no other"
                raise ModelError(f"joint '{joint.name}'", f"it mimics '{joint.mimics}'; {expected}")
            places[joint.name] = places[joint.mimics]
    q_slices, v_slices = zip(*(places[joint.name] for joint in joints))
    return q_slices, v_slices
