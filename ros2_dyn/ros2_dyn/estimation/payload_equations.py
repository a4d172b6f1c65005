# SPDX-License-Identifier: Apache-2.0
"""Efforts that a robot's model does not explain, and what a payload and the model's errors would add to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import carried_load, friction, inertial_parameters, regressor, spring
from ros2_dyn.dynamics.presliding import presliding
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.payload_errors import error_columns, sliding, stuck_variance
from ros2_dyn.estimation.state_windows import StateWindows
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import PARAMETERS
from ros2_dyn.model.spatial import Array

MIN_WINDOWS = 5
"""Smallest number of windows."""


class PayloadEquations(NamedTuple):
    """``left = columns @ x + noise`` in m windows of n joints; x is the payload's ten parameters, then the errors."""

    columns: Array
    """Shape (m, n, 10 + p)."""
    left: Array
    """Measured efforts less the model's, N m or N, shape (m, n)."""
    slides: Array
    """Whether a joint slides, shape (m, n)."""
    stuck: Array
    """Variance by friction at rest, shape (m, n)."""

    @classmethod
    def join(cls, parts: list[PayloadEquations]) -> PayloadEquations:
        """Return the equations of several motions as one."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts)))


def payload_equations(
    model: RobotModel, windows: StateWindows, link: str, gravity: ArrayLike | None, limit: Array, *, carries: bool
) -> PayloadEquations:
    """Return the equations of a motion.

    Args:
        model: the robot without payload.
        windows: of the motion.
        link: the link that carries the payload, in whose frame it is.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); [0, 0, -9.81] for None.
        limit: finite effort limits, N m or N, shape (n,).
        carries: whether the payload is carried.

    Raises:
        InputError: the windows are too few or not of this robot, the robot has no such link, no joint moves it, or a
            joint has several degrees of freedom.
    """
    if model.link_frame(link).body == BASE:
        raise InputError("link", f"'{link}' is fixed to the base: no joint carries what is on it")
    check_windows(model, windows)
    q, qd, qdd = windows.q, windows.qd, windows.qdd
    bodies = regressor(model, q, qd, qdd, gravity)
    slides = ~(~sliding(model, windows) @ (model.drives.coupling != 0))  # a joint does where all do that load it
    expected = (
        bodies @ inertial_parameters(model)
        + qdd @ model.drives.inertia
        + friction_along_windows(model, windows, gravity)
    )
    frame = model.link_frame(link)
    body = slice(PARAMETERS * frame.body, PARAMETERS * (frame.body + 1))
    units = [SpatialInertia.from_parameters(row).in_parent(frame.X).parameters for row in np.eye(PARAMETERS)]
    payload = carries * bodies[..., body] @ np.transpose(units)
    columns = np.concatenate([payload, error_columns(windows, bodies, slides)], axis=-1)
    return PayloadEquations(columns, windows.effort - expected, slides, stuck_variance(model, limit, slides))


def friction_along_windows(model: RobotModel, windows: StateWindows, gravity: ArrayLike | None) -> Array:
    """Return the efforts that overcome springs and friction, N m or N, shape (m, n); none of dry friction at rest."""
    q, drives = windows.q, model.drives
    speed = np.where(sliding(model, windows), windows.qd @ drives.coupling.T, 0.0) @ drives.inverse.T
    return friction(model, speed, carried_load(model, q, gravity)) + presliding(model, q) + spring(model, q)


def check_windows(model: RobotModel, windows: StateWindows) -> None:
    """Check that windows are of a robot whose payload can be estimated.

    Raises:
        InputError: they are too few, not finite, or not of this robot, or a joint has several degrees of freedom.
    """
    if any(joint.dof > 1 for joint in model.joints):
        raise InputError("link", "a payload is estimated for robots whose joints have one degree of freedom each")
    if windows.q.shape[1:] != (model.n,):
        raise InputError("joints", f"the states have {windows.q.shape[1]} joints, the robot has {model.n}")
    if len(windows.t) < MIN_WINDOWS:
        raise InputError("duration", f"too few states came: {len(windows.t)} windows of 0.1 s, {MIN_WINDOWS} needed")
    if not all(np.all(np.isfinite(values)) for values in windows):
        raise InputError("effort", "expected finite positions, velocities and efforts of all joints")
