# SPDX-License-Identifier: Apache-2.0
"""The efforts of a model in a sampled motion, as linear functions of its inertial parameters and of gravity."""

from __future__ import annotations

import numpy as np

from ros2_dyn.dynamics import inertial_parameters, regressor
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.recorded_samples import CUTOFF, Samples
from ros2_dyn_tools.recording.signals import zero_phase

PARAMETERS = 10
"""Inertial parameters of a body."""
MASS_DOUBT = 0.2
"""Standard deviation of a body's mass in a robot description, relative."""
COM_DOUBT = 0.04
"""Standard deviation of its centre of mass, m."""
INERTIA_DOUBT = 0.3
"""Standard deviation of its rotational inertia, as a fraction of the greatest moment of inertia."""
SIZE = 0.05
"""Radius of gyration of a body that has at least this doubtful an inertia, m."""
LEAST_MASS = 0.05
"""Mass of a body that has at least this doubtful a mass, kg."""


class Columns:
    """Efforts of the bodies' inertia and weight at some samples, low-passed as the measured ones are."""

    def __init__(self, model: RobotModel, samples: Samples, order: tuple[int, ...], indices: Array) -> None:
        """Compute them.

        Args:
            model: the robot.
            samples: the motion.
            order: the recording's column of each joint's positions.
            indices: of the samples, shape (m,).
        """
        q, qd, qdd = (x[:, list(order)] for x in (samples.q, samples.qd, samples.qdd))
        inertial = regressor(model, q, qd, qdd, np.zeros(3))
        three = np.broadcast_to(q, (3, *q.shape))
        weight = regressor(model, three, 0 * three, 0 * three, np.eye(3)[:, None])
        self.inertia: Array = _filtered(inertial, samples.step)[indices]
        """Efforts of unit inertial parameters without gravity, shape (m, n, 10 b)."""
        self.weight: Array = _filtered(np.moveaxis(weight, 0, -1), samples.step)[indices]
        """Efforts of unit inertial parameters per unit of gravity, shape (m, n, 10 b, 3)."""
        self.spring: Array = _filtered(np.stack([q, np.ones_like(q)], axis=-1), samples.step)[indices]
        """Efforts of a spring in each joint per unit of its stiffness and of its effort at 0, shape (m, n, 2)."""
        self.friction: Array = samples.friction[indices][:, list(order)]
        """See `Samples.friction`."""
        self.speed: Array = np.abs(samples.qd[indices][:, list(order)])
        """Joint speeds, shape (m, n)."""
        parameters = inertial_parameters(model)
        self.inertia_effort: Array = self.inertia @ parameters
        """Efforts of the model without gravity, shape (m, n)."""
        self.weight_effort: Array = np.einsum("mnpk,p->mnk", self.weight, parameters)
        """Efforts of the model's weight per unit of gravity, shape (m, n, 3)."""

    def of_body(self, body: int, gravity: Array) -> Array:
        """Return the efforts of one body's unit inertial parameters, shape (m, n, 10)."""
        where = slice(PARAMETERS * body, PARAMETERS * (body + 1))
        return self.inertia[:, :, where] + self.weight[:, :, where] @ gravity


def doubt(model: RobotModel) -> Array:
    """Return the standard deviations of the inertial parameters of a robot description, shape (10 b,)."""
    rows = []
    for inertia in model.inertia:
        mass = max(float(inertia.mass), LEAST_MASS)
        greatest = float(np.max(np.abs(np.diag(inertia.I_origin))))
        rotational = max(INERTIA_DOUBT * greatest, mass * SIZE**2)
        rows.append([MASS_DOUBT * mass, *[COM_DOUBT * mass] * 3, *[rotational] * 6])
    return np.array(rows).ravel()


def _filtered(values: Array, step: float) -> Array:
    return zero_phase(values.reshape(len(values), -1), CUTOFF, step).reshape(values.shape)
