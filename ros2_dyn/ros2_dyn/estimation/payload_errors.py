"""Errors of a robot's model, as parameters that are estimated beside the payload's: bodies, offsets and friction.

Each has a standard deviation from which it starts. So what the model has wrong widens the payload's uncertainty, and a
motion without payload, which shows the same errors, narrows it again.
"""

from __future__ import annotations

import numpy as np

from ros2_dyn.estimation.payload_windows import PARAMETERS, Windows
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array

BODY_ERROR = 0.2 / np.sqrt(3)
"""Standard deviation of the relative error of masses, centres of mass and moments of inertia: up to 20 %."""
COM_ERROR = 0.01
"""Standard deviation of the error of a centre of mass across the direction in which it lies, m."""
FRICTION_ERROR = 0.3
"""Standard deviation of the relative error of the friction that the model has."""
UNKNOWN_FRICTION = 0.02
"""Standard deviation of the friction that the model lacks, as a share of the effort limit."""
OFFSET = 0.005
"""Standard deviation of a constant error of measured efforts, as a share of the effort limit."""
STUCK = 0.003
"""Standard deviation of the friction of a joint at rest where the model has none, as a share of the effort limit."""
SAME_PLACE = 0.02
"""Way of a joint that does not slide, rad or m, on which its friction is taken for the same."""
TURN = 0.002
"""Way back, rad or m, from which on a joint has changed its direction."""
DRIFT = 0.2
"""Change of offsets and friction from one motion to the next, as a share of their standard deviations."""


def deviations(model: RobotModel, limit: Array) -> Array:
    """Return the standard deviation of each error before anything is measured, shape (10 b + 4 n).

    Args:
        model: the robot, with b bodies and n joints.
        limit: finite effort limits, N m or N, shape (n,).
    """
    coulomb, viscous = _friction(model)
    return np.concatenate(
        [
            *(_of_body(I) for I in model.inertia),
            OFFSET * limit,
            FRICTION_ERROR * viscous + UNKNOWN_FRICTION * limit,
            FRICTION_ERROR * coulomb + UNKNOWN_FRICTION * limit,
            coulomb + UNKNOWN_FRICTION * limit,
        ]
    )


def drift(deviations: Array, bodies: int) -> Array:
    """Return by how much the errors change between two motions, as standard deviations; bodies do not change."""
    changes = DRIFT * deviations
    changes[: PARAMETERS * bodies] = 0.0
    return changes


def stuck_deviations(model: RobotModel, limit: Array) -> Array:
    """Return the standard deviation of a joint's friction where it rests, N m or N, shape (n,).

    It is anything up to the dry friction, of either sign.
    """
    coulomb, _ = _friction(model)
    return coulomb / np.sqrt(3) + STUCK * limit


def columns(windows: Windows) -> Array:
    """Return what each error adds to the efforts, shape (m, n, 10 b + 4 n)."""
    m, n = windows.effort.shape
    one = np.eye(n)
    signs = approach(windows.q)
    return np.concatenate(
        [
            windows.bodies,
            np.broadcast_to(one, (m, n, n)),
            windows.qd[..., None] * one,
            (windows.sliding * np.sign(windows.qd))[..., None] * one,
            (~windows.sliding * signs)[..., None] * one,
        ],
        axis=-1,
    )


def approach(q: Array) -> Array:
    """Return the direction in which each joint has moved last, 1, -1 or 0 where it has not yet, shape (m, n)."""
    signs = np.zeros_like(q)
    furthest, sign = q[0].copy(), np.zeros(q.shape[1])
    for k, x in enumerate(q):
        way = x - furthest
        moved = (way * sign > 0) | (np.abs(way) > TURN)
        sign = np.where(moved, np.sign(way), sign)
        furthest = np.where(moved, x, furthest)
        signs[k] = sign
    return signs


def places(windows: Windows) -> Array:
    """Return a number for each stay of a joint at one place, shape (m, n); -1 where it slides."""
    found = np.full(windows.effort.shape, -1)
    signs, number = approach(windows.q), 0
    for j in range(found.shape[1]):
        start = None
        for k in range(len(found)):
            if windows.sliding[k, j]:
                start = None
                continue
            moved = start is not None and abs(windows.q[k, j] - windows.q[start, j]) > SAME_PLACE
            if start is None or moved or signs[k, j] != signs[k - 1, j]:
                start, number = k, number + 1
            found[k, j] = number - 1
    return found


def _of_body(I: SpatialInertia) -> Array:
    """Return the standard deviations of a body's parameters, shape (10,)."""
    mass, moments = abs(float(I.mass)), np.abs(I.parameters[4:])
    h = np.sqrt(2) * BODY_ERROR * np.abs(I.h) + COM_ERROR * mass
    inertia = np.sqrt(3) * BODY_ERROR * moments + BODY_ERROR / 10 * abs(float(np.trace(I.I_origin)))
    return np.array([BODY_ERROR * mass, *h, *inertia]) + 1e-9


def _friction(model: RobotModel) -> tuple[Array, Array]:
    """Return dry friction, N m or N, and viscous friction, N m s/rad or N s/m, of each joint, both of shape (n,)."""
    dry, viscous = np.zeros(model.n), np.zeros(model.n)
    for joint, row in zip(model.joints, model.v_slices):
        d = joint.dynamics
        presliding = sum(effort for _, effort in d.presliding)
        dry[row] += abs(joint.multiplier) * (max(d.coulomb, d.breakaway) + presliding)
        viscous[row] += joint.multiplier**2 * d.viscous
    return dry, viscous
