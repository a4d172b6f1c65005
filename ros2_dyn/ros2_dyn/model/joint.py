"""One joint: how a body may move relative to its parent (RBDA section 4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ros2_dyn.model.spatial import Array, Transform, skew

JointType = Literal["revolute", "continuous", "prismatic"]


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint with one degree of freedom about or along any axis.

    Its frame is the child link's frame, as in URDF: at q = 0 it coincides with the frame that X_tree leads to.
    Limits that the robot description does not give are infinite.
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

    @property
    def S(self) -> Array:
        """The motion subspace, shape (6,): the joint's velocity is S qd (RBDA Table 4.1)."""
        zero = np.zeros(3)
        return np.concatenate([zero, self.axis] if self.type == "prismatic" else [self.axis, zero])

    def transform(self, q: Array) -> Transform:
        """``X_J(q)``: from the frame at q = 0 to the child link's frame (RBDA Table 4.1, for any axis).

        Args:
            q: joint position, rad or m, shape (...).
        """
        if self.type == "prismatic":
            return Transform(np.eye(3), self.axis * q[..., None])
        # Rodrigues' formula, transposed (RBDA 2.15), as a sum of constant matrices: a constant 0 or 1 stays one.
        q = q[..., None, None]
        along = np.outer(self.axis, self.axis)
        return Transform(along + np.cos(q) * (np.eye(3) - along) - np.sin(q) * skew(self.axis), np.zeros(3))
