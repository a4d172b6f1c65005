# SPDX-License-Identifier: Apache-2.0
"""RobotModel: a tree of rigid bodies connected by joints, as frozen data (RBDA section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.model import chain, dh, urdf
from ros2_dyn.model.description_bounds import MAX_LINKS, read_description
from ros2_dyn.model.dh import DHRow
from ros2_dyn.model.drives import Drives, drives
from ros2_dyn.model.finding import Finding
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn.model.link_spec import BASE, LinkFrame, LinkSpec, format_tree
from ros2_dyn.model.payload import Payload
from ros2_dyn.model.spatial import Array, Transform, identity_transform


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A tree of bodies; joint i moves body i, and bodies are numbered so that parents come before children.

    Links behind fixed joints are lumped into the body that they are fixed to. The frame of a body is that of the link
    that its joint moves, as in URDF. Models are immutable, and models of equal links and joints are equal.
    """

    name: str
    """Name of the robot."""
    base_link: str
    """Name of the root link."""
    joints: tuple[Joint, ...]
    """All movable joints, including those that mimic another."""
    q_slices: tuple[slice, ...]
    """Slice of q that holds each joint's position; a joint that mimics another has the slice of the other."""
    v_slices: tuple[slice, ...]
    """Slice of qd, qdd and tau that holds each joint's velocity, acceleration and effort."""
    lambda_: tuple[int, ...]
    """Parent body of each body; BASE for bodies whose parent is the base."""
    X_tree: tuple[Transform, ...]
    """Transform of each joint, from its parent body's frame to the joint's frame at q = 0."""
    inertia: tuple[SpatialInertia, ...]
    """Inertia of each body, in its own frame."""
    base_inertia: SpatialInertia
    """Inertia of the links that are fixed to the base, in the root link's frame."""
    links: Mapping[str, LinkFrame]
    """Frame of every link, in the order of the tree."""
    link_specs: tuple[LinkSpec, ...]
    """Links and joints that the model was made from, the root first, parents before children."""
    findings: tuple[Finding, ...] = ()
    """What was odd in the URDF that it was made from, and how that was read; see `ros2_dyn.audit` for more."""

    @classmethod
    def from_urdf_file(cls, path: str | Path) -> RobotModel:
        """Load a URDF file.

        Raises:
            ModelError: the file cannot be read, or its content is wrong; see `from_urdf`.
        """
        return cls.from_urdf(read_description(path))

    @classmethod
    def from_urdf(cls, xml: str) -> RobotModel:
        """Make the model from the text of a URDF.

        What other parsers accept is accepted, such as limits that are upside down; `findings` name it.

        Raises:
            ModelError: the URDF is wrong; the error names the link or joint.
        """
        return cls.from_links(*urdf.read(xml))

    @classmethod
    def from_dh(cls, rows: Sequence[DHRow], modified: bool = True, name: str = "robot") -> RobotModel:
        """Make the model from a table of Denavit-Hartenberg parameters.

        Args:
            rows: one for each joint, from the base outwards.
            modified: True for a modified table (Craig 3.6), False for a standard one (Paul 1981).
            name: name of the robot.

        Raises:
            ModelError: a row is wrong; the error gives its number and its fault.
        """
        return cls.from_links(name, dh.read(rows, modified))

    @classmethod
    def from_links(cls, name: str, specs: Iterable[LinkSpec], findings: Iterable[Finding] = ()) -> RobotModel:
        """Make the model from its links: number the bodies, and lump links behind fixed joints into them.

        Args:
            name: name of the robot.
            specs: the links, the root first, parents before children; joints are numbered in this order.
            findings: what was odd in their source.

        Raises:
            ModelError: there is no movable joint, a joint mimics one that it cannot mimic, or there are too many links.
        """
        specs = tuple(islice(specs, MAX_LINKS + 1))
        if len(specs) > MAX_LINKS:
            raise ModelError("robot", f"it has more than {MAX_LINKS} links")
        root, *others = specs
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
        model = cls(
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
            tuple(findings),
        )
        if any(joint.coupled for joint in joints):
            _ = model.drives  # refuses drives that do not move the joints
        return model

    def chain(self, base: str, tip: str, positions: Mapping[str, ArrayLike] | None = None) -> RobotModel:
        """Return the arm between two links of a bigger robot, with the first link as its base.

        Joints that are not between the two links are locked, and the bodies beyond them are lumped into the arm. The
        ancestors of the base link are left out.

        Args:
            base: the link that becomes the fixed base.
            tip: a descendant of the base.
            positions: positions of the locked joints, rad or m, by name; neutral for those that are not named. A joint
                that mimics another is locked with it.

        Raises:
            InputError: the robot has no such link or joint, or the tip is no descendant of the base.
            ModelError: there is no movable joint between the two.
        """
        self.link_frame(base), self.link_frame(tip)
        return RobotModel.from_links(self.name, chain.subtree(self.link_specs, base, tip, positions or {}))

    def reduced(self, names: Sequence[str], positions: Mapping[str, ArrayLike] | None = None) -> RobotModel:
        """Return the same robot with all joints locked except the named ones (and those that mimic them).

        Args:
            names: joints of this model, in any order; the joints keep the model's order.
            positions: positions of the locked joints, as in `chain`.

        Raises:
            InputError: the robot has no such joint.
        """
        for name in names:
            if name not in self.joint_names:
                raise InputError("joints", f"the robot '{self.name}' has no joint '{name}'; it has {self.joint_names}")
        return RobotModel.from_links(
            self.name, chain.lock_joints(self.link_specs, self.base_link, names, positions or {})
        )

    def carrying(self, payload: Payload | None) -> RobotModel:
        """Return the same robot with a payload fixed to one of its links; the robot itself for None.

        Raises:
            InputError: the robot has no such link, or the payload's numbers are wrong.
        """
        return self if payload is None else self.with_body(payload.link or self.default_tip, payload.inertia)

    def with_body(self, link: str, inertia: SpatialInertia) -> RobotModel:
        """Return the same robot with a rigid body fixed to a link, given in that link's frame.

        Raises:
            InputError: the robot has no such link.
        """
        self.link_frame(link)
        loaded = [b._replace(inertia=b.inertia + inertia) if b.link == link else b for b in self.link_specs]
        return RobotModel.from_links(self.name, loaded)

    def with_inertia(self, inertia: Sequence[SpatialInertia]) -> RobotModel:
        """Return the same robot with other inertias of its bodies.

        Links that are fixed to another one have none of their own then; those of the base stay as they are.

        Args:
            inertia: one for each body, in its own frame and in the order of the joints.
        """
        behind = iter(inertia)

        def of(spec: LinkSpec) -> SpatialInertia:
            if spec.joint is not None:
                return next(behind)
            return spec.inertia if self.links[spec.link].body == BASE else SpatialInertia.zero()

        return RobotModel.from_links(self.name, [spec._replace(inertia=of(spec)) for spec in self.link_specs])

    def with_joint_dynamics(self, dynamics: Mapping[str, JointDynamics]) -> RobotModel:
        """Return the same robot with other friction, springs and rotors in some of its joints.

        Args:
            dynamics: new dynamics by the joint's name; the other joints keep theirs.

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
        """Make every array read-only, because kernels fold the numbers in."""
        transforms = [*self.X_tree, *(link.X for link in self.links.values()), *(spec.X for spec in self.link_specs)]
        inertias = [*self.inertia, self.base_inertia, *(spec.inertia for spec in self.link_specs)]
        arrays = [array for X in transforms for array in X]
        arrays += [array for I in inertias for array in (I.mass, I.h, I.I_origin)]
        for array in [*arrays, *(array for joint in self.joints for array in (joint.axis, joint.S))]:
            array.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        """Return whether the other model has the same name, links and joints, to the last bit."""
        return self is other or (isinstance(other, RobotModel) and self._key == other._key)

    def __hash__(self) -> int:
        """Return the hash of the content."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        return (self.name, *(spec.key() for spec in self.link_specs))

    def __reduce__(self) -> tuple[object, ...]:
        """Support copies, and transfer to other processes."""
        return RobotModel.from_links, (self.name, self.link_specs, self.findings)

    @cached_property
    def n(self) -> int:
        """Number of degrees of freedom: the length of qd, qdd and tau."""
        return max(where.stop for where in self.v_slices)

    @cached_property
    def nq(self) -> int:
        """Length of q, which is n without planar and floating joints, and more with them."""
        return max(where.stop for where in self.q_slices)

    @property
    def neutral(self) -> Array:
        """Position at which all joints are neutral, shape (nq,): zeros, apart from planar and floating joints."""
        return np.concatenate([joint.neutral for joint in self._independent])

    @cached_property
    def _independent(self) -> tuple[Joint, ...]:
        """Joints that mimic no other, in the order of q."""
        return tuple(joint for joint in self.joints if joint.mimics is None)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent joints in the order of q and qd: depth first, children in document order."""
        return tuple(joint.name for joint in self._independent)

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, the root first."""
        return tuple(self.links)

    @property
    def child_links(self) -> tuple[str, ...]:
        """Child link of each joint; its frame is that of the body."""
        return tuple(spec.link for spec in self.link_specs if spec.joint is not None)

    @cached_property
    def effort_limit(self) -> Array:
        """Effort limits, N m or N, shape (n,); infinite where the robot description gives none."""
        return self._per_dof("effort_limit")

    @cached_property
    def velocity_limit(self) -> Array:
        """Velocity limits, rad/s or m/s, shape (n,); infinite where the robot description gives none."""
        return self._per_dof("velocity_limit")

    @cached_property
    def lower(self) -> Array:
        """Lower position limits, rad or m, shape (n,); -inf where the robot description gives none."""
        return self._per_dof("lower")

    @cached_property
    def upper(self) -> Array:
        """Upper position limits, rad or m, shape (n,); inf where the robot description gives none."""
        return self._per_dof("upper")

    def _per_dof(self, attribute: str) -> Array:
        values = np.array([getattr(joint, attribute) for joint in self._independent for _ in range(joint.dof)])
        values.setflags(write=False)
        return values

    @cached_property
    def drives(self) -> Drives:
        """Motors of the joints with their rotors, which may turn with several joints."""
        made = drives(self.joints, self.q_slices, self.v_slices)
        for array in (made.matrix, made.coupling, made.inverse, made.inertia):
            array.setflags(write=False)
        return made

    @property
    def has_mimic_joints(self) -> bool:
        """Whether joints mimic others, so that one degree of freedom moves several joints."""
        return len(self._independent) < len(self.joints)

    @cached_property
    def default_tip(self) -> str:
        """Link with the most movable joints between it and the base; of several, the last in the tree."""
        depth = {BASE: 0}
        for body, parent in enumerate(self.lambda_):
            depth[body] = depth[parent] + 1
        return max(reversed(self.link_names), key=lambda link: depth[self.links[link].body])

    def support(self, body: int) -> tuple[int, ...]:
        """Return the joints between the base and a body, from the base outwards: kappa(i) of RBDA section 4.1.4."""
        path: list[int] = []
        while body != BASE:
            path.append(body)
            body = self.lambda_[body]
        return tuple(reversed(path))

    def link_frame(self, link: str | None) -> LinkFrame:
        """Return the frame of a link; of the `default_tip` for None.

        Raises:
            InputError: the robot has no such link.
        """
        link = self.default_tip if link is None else link
        if link not in self.links:
            raise InputError("link", f"the robot '{self.name}' has no link '{link}'; it has {', '.join(self.links)}")
        return self.links[link]

    def __repr__(self) -> str:
        """Return the tree with a line for each link, indented below its parent's line."""
        title = (
            f"RobotModel '{self.name}': {self.n} degrees of freedom, {sum(I.mass for I in self.inertia):.3g} kg moving"
        )
        return "\n".join([title, *format_tree(self.link_specs)])


def _coordinates(joints: Sequence[Joint]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the slices of q and of qd that hold each joint's numbers."""
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
