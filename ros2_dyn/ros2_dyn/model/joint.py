# SPDX-License-Identifier: Apache-2.0
"""Joint: the motion of a body relative to its parent (RBDA section 4.4)."""

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
    """A joint; its frame is the child link's frame, which at q = 0 coincides with the target frame of X_tree.

    Velocities are those of the child link in its own axes. The contents of q and qd depend on the type:

    - revolute, continuous, prismatic: an angle or a length, and its rate;
    - planar: [x, y, cos, sin] and [x', y', rate of turn]; a plane through the origin with the axis as its normal;
    - floating: [x, y, z, qx, qy, qz, qw], a unit quaternion, and [linear; angular] velocity, as in a Twist.

    A joint that mimics another has no q of its own: its position is ``multiplier * q + offset`` with the q of that
    joint. Limits that the robot description does not give are infinite.
    """

    name: str
    type: JointType
    axis: Array
    """Unit vector, shape (3,), in the joint's frame."""
    lower: float = -np.inf
    """Lower position limit, rad or m."""
    upper: float = np.inf
    """Upper position limit, rad or m."""
    velocity_limit: float = np.inf
    """Velocity limit, rad/s or m/s."""
    effort_limit: float = np.inf
    """Effort limit, N m or N."""
    dynamics: JointDynamics = field(default_factory=JointDynamics)
    mimics: str | None = None
    """Name of the joint that this one mimics."""
    multiplier: float = 1.0
    """Ratio of this joint's position to that of the joint it mimics."""
    offset: float = 0.0
    """Position at which the mimicked joint is at zero, rad or m."""
    coupled: tuple[tuple[str, float], ...] = ()
    """Other joints that turn its drive, which turns at qd plus the sum of each one's qd times this ratio."""

    def key(self) -> tuple[object, ...]:
        """Return the content as plain values, to compare and to hash."""
        return (tuple(self.axis.tolist()), *(getattr(self, part.name) for part in fields(self) if part.name != "axis"))

    @property
    def dof(self) -> int:
        """Degrees of freedom: the length of its qd."""
        return {"planar": 3, "floating": 6}.get(self.type, 1)

    @property
    def neutral(self) -> Array:
        """Neutral q, at which the child link's frame is the target frame of X_tree."""
        return np.array({"planar": [0.0, 0, 1, 0], "floating": [0.0, 0, 0, 0, 0, 0, 1]}.get(self.type, [0.0]))

    @cached_property
    def S(self) -> Array:
        """Motion subspace, shape (6, dof): the joint's velocity is S qd (RBDA section 3.5 and Table 4.1)."""
        zero, one = np.zeros((3, 3)), np.eye(3)
        along, about = np.concatenate([zero, one]), np.concatenate([one, zero])  # the six motions of a free body
        if self.type == "floating":
            return np.concatenate([along, about], axis=1)
        if self.type == "planar":
            return np.concatenate([along @ self.plane, about @ self.axis[:, None]], axis=1)
        return self.multiplier * (along if self.type == "prismatic" else about) @ self.axis[:, None]

    @property
    def plane(self) -> Array:
        """Two unit vectors, shape (3, 2), that form a right-handed frame with the axis: x and y where the axis is z."""
        x, y, z = self.axis if self.axis[2] >= 0 else -self.axis
        u = np.array([1 - x * x / (1 + z), -x * y / (1 + z), -x])
        return np.stack([u, np.cross(self.axis, u)], axis=1)

    def transform(self, q: Array) -> Transform:
        """Return ``X_J(q)``, from the frame at q = 0 to the child link's frame (RBDA Table 4.1, for any axis).

        Args:
            q: position of this joint, or of the joint that it mimics, shape (..., k) with k by type.
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
        """Return the position of a joint of one degree of freedom, rad or m, shape (..., 1); q as in `transform`."""
        return self.multiplier * q + self.offset

    def _turn(self, cos: Array, sin: Array) -> Array:
        """Return Rodrigues' rotation, transposed (RBDA 2.15).

        It is a sum of constant matrices, so that entries that are constantly 0 or 1 stay constants.
        """
        along = np.outer(self.axis, self.axis)
        return along + cos[..., None] * (np.eye(3) - along) - sin[..., None] * skew(self.axis)
