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

POSTURES = 10_000
"""Postures of a recording in which weights are compared: those of an hour at 1 kHz would take gigabytes."""
ILL_CONDITIONED = 1e3
"""Condition number of a payload's columns from which on their motion does not tell it."""


class Drift(NamedTuple):
    """Then and now, joint by joint; N m or N, shape (n,)."""

    speed: Array
    """Speeds at which friction is compared, rad/s or m/s: the root mean square of the recording's."""
    friction: tuple[Array, Array]
    weight: Array
    """By how much the effort that carries the arm has changed, root mean square over the recorded postures."""
    payload: tuple[float, ...]
    """Mass, kg, and centre of mass, m, in the tip's axes, of a payload that explains most of that; empty for none."""


def drift(then: RobotModel, now: RobotModel, q: Array, qd: Array, gravities: tuple[Array, Array]) -> Drift:
    """Compare two identified models of an arm along a recorded motion.

    Args:
        then: the earlier one.
        now: the same robot, identified anew.
        q: recorded positions, rad or m, shape (m, n).
        qd: recorded velocities, rad/s or m/s, shape (m, n).
        gravities: acceleration of free fall in the base frame, m/s^2, shape (3,), as it was found then and now.

    Raises:
        InputError: the models are of other robots.
    """
    if (then.name, then.joint_names) != (now.name, now.joint_names):
        earlier = f"it is of '{then.name}' with the joints {', '.join(then.joint_names)}"
        raise InputError("before", f"{earlier}, this one of '{now.name}' with {', '.join(now.joint_names)}")
    speed, q = rms(qd), _some(q)
    changed = gravity(now, q, gravities[1]) - gravity(then, q, gravities[0])
    frictions = friction_at(then, speed, q, gravities[0]), friction_at(now, speed, q, gravities[1])
    return Drift(speed, frictions, rms(changed), _payload(_payload_columns(now, q, gravities[1]), changed))


def friction_at(model: RobotModel, speed: Array, q: Array, standing: Array) -> Array:
    """Return the friction of drives that slide, without offsets, N m or N, shape (n,).

    Args:
        model: the robot.
        speed: of the drives, rad/s or m/s, shape (n,); that of the joints, but where a drive turns with several.
        q: postures whose weight loads the joints, rad or m, shape (m, n).
        standing: acceleration of free fall in the base frame, m/s^2, shape (3,).
    """
    drives = model.drives
    load, qd = rms(drives.efforts(gravity(model, _some(q), standing))) @ drives.coupling, drives.inverse @ speed
    stretched = [sum(effort for _, effort in joint.dynamics.presliding) for joint in model.joints]
    return drives.efforts(friction(model, qd, load) - friction(model, -qd, load)) / 2 + np.array(stretched)


def _some(q: Array) -> Array:
    return q[:: max(1, -(-len(q) // POSTURES))]


def _payload(columns: Array, changed: Array) -> tuple[float, ...]:
    """Return mass and centre of mass of the payload that explains a change of weight, shape (m, n), if one does.

    Args:
        columns: weight of a unit of mass and of each first moment, shape (m, n, 4).
        changed: the change, N m or N.
    """
    A, b = columns.reshape(-1, 4), changed.ravel()
    scale = np.linalg.norm(A, axis=0)
    if np.any(scale == 0.0) or np.linalg.cond(A / scale) > ILL_CONDITIONED:
        return ()  # the postures do not tell it
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    if np.sum((b - A @ x) ** 2) > np.sum(b**2) / 2 or np.sum(b**2) < 1e-12:
        return ()
    return tuple((x / [1.0, x[0], x[0], x[0]]).tolist())


def _payload_columns(model: RobotModel, q: Array, standing: Array) -> Array:
    """Return the weight of 1 kg at the tip, and what a centre of mass 1 m off adds, shape (m, n, 4)."""
    bare = gravity(model, q, standing)
    weights = [gravity(model.carrying(Payload(1.0, com)), q, standing) - bare for com in (np.zeros(3), *np.eye(3))]
    return np.stack([weights[0], *(each - weights[0] for each in weights[1:])], axis=-1)
