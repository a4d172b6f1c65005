# SPDX-License-Identifier: Apache-2.0
"""A robot that leans or hangs, as one that stands upright: what simulates and plans knows one direction of gravity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.robot_model import RobotModel
from ros2_dyn.model.spatial import Array, Transform


def upright(model: RobotModel, gravity: Sequence[float]) -> RobotModel:
    """Return the same robot in a base frame that is turned so that gravity points along -z.

    Under standard gravity it moves and needs efforts as the robot does under a gravity of this direction.

    Args:
        model: the robot.
        gravity: acceleration of free fall in its base frame, m/s^2, shape (3,).

    Raises:
        InputError: gravity has no direction.
    """
    g = np.array(gravity)
    if not (g.any() and np.isfinite(g).all()):
        raise InputError("robot.gravity", f"expected a vector that points down, got {g}")
    down = g / np.linalg.norm(g)
    if np.allclose(down, (0, 0, -1), rtol=0, atol=1e-12):
        return model
    turned = Transform(_half_turn(down).T, np.zeros(3))  # from the turned base frame to the robot's

    def of(spec: LinkSpec) -> LinkSpec:
        if spec.parent is None:
            return spec._replace(inertia=spec.inertia.in_parent(turned))
        return spec._replace(X=spec.X.after(turned)) if spec.parent == model.base_link else spec

    return RobotModel.from_links(model.name, map(of, model.link_specs), model.findings)


def _half_turn(down: Array) -> Array:
    """Return the rotation that takes a direction to -z: by pi about the line half way between the two."""
    half = down - (0, 0, 1)
    if np.linalg.norm(half) < 1e-6:  # it points along z
        half = np.array([1.0, 0.0, 0.0])
    return 2 * np.outer(half, half) / (half @ half) - np.eye(3)
