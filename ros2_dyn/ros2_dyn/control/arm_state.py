"""The state of an arm at one instant, with the terms of the model that control laws work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import forward_kinematics, friction, jacobian, mass_matrix
from ros2_dyn.dynamics import gravity as gravity_effort
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.model.spatial import Array


class ArmState(NamedTuple):
    """A measured state and the model's terms at it."""

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


def arm_state(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    gravity: ArrayLike | None = None,
    payload: Payload | None = None,
) -> ArmState:
    """Return the terms of a model at a state.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (n,).
        qd: joint velocities, rad/s or m/s, shape (n,).
        link: link at which forces are controlled; `model.default_tip` for None.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.
        payload: payload of the default tip; None: no payload.

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot lacks the link.
    """
    loaded = model if payload is None else model.carrying(payload)
    weight = gravity_effort(loaded, q, gravity)
    return ArmState(
        np.asarray(q, dtype=float),
        np.asarray(qd, dtype=float),
        weight,
        friction(model, qd, weight),
        mass_matrix(loaded, q),
        jacobian(model, q, link),
        forward_kinematics(model, q, link),
    )
