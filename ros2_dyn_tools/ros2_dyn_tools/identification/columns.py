# SPDX-License-Identifier: Apache-2.0
"""Efforts as a linear function of all that is identified: bodies, rotors, friction and the tilt of the base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics import inertial_parameters, regressor, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.pseudo_inertia import PARAMETERS
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.signals import EvenMotion

TRANSITION_VELOCITIES = (0.01, 0.02, 0.05, 0.1)
"""Speeds over which dry friction may change its sign, rad/s."""
STRIBECK_VELOCITIES = (0.1, 0.3, 1.0)
"""Speeds at which the excess of static friction may have decayed, rad/s."""
DISTANCES = (0.003, 0.01, 0.03, 0.1)
"""Displacements at which presliding elements may slip, rad."""
TILT = 2
"""Columns of the base's tilt: of gravity along x and y of the base."""


class Term(NamedTuple):
    """A column of one joint's friction or motor."""

    kind: str
    """"viscous", "armature", "offset", "coulomb", "load", "stribeck" or "presliding"."""
    value: float = 0.0
    """Transition velocity of "coulomb", "load" and "stribeck"; distance of "presliding"."""
    decay: float = 0.0
    """Stribeck velocity of "stribeck"."""

    def __str__(self) -> str:
        """Return the term in words."""
        return f"{self.kind} at {self.value:g} rad" if self.kind == "presliding" else self.kind


TERMS = (
    Term("viscous"),
    Term("armature"),
    Term("offset"),
    *(Term("coulomb", v) for v in TRANSITION_VELOCITIES),
    *(Term("load", v) for v in TRANSITION_VELOCITIES),
    *(Term("stribeck", v, decay) for decay in STRIBECK_VELOCITIES for v in TRANSITION_VELOCITIES),
    *(Term("presliding", d) for d in DISTANCES),
)
"""Columns of every joint's friction and motor, out of which a fit chooses."""
POSITIVE = ("viscous", "armature", "coulomb", "load", "stribeck", "presliding")
"""Kinds of terms with parameters that are never negative."""


def check(model: RobotModel) -> None:
    """Check that a robot's joints are of the kind that is identified.

    Raises:
        InputError: a joint has several degrees of freedom, or mimics another one.
    """
    for joint in model.joints:
        if joint.dof != 1 or joint.mimics is not None:
            what = "several degrees of freedom" if joint.dof != 1 else "to mimic another joint"
            raise InputError("joints", f"joint '{joint.name}' has {what}: leave it out, so that it is locked")


def supported(model: RobotModel, joint: int) -> list[int]:
    """Return the bodies that a joint moves: its effort does not depend on any other."""
    return [body for body in range(len(model.joints)) if joint in model.support(body)]


def loading(model: RobotModel, joint: int) -> list[int]:
    """Return the drives that load a joint: its own, and others that turn with it."""
    return np.flatnonzero(model.drives.coupling[:, joint]).tolist()


def parameter_columns(bodies: Sequence[int]) -> list[int]:
    """Return where the inertial parameters of some bodies are among those of all."""
    return [PARAMETERS * body + k for body in bodies for k in range(PARAMETERS)]


def friction_columns(loaded: RobotModel, motion: EvenMotion, elements: Array, gravity: Array) -> Array:
    """Return the columns of `TERMS` for every joint's drive, shape (m, n, k).

    Args:
        loaded: the robot whose gravity efforts load-dependent friction depends on.
        motion: the motion, or a piece of it.
        elements: presliding of the same states at `DISTANCES`, which depends on all states before, shape (m, n, d).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,).
    """
    drives, still = loaded.drives, np.zeros_like(motion.q)
    qd, qdd = (x @ drives.coupling.T for x in (motion.qd, motion.qdd))
    load = np.abs(drives.efforts(rnea(loaded, motion.q, still, still, gravity=gravity)))[..., None]
    signs = np.tanh(qd[..., None] / np.array(TRANSITION_VELOCITIES))
    excess = [signs * np.exp(-((qd / decay) ** 2))[..., None] for decay in STRIBECK_VELOCITIES]
    plain = np.stack([qd, qdd, np.ones_like(still)], axis=-1)
    return np.concatenate([plain, signs, load * signs, *excess, elements], axis=-1)


def body_columns(model: RobotModel, motion: EvenMotion, gravity: Array) -> Array:
    """Return the columns of the bodies' inertial parameters and of the base's tilt, shape (m, n, 10 b + 2).

    Efforts are linear in the tilt for small angles only; its columns are those of the model's bodies for 1 m/s^2 along
    x and y of the base.
    """
    Y = regressor(model, motion.q, motion.qd, motion.qdd, gravity=gravity)
    still, parameters = np.zeros_like(motion.q), inertial_parameters(model)
    tilt = [regressor(model, motion.q, still, still, gravity=axis) @ parameters for axis in np.eye(3)[:TILT]]
    return np.concatenate([Y, np.stack(tilt, axis=-1)], axis=-1)
