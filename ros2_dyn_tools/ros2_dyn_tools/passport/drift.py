# SPDX-License-Identifier: Apache-2.0
"""What has changed since an earlier passport: friction, and what the arm carries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics import friction, gravity
from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.effort_split import rms


class Drift(NamedTuple):
    """Then and now, joint by joint; N m or N, shape (n,)."""

    speed: Array
    """Speeds at which friction is compared, rad/s or m/s: the root mean square of the recording's."""
    friction: tuple[Array, Array]
    weight: Array
    """By how much the effort that carries the arm has changed, root mean square over the recorded postures."""
    mass: float
    """Of a payload at the tip that changes the weight most like that, kg."""
    com: tuple[float, ...]
    """Its centre of mass in the tip's axes, m, shape (3,)."""


def drift(then: RobotModel, now: RobotModel, q: Array, qd: Array, standing: tuple[Array, Array]) -> Drift:
    """Compare two identified models of an arm along a recorded motion.

    Args:
        then: the earlier one.
        now: the same robot, identified anew.
        q: recorded positions, rad or m, shape (m, n).
        qd: recorded velocities, rad/s or m/s, shape (m, n).
        standing: acceleration of free fall in the base frame, m/s^2, shape (3,), as it was found then and now.

    Raises:
        InputError: the models have other joints.
    """
    if then.joint_names != now.joint_names:
        raise InputError("before", f"its joints are {', '.join(then.joint_names)}, now {', '.join(now.joint_names)}")
    speed = rms(qd)
    carried = gravity(now, q, standing[1]) - gravity(then, q, standing[0])
    columns = _payload_columns(now, q, standing[1])
    m, *moments = np.linalg.lstsq(columns.reshape(-1, 4), carried.ravel(), rcond=None)[0].tolist()
    com = tuple(x / m for x in moments) if m else (0.0, 0.0, 0.0)
    rubs = rubbing(then, speed, q, standing[0]), rubbing(now, speed, q, standing[1])
    return Drift(speed, rubs, rms(carried), m, com)


def rubbing(model: RobotModel, speed: Array, q: Array, standing: Array) -> Array:
    """Return the friction at some speeds, N m or N, shape (n,), without offsets, under the load of the postures q."""
    load = rms(gravity(model, q, standing))
    return (friction(model, speed, load) - friction(model, -speed, load)) / 2


def _payload_columns(model: RobotModel, q: Array, standing: Array) -> Array:
    """Return the weight of 1 kg at the tip, and what a centre of mass 1 m off adds, shape (m, n, 4)."""
    bare = gravity(model, q, standing)
    weights = [gravity(model.carrying(Payload(1.0, com)), q, standing) - bare for com in (np.zeros(3), *np.eye(3))]
    return np.stack([weights[0], *(each - weights[0] for each in weights[1:])], axis=-1)
