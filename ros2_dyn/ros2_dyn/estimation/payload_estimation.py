"""Mass, centre of mass and inertia of what an arm carries, from its efforts (Atkeson, An and Hollerbach 1986).

The payload's ten parameters and the errors of the robot's model are estimated together, by weighted least squares with
what is known of the errors before. The noise of moving joints, and the friction of those at rest, of which a whole stay
at one place tells a single sample, are estimated from what the fit leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.estimation import payload_errors
from ros2_dyn.estimation.payload_windows import PARAMETERS, Windows
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array

MIN_WINDOWS = 5
"""Smallest number of windows."""
FREE = np.array([1e3, 1e3, 1e3, 1e3])
"""Standard deviation of the mass, kg, and the first moments, kg m, before anything is measured: anything."""
RADIUS = 0.15
"""Radius of gyration that a payload may have, m: its inertia is within the mass times the square of it."""
MIN_NOISE = 1e-4
"""Smallest noise of a window, as a share of the effort limit."""
STUCK_WEIGHT = 4.0
"""Number of stays that the assumed friction at rest counts for."""
PASSES = 10


class Tare(NamedTuple):
    """What a motion without payload tells of the errors of a robot's model."""

    errors: Array
    """The errors, shape (10 b + 4 n)."""
    covariance: Array


class PayloadFit(NamedTuple):
    """What efforts tell of a payload, in the link's frame."""

    parameters: Array
    """Inertial parameters, shape (10,), as `Payload.parameters`."""
    covariance: Array
    """Shape (10, 10)."""
    inertia_before: float
    """Standard deviation of the moments of inertia before anything was measured, kg m^2."""
    tared: bool
    """Whether it counts from a motion without payload."""


def fit_payload(model: RobotModel, windows: Windows, tare: Tare | None = None) -> PayloadFit:
    """Return what efforts tell of a payload.

    Args:
        model: the robot without payload.
        windows: of its motion, or of rest in several postures.
        tare: of a motion without payload; None: none was made.

    Raises:
        InputError: there are too few windows.
    """
    fit = _Fit(model, windows, tare)
    mass_radius = RADIUS**2
    centre = np.zeros(PARAMETERS)
    for _ in range(PASSES):
        deviation = np.concatenate([FREE, np.full(6, mass_radius)])
        x, covariance = fit.solve(centre, deviation)
        mass = max(float(x[0]), 0.1)
        mass_radius = mass * RADIUS**2
        # The prior of the inertia is that about the centre of mass: it goes where that is.
        centre[4:] = SpatialInertia.from_com(mass, x[1:4] / mass, np.zeros((3, 3))).parameters[4:]
        fit.weigh()
    return PayloadFit(x, covariance, mass_radius, tare is not None)


def fit_tare(model: RobotModel, windows: Windows, tare: Tare | None = None) -> Tare:
    """Return what a motion without payload tells of the errors of a robot's model.

    Args:
        model: the robot.
        windows: of its motion, or of rest in several postures.
        tare: of an earlier motion; None: there was none.

    Raises:
        InputError: there are too few windows.
    """
    fit = _Fit(model, windows, tare)
    for _ in range(PASSES):
        fit.solve(np.zeros(PARAMETERS), np.full(PARAMETERS, 1e-9))
        fit.weigh()
    return Tare(fit.x[PARAMETERS:], fit.covariance[PARAMETERS:, PARAMETERS:])


class _Fit:
    """A weighted least squares fit, whose weights come from what it leaves."""

    def __init__(self, model: RobotModel, windows: Windows, tare: Tare | None) -> None:
        if len(windows.effort) < MIN_WINDOWS:
            raise InputError("joint_states", "too few states with the efforts of all joints came: wait longer")
        highest = np.max(np.abs(windows.effort), axis=0) + 1e-3
        limit = np.where(np.isfinite(model.effort_limit) & (model.effort_limit > 0), model.effort_limit, highest)
        self._errors = payload_errors.deviations(model, limit)
        self._before = Tare(np.zeros_like(self._errors), np.diag(self._errors**2))
        if tare is not None:
            changes = payload_errors.drift(self._errors, len(model.joints))
            self._before = Tare(tare.errors, tare.covariance + np.diag(changes**2))
        self._effort, self._sliding = windows.effort, windows.sliding
        self._columns = np.concatenate([windows.columns, payload_errors.columns(windows)], axis=-1)
        self._places = payload_errors.places(windows)
        places, sizes = np.unique(self._places, return_counts=True)
        self._stay = np.ones(self._effort.shape)
        """Number of windows of the stay that each belongs to."""
        self._stay[...] = sizes[np.searchsorted(places, self._places)]
        self._stuck = payload_errors.stuck_deviations(model, limit)
        self._least = (MIN_NOISE * limit) ** 2
        self._noise, self._friction = self._least * 100, 1.0

    def _variance(self) -> Array:
        """Return the variance of each window's effort, shape (m, n): together those of a stay tell one sample."""
        friction = self._friction * self._stuck**2 * self._stay
        return self._noise + np.where(self._sliding, 0.0, friction)

    def solve(self, centre: Array, deviation: Array) -> tuple[Array, Array]:
        """Return the payload's parameters, shape (10,), and their covariance, with what is assumed of them before."""
        scale = np.concatenate([np.minimum(deviation, 1.0), self._errors])
        Z = (self._columns * scale / np.sqrt(self._variance())[..., None]).reshape(-1, len(scale))
        y = (self._effort / np.sqrt(self._variance())).ravel()
        errors = self._errors
        prior = np.zeros((len(scale), len(scale)))
        prior[:PARAMETERS, :PARAMETERS] = np.diag((scale[:PARAMETERS] / deviation) ** 2)
        prior[PARAMETERS:, PARAMETERS:] = np.linalg.inv(self._before.covariance / np.outer(errors, errors))
        mean = np.concatenate([centre, self._before.errors]) / scale
        inverse = np.linalg.inv(Z.T @ Z + prior)
        self.covariance = inverse * np.outer(scale, scale)
        self.x = scale * (inverse @ (Z.T @ y + prior @ mean))
        self._leverage = np.einsum("ij,jk,ik->i", Z, inverse, Z).reshape(self._effort.shape)
        return self.x[:PARAMETERS], self.covariance[:PARAMETERS, :PARAMETERS]

    def weigh(self) -> None:
        """Estimate the noise of moving joints and the friction of those at rest from what the fit leaves."""
        left = self._effort - self._columns @ self.x
        still = ~self._sliding
        inside, friction, stays = left.copy(), 0.0, 0
        for j in range(left.shape[1]):
            places, which = np.unique(self._places[still[:, j], j], return_inverse=True)
            if len(places):
                mean = np.bincount(which, left[still[:, j], j]) / np.bincount(which)
                inside[still[:, j], j] -= mean[which]
                friction += float(np.sum((mean / self._stuck[j]) ** 2))
                stays += len(places)
        free = max(stays - float(np.sum(self._leverage[still])), 0.0)
        self._friction = (STUCK_WEIGHT + friction) / (STUCK_WEIGHT + free)
        degrees = np.sum(np.where(self._sliding, 1 - self._leverage, 1 - 1 / self._stay), axis=0)
        noise = np.sum(inside**2, axis=0) / np.maximum(degrees, 1.0)
        self._noise = np.maximum(noise * _repetition(inside), self._least)


def _repetition(left: Array) -> Array:
    """Return how many windows tell as much as one of white noise would, 1 or more, of residuals (m, n)."""
    power = np.sum(left**2, axis=0) + 1e-300
    lags = range(1, min(10, len(left) // 4) + 1)
    correlation = np.array([np.sum(left[k:] * left[:-k], axis=0) / power for k in lags])
    positive = np.cumprod(correlation > 0, axis=0)
    return np.asarray(1 + 2 * np.sum(positive * correlation, axis=0))
