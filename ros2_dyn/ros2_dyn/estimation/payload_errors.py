# SPDX-License-Identifier: Apache-2.0
"""Errors that a robot's model may have, as parameters that are estimated beside a payload's: bodies, offsets, friction.

Each has a standard deviation from which it starts. So what the model has wrong widens the payload's uncertainty, and a
motion without payload, which shows the same errors, narrows it again.
"""

from __future__ import annotations

import numpy as np

from ros2_dyn.dynamics import inertial_parameters
from ros2_dyn.estimation.state_windows import DURATION, StateWindows
from ros2_dyn.model import RobotModel
from ros2_dyn.model.pseudo_inertia import PARAMETERS
from ros2_dyn.model.spatial import Array

BODY_ERROR = 0.12
"""Standard deviation of the relative error of masses, first moments and moments of inertia: up to 20 %."""
COM_ERROR = 0.01
"""Standard deviation of the error of a centre of mass, m."""
FRICTION_ERROR = 0.3
"""Standard deviation of the relative error of the friction that the model has."""
UNKNOWN_FRICTION = 0.02
"""Standard deviation of the friction that the model lacks, as a share of the effort limit."""
OFFSET = 0.005
"""Standard deviation of a constant error of measured efforts, as a share of the effort limit."""
SLIDING = 3.0
"""Multiple of the transition velocity of dry friction above which a joint slides."""
MIN_SLIDING = 0.02
"""Lowest speed, rad/s or m/s, of a joint that slides."""


def error_deviations(model: RobotModel, limit: Array) -> Array:
    """Return the standard deviation of each error, shape (10 b + 3 n), in the order of `error_columns`.

    Args:
        model: the robot, with b bodies and n joints.
        limit: finite effort limits, N m or N, shape (n,).
    """
    bodies = inertial_parameters(model).reshape(-1, PARAMETERS)
    mass, moments = np.abs(bodies[:, :1]), np.abs(bodies[:, 4:])
    size = moments[:, [0, 2, 5]].sum(axis=1, keepdims=True)
    first = BODY_ERROR * np.abs(bodies[:, 1:4]) + COM_ERROR * mass
    of_bodies = np.hstack([BODY_ERROR * mass, first, BODY_ERROR * (moments + 0.1 * size)]) + 1e-9
    dry, viscous = _friction(model)
    unknown = UNKNOWN_FRICTION * limit
    of_joints = (OFFSET * limit, FRICTION_ERROR * viscous + unknown, FRICTION_ERROR * dry + unknown)
    return np.concatenate([of_bodies.ravel(), *of_joints])


def error_columns(windows: StateWindows, bodies: Array, slides: Array) -> Array:
    """Return what each error adds to the efforts, shape (m, n, 10 b + 3 n).

    Args:
        windows: of a motion.
        bodies: the regressor of the robot's bodies there, shape (m, n, 10 b).
        slides: see `sliding`.
    """
    one = np.eye(windows.q.shape[1])
    signs = np.where(slides, np.sign(windows.qd), 0.0)
    constant = np.broadcast_to(one, (len(windows.t), *one.shape))
    return np.concatenate([bodies, constant, windows.qd[..., None] * one, signs[..., None] * one], axis=-1)


def sliding(model: RobotModel, windows: StateWindows) -> Array:
    """Return whether each joint's drive slides in one direction throughout each window, shape (m, n)."""
    slow, turns = np.zeros(model.n), model.drives.coupling.T
    for joint, row in zip(model.joints, model.v_slices):
        slow[row] = max(MIN_SLIDING, SLIDING * joint.dynamics.transition_velocity)
    return np.asarray(np.abs(windows.qd @ turns) > slow + np.abs(windows.qdd @ turns) * DURATION / 2)


def stuck_variance(model: RobotModel, limit: Array, slides: Array) -> Array:
    """Return the variance of the efforts by friction at rest, (N m)^2 or N^2, shape (m, n); zero where a joint slides.

    At rest friction is anything up to the dry friction, of either sign, and stays the same: all windows of one rest
    together tell a single sample, so that the variance of each is larger by their number.
    """
    dry, _ = _friction(model)
    single = (dry + UNKNOWN_FRICTION * limit) ** 2 / 3
    number = np.cumsum(np.vstack([slides[:1], slides[1:] | slides[:-1]]), axis=0)
    lengths = np.zeros(slides.shape)
    for j, (rests, which) in enumerate(zip(~slides.T, number.T)):
        lengths[:, j] = np.where(rests, np.bincount(which, rests)[which], 0.0)
    return lengths * single


def _friction(model: RobotModel) -> tuple[Array, Array]:
    """Return dry friction, N m or N, and viscous friction, N m s/rad or N s/m, of each joint, both of shape (n,)."""
    dry, viscous = np.zeros(model.n), np.zeros(model.n)
    for joint, row in zip(model.joints, model.drives.rows):
        d, turns = joint.dynamics, np.abs(model.drives.matrix[row]).sum(axis=0)
        presliding = sum(effort for _, effort in d.presliding)
        dry += turns * (max(d.coulomb, d.breakaway) + presliding)
        viscous += turns**2 * d.viscous
    return dry, viscous
