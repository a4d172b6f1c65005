"""One joint: how a body may move relative to its parent (RBDA section 4.4)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

import numpy as np

from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn.model.spatial import Array, Transform, matvec, rotation_from_quaternion, skew

JointType = Literal["revolute", "continuous", "prismatic", "planar", "floating"]


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint; its frame is the child link's frame, which at q = 0 coincides with the frame that X_tree leads to.

    Velocities are those of the child link in its own axes. What q and qd hold, by type:

    - revolute, continuous, prismatic: an angle or a length, and its rate;
    - planar: [x, y, cos, sin] and [x', y', rate of turn]; a plane through the origin with the axis as its normal;
    - floating: [x, y, z, qx, qy, qz, qw], a unit quaternion, and [linear; angular] velocity, as in a Twist.

    A joint that mimics another has no q of its own: it is at ``multiplier * q + offset`` of that joint. Limits that the
    robot description does not give are infinite.
    """

    name: str
    type: JointType
    axis: Array
    """Unit vector, shape (3,), in the joint's frame."""
    lower: float = -np.inf
    """Position limits, rad or m."""
    upper: float = np.inf
    velocity_limit: float = np.inf
    """rad/s or m/s."""
    effort_limit: float = np.inf
    """N m or N."""
    dynamics: JointDynamics = field(default_factory=JointDynamics)
    mimics: str | None = None
    """Name of the joint that this one follows."""
    multiplier: float = 1.0
    offset: float = 0.0
    """rad or m."""

    def key(self) -> tuple[object, ...]:
        """All of it as plain values, to compare and to hash."""
        return (tuple(self.axis.tolist()), *(getattr(self, part.name) for part in fields(self) if part.name != "axis"))

    @property
    def dof(self) -> int:
        """Degrees of freedom: the length of its qd."""
        return {"planar": 3, "floating": 6}.get(self.type, 1)

    @property
    def neutral(self) -> Array:
        """The q at which the child link lies where X_tree leads to."""
        return np.array({"planar": [0.0, 0, 1, 0], "floating": [0.0, 0, 0, 0, 0, 0, 1]}.get(self.type, [0.0]))

    @cached_property
    def S(self) -> Array:
        """The motion subspace, shape (6, dof): the joint's velocity is S qd (RBDA section 3.5 and Table 4.1)."""
        zero, one = np.zeros((3, 3)), np.eye(3)
        along, about = np.concatenate([zero, one]), np.concatenate([one, zero])  # the six motions of a free body
        if self.type == "floating":
            return np.concatenate([along, about], axis=1)
        if self.type == "planar":
            return np.concatenate([along @ self.plane, about @ self.axis[:, None]], axis=1)
        return self.multiplier * (along if self.type == "prismatic" else about) @ self.axis[:, None]

    @property
    def plane(self) -> Array:
        """Two unit vectors, shape (3, 2), that with the axis make a right-handed frame: x and y where it is z."""
        x, y, z = self.axis if self.axis[2] >= 0 else -self.axis
        u = np.array([1 - x * x / (1 + z), -x * y / (1 + z), -x])
        return np.stack([u, np.cross(self.axis, u)], axis=1)

    def transform(self, q: Array) -> Transform:
        """``X_J(q)``: from the frame at q = 0 to the child link's frame (RBDA Table 4.1, for any axis).

        Args:
            q: of this joint, or of that which it mimics, shape (..., k) with k numbers by type.
        """
        if self.type == "floating":
            return Transform(np.swapaxes(rotation_from_quaternion(q[..., 3:]), -1, -2), q[..., :3])
        if self.type == "planar":
            return Transform(self._turn(q[..., 2:3], q[..., 3:4]), matvec(self.plane, q[..., :2]))
        position = self.position(q)
        if self.type == "prismatic":
            return Transform(np.eye(3), self.axis * position)
        return Transform(self._turn(np.cos(position), np.sin(position)), np.zeros(3))

    def position(self, q: Array) -> Array:
        """Where a joint of one degree of freedom is, rad or m, shape (..., 1), for q as `transform` takes it."""
        return self.multiplier * q + self.offset

    def _turn(self, cos: Array, sin: Array) -> Array:
        """Rodrigues' formula, transposed (RBDA 2.15), as a sum of constant matrices: a constant 0 or 1 stays one."""
        along = np.outer(self.axis, self.axis)
        return along + cos[..., None] * (np.eye(3) - along) - sin[..., None] * skew(self.axis)
