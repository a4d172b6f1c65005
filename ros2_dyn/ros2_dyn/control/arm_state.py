# SPDX-License-Identifier: Apache-2.0
"""The state of an arm at one instant, with the terms of the model that control laws work on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import forward_kinematics, friction, jacobian, mass_matrix
from ros2_dyn.dynamics import gravity as gravity_effort
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, clip


@dataclass(frozen=True, eq=False)
class ArmState:
    """A measured state and the model's terms at it; what follows from them is computed once, when it is used first."""

    q: Array
    """Joint positions, rad or m, shape (n,)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (n,)."""
    gravity: Array
    """Efforts that carry the weight, N m or N, shape (n,)."""
    friction: Array
    """Efforts that overcome friction at `qd`, N m or N, shape (n,)."""
    M: Array
    """Mass matrix, shape (n, n)."""
    J: Array
    """Jacobian of the tip's origin in base axes, linear rows first, shape (6, n)."""
    pose: Array
    """Pose of the tip in the base frame, homogeneous, shape (4, 4)."""

    @property
    def momentum(self) -> Array:
        """Generalised momentum ``M qd``, kg m^2/s or kg m/s, shape (n,)."""
        return self.M @ self.qd

    @property
    def tip_velocity(self) -> Array:
        """Velocity of the tip, [linear; angular] in base axes, m/s and rad/s, shape (6,)."""
        return self.J @ self.qd

    @cached_property
    def response(self) -> Array:
        """Acceleration of free joints for each component of a wrench at the tip, shape (n, 6)."""
        return np.linalg.solve(self.M, self.J.T)

    @cached_property
    def mobility(self) -> Array:
        """Acceleration of a free tip for each component of a wrench, in base axes, linear first, shape (6, 6)."""
        return self.J @ self.response

    @cached_property
    def root(self) -> Array:
        """The lower triangle L, shape (n, n), of ``M = L L^T``: ``L^T qd`` has a square of twice the kinetic energy."""
        return np.linalg.cholesky(self.M)

    @cached_property
    def scaled_jacobian(self) -> Array:
        """The Jacobian for velocities ``L^T qd``, see `root`; shape (6, n)."""
        return np.linalg.solve(self.root, self.J.T).T

    @cached_property
    def tip_projector(self) -> Array:
        """The matrix that leaves of a joint motion what moves the tip, shape (n, n): see `tip_part`."""
        squared, U = np.linalg.eigh(self.mobility)
        # A singular value below a thousandth of the largest counts as zero, one above twice that as it is.
        sigma = np.sqrt(np.maximum(squared, 0.0))
        moves = clip(sigma / (1e-3 * sigma[-1] or 1.0) - 1, 0.0, 1.0)
        inverse = np.divide(moves, squared, out=np.zeros(6), where=moves > 0)
        return (self.response @ U * inverse) @ (U.T @ self.J)


def arm_state(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    *,
    gravity: ArrayLike | None = None,
) -> ArmState:
    """Return the terms of a model at a state.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (n,).
        qd: joint velocities, rad/s or m/s, shape (n,).
        link: link at which forces are controlled; `model.default_tip` for None.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot lacks the link.
    """
    weight = gravity_effort(model, q, gravity)
    return ArmState(
        np.asarray(q, dtype=float),
        np.asarray(qd, dtype=float),
        weight,
        friction(model, qd, weight),
        mass_matrix(model, q),
        jacobian(model, q, link),
        forward_kinematics(model, q, link),
    )
