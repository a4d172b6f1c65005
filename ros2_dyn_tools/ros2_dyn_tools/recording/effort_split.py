# SPDX-License-Identifier: Apache-2.0
"""The measured effort of a motion, split into what the model explains it by, and the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import carried_load, rnea
from ros2_dyn.dynamics import coriolis as coriolis_of
from ros2_dyn.dynamics import friction as friction_of
from ros2_dyn.dynamics import gravity as gravity_of
from ros2_dyn.dynamics import spring as spring_of
from ros2_dyn.dynamics.presliding import presliding
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

PARTS = ("inertia", "coriolis", "gravity", "friction", "spring")
"""The parts of the model's effort, fields of `EffortSplit`."""
BLOCK = 10_000
"""States that the model is evaluated at together."""


class EffortSplit(NamedTuple):
    """Efforts of a motion, N m or N, each of shape (m, n)."""

    measured: Array
    """What the driver reports."""
    inertia: Array
    """``M(q) qdd``, rotors included."""
    coriolis: Array
    """``c(q, qd)``."""
    gravity: Array
    """``g(q)``."""
    friction: Array
    spring: Array

    @property
    def model(self) -> Array:
        """The effort that the model expects: the sum of its parts."""
        return self.inertia + self.coriolis + self.gravity + self.friction + self.spring

    @property
    def rest(self) -> Array:
        """What the model does not explain: the measured effort less the model's."""
        return self.measured - self.model


def split_effort(
    model: RobotModel, q: Array, qd: Array, qdd: Array, *, measured: Array, gravity: ArrayLike | None = None
) -> EffortSplit:
    """Return the parts of the efforts of a motion, with ``model = rnea + friction + spring``.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (m, n).
        qd: joint velocities, rad/s or m/s, shape (m, n).
        qdd: joint accelerations, rad/s^2 or m/s^2, shape (m, n).
        measured: measured efforts, N m or N, shape (m, n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.

    Raises:
        InputError: a shape is wrong or a value is not finite.
    """

    def friction(q: Array, qd: Array) -> Array:
        return friction_of(model, qd, carried_load(model, q, gravity))

    return EffortSplit(
        measured,
        inertia=in_blocks(lambda q, qdd: rnea(model, q, np.zeros(model.n), qdd, gravity=np.zeros(3)), q, qdd),
        coriolis=in_blocks(lambda q, qd: coriolis_of(model, q, qd), q, qd),
        gravity=in_blocks(lambda q: gravity_of(model, q, gravity), q),
        friction=in_blocks(friction, q, qd) + presliding(model, q),
        spring=spring_of(model, q),
    )


def in_blocks(function: Callable[..., Array], *values: Array) -> Array:
    """Return a function of states, shape (m, ...), `BLOCK` at a time: what is between takes gigabytes for an hour."""
    starts = range(0, max(len(values[0]), 1), BLOCK)
    return np.concatenate([function(*(each[start : start + BLOCK] for each in values)) for start in starts])


def rms(values: Array) -> Array:
    """Return the root of the mean square of each column: values (m, n), result (n,)."""
    return np.sqrt(np.mean(np.square(values), axis=0))


def effort_units(model: RobotModel) -> tuple[str, ...]:
    """Return the unit of the effort of each joint."""
    return tuple("N" if joint.type == "prismatic" else "N m" for joint in model.joints if joint.mimics is None)
