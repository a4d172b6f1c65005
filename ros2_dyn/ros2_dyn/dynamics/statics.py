# SPDX-License-Identifier: Apache-2.0
"""Statics: joint efforts for a wrench on the surroundings (Craig 5.9 and 5.10)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.external import ExternalWrench
from ros2_dyn.dynamics.inputs import vector
from ros2_dyn.dynamics.kinematics import jacobian
from ros2_dyn.dynamics.rnea import joint_wrenches
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


def static_torque(
    model: RobotModel,
    q: ArrayLike,
    wrench: ArrayLike,
    link: str | None = None,
    point: ArrayLike | None = None,
    *,
    frame: str | None = None,
) -> Array:
    """Return the joint efforts with which the robot at rest exerts a wrench on its surroundings (Craig 5.96).

    They are ``tau = J^T F``, without the robot's own weight, for which see `gravity`. To hold against a wrench of the
    surroundings on the robot, give that wrench with the opposite sign.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).
        wrench: [force; moment about the point], N and N m, shape (..., 6), linear first.
        link: the link that exerts the wrench; `model.default_tip` for None.
        point: point of action in that link's frame, m, shape (3,); the link's origin for None.
        frame: the link in whose axes the wrench is given; the base link for None.

    Returns:
        Joint efforts, N m or N, shape (..., n).

    Raises:
        InputError: a shape is wrong, a value is not finite, or the robot has no such link.
    """
    J = jacobian(model, q, link, point, frame)
    return (vector("wrench", wrench, 6)[..., None, :] @ J)[..., 0, :]


def static_wrenches(
    model: RobotModel,
    q: ArrayLike,
    wrench: ArrayLike,
    link: str | None = None,
    point: ArrayLike | None = None,
    *,
    frame: str | None = None,
) -> Array:
    """Return the wrench that each joint transmits while the robot at rest exerts a wrench (Craig 5.79 to 5.81).

    The robot has no weight here. Force and moment are propagated inwards from body to body; their components along the
    joints' axes are `static_torque`.

    Args and errors are those of `static_torque`.

    Returns:
        [force; moment], N and N m, shape (..., b, 6) for b joints, as in `joint_wrenches`: from a parent link to its
        child link, at the origin and in the axes of the child. It is zero for joints that do not support the link.
    """
    here = (0.0, 0.0, 0.0) if point is None else point
    load = ExternalWrench(link or model.default_tip, -vector("wrench", wrench, 6), here, frame or model.base_link)
    at_rest = np.zeros(model.n)
    return joint_wrenches(model, q, at_rest, at_rest, np.zeros(3), external=[load])
