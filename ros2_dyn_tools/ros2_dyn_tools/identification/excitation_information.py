# SPDX-License-Identifier: Apache-2.0
"""What a motion tells about a robot's parameters: the information matrix of its base parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import inertial_parameters
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.base_parameters import STATES_PER_PARAMETER, base_of, inertial_names, random_states
from ros2_dyn_tools.identification.excitation_limits import positive_numbers

TURN = 0.1
"""Speed over which Coulomb friction changes its sign, rad/s or m/s: wide, so that the information is smooth."""
DRIVE = ("viscous", "coulomb", "armature")
"""Parameters of a joint beside those of its body."""
NOISE = 0.01
"""Default noise of measured efforts, as a share of the effort limit; in N m or N where there is no limit."""
BATCH = 5000
"""States at once."""


class Quality(NamedTuple):
    """What a trajectory tells, if all efforts are measured with white noise."""

    condition: float
    """Condition number of the weighted regressor of the base parameters, its columns scaled to the same norm."""
    standard_errors: Array
    """Standard errors of the base parameters, shape (r,)."""


class Information:
    """Weighted regressor of a robot's base parameters, friction and rotors included."""

    def __init__(self, model: RobotModel, noise: ArrayLike | None = None) -> None:
        """Find the base parameters.

        Args:
            model: the robot; joints have one degree of freedom.
            noise: standard deviation of measured efforts, N m or N, shape (n,) or one for all; None: see `NOISE`.

        Raises:
            InputError: the noise is not positive, or a joint has more than one degree of freedom.
        """
        for joint in model.joints:
            if joint.dof > 1:
                raise InputError("joints", f"joint '{joint.name}' is {joint.type}; choose others")
        if noise is None:
            noise = NOISE * np.where(np.isfinite(model.effort_limit), model.effort_limit, 100.0)
        self.deviations = positive_numbers("noise", noise, model.n)
        self._model = model
        self._regressor = compile_kernel(model, ("regressor",), inputs=("q", "qd", "qdd"))
        names = (*inertial_names(model), *(f"{joint.name}.{name}" for joint in model.joints for name in DRIVE))
        states = random_states(model, STATES_PER_PARAMETER * len(names))
        Y = self._columns(*states)
        self.base = base_of(Y, names)
        self.beta = self.base.of(standard_parameters(model))
        A = self.base.columns(Y) / self.deviations[:, None]
        self.scale = np.sqrt(np.mean(np.sum(A**2, axis=-2), axis=0))

    def columns(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the regressor, shape (..., n, r), over the deviations of the joints and the scale of the columns."""
        Y = self.base.columns(self._columns(q, qd, qdd))
        return Y / self.deviations[:, None] / self.scale

    def _columns(self, q: Array, qd: Array, qdd: Array) -> Array:
        (Y,) = self._regressor(*(np.ascontiguousarray(x) for x in (q, qd, qdd)))
        drives = np.zeros((*q.shape, len(DRIVE) * len(self._model.joints)))
        for k, turns in enumerate(self._model.drives.matrix):
            values = qd @ turns, np.tanh(qd @ turns / TURN), qdd @ turns
            for column, value in enumerate(values, start=len(DRIVE) * k):
                drives[..., column] = value[..., None] * turns
        return np.concatenate([Y, drives], axis=-1)

    def matrix(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the sum of A' A, shape (r, r), over states of shape (m, n), A being `columns`."""
        total = np.zeros((len(self.base), len(self.base)))
        for start in range(0, len(q), BATCH):
            A = self.columns(*(x[start : start + BATCH] for x in (q, qd, qdd))).reshape(-1, len(self.base))
            total += A.T @ A
        return total

    def quality(self, q: Array, qd: Array, qdd: Array) -> Quality:
        """Return what the states, shape (m, n), tell; standard errors are inf where they tell nothing."""
        matrix = self.matrix(q, qd, qdd)
        norms = np.sqrt(np.diag(matrix))
        if np.any(norms == 0):
            return Quality(np.inf, np.full(len(norms), np.inf))
        values, vectors = np.linalg.eigh(matrix / np.outer(norms, norms))
        if values[0] <= np.finfo(float).eps * values[-1]:
            return Quality(np.inf, np.full(len(norms), np.inf))
        variances = np.sum(vectors**2 / values, axis=1)
        return Quality(float(np.sqrt(values[-1] / values[0])), np.sqrt(variances) / (norms * self.scale))


def standard_parameters(model: RobotModel) -> Array:
    """Return inertial parameters of all bodies, then viscous friction, Coulomb friction and armature of all joints."""
    drives = [(d.viscous, max(d.coulomb, d.breakaway), d.armature) for d in (joint.dynamics for joint in model.joints)]
    return np.concatenate([inertial_parameters(model), np.ravel(drives)])
