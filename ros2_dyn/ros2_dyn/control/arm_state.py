"""What the control laws need to know of an arm at one instant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import forward_kinematics, friction, jacobian, mass_matrix
from ros2_dyn.dynamics import gravity as gravity_effort
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.model.spatial import Array


class ArmState(NamedTuple):
    """A measured state, and the model's terms there."""

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
    """Of the tip in the base frame, homogeneous, shape (4, 4)."""

    @property
    def momentum(self) -> Array:
        """``M qd``, kg m^2/s or kg m/s, shape (n,)."""
        return self.M @ self.qd

    @property
    def tip_velocity(self) -> Array:
        """[linear; angular] in base axes, m/s and rad/s, shape (6,)."""
        return self.J @ self.qd


def arm_state(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    tip: str | None = None,
    gravity: ArrayLike | None = None,
    payload: Payload | None = None,
) -> ArmState:
    """The terms of a model at a state.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (n,).
        qd: joint velocities, rad/s or m/s, shape (n,).
        tip: the link that forces are controlled at; `model.default_tip` for None.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); of the Earth, downwards, for None.
        payload: what the default tip carries; None: nothing.

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has no such link.
    """
    loaded = model if payload is None else model.carrying(payload)
    return ArmState(
        np.asarray(q, dtype=float),
        np.asarray(qd, dtype=float),
        gravity_effort(loaded, q, gravity),
        friction(model, qd),
        mass_matrix(loaded, q),
        jacobian(model, q, tip),
        forward_kinematics(model, q, tip),
    )
