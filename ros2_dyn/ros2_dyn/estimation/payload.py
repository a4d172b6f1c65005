# SPDX-License-Identifier: Apache-2.0
"""Mass, centre of mass and inertia of what an arm carries, from its efforts (Atkeson, An and Hollerbach 1986).

The payload's ten parameters and the errors of the robot's model are estimated together, by weighted least squares with
what is known of the errors before. The noise of moving joints is estimated from what the fit leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.payload_equations import PayloadEquations, check_windows, payload_equations
from ros2_dyn.estimation.payload_errors import error_deviations
from ros2_dyn.estimation.state_windows import StateWindows
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import PARAMETERS, nearest_consistent
from ros2_dyn.model.spatial import Array

RADIUS = 0.15
"""Radius of gyration that a payload may have, m: a standard deviation of the moments by the mass, before."""
SLIMMEST = 1e-3
"""Smallest radius of gyration of an inertia that is observed, m."""
ANYTHING = 1e3
"""Standard deviation of the mass, kg, and of the first moments, kg m, before anything is measured."""
MIN_NOISE = 1e-4
"""Smallest noise of a window, as a share of the effort limit."""
TOOL = np.array([10.0] + 3 * [2.0] + 6 * [0.5])
"""Standard deviations of what the model lacks at the payload's link, such as a gripper, where a motion shows that."""
PASSES = 8
MASS_ERROR, RELATIVE_MASS_ERROR = 0.3, 0.25
"""Largest standard deviation of a mass that counts as observed, kg, or as a share of it."""
COM_ERROR = 0.05
"""Largest standard deviation of a centre of mass that counts as observed, m."""
INERTIA_ERROR = 0.3
"""Largest standard deviation of moments of inertia that count as observed, as a share of the largest."""
DEVIATIONS = 3.0
"""Number of standard deviations within which a mass counts as zero."""


@dataclass(frozen=True)
class PayloadEstimate:
    """A payload with its uncertainty, in the frame of the link that carries it."""

    mass: float
    """kg; 0: nothing is carried, as far as can be seen."""
    com: tuple[float, ...]
    """Centre of mass, m, shape (3,)."""
    inertia: tuple[float, ...]
    """Moments about the centre of mass, `MOMENTS` in URDF's order, kg m^2; zeros where they are not observed."""
    deviation: tuple[float, ...]
    """Standard deviations of mass, com and inertia, shape (10,); infinite where they are not observed."""
    inertia_observed: bool
    tared: bool
    """Whether a motion without payload was given, too."""

    @property
    def parameters(self) -> Array:
        """Inertial parameters about the link's origin, shape (10,), as `Payload.parameters`."""
        xx, xy, xz, yy, yz, zz = self.inertia
        I_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return SpatialInertia.from_com(self.mass, np.array(self.com), I_com).parameters

    def __str__(self) -> str:
        """Return it in words."""
        compared = "a motion without payload" if self.tared else "the model"
        if not self.mass:
            return f"nothing is carried, within {DEVIATIONS * self.deviation[0]:.2g} kg, compared with {compared}"
        com = ", ".join(f"{x:.3f}" for x in self.com)
        seen = "its inertia was seen" if self.inertia_observed else "its inertia was not seen: that needs fast turns"
        spread = f"{self.deviation[0]:.2g} kg and {max(self.deviation[1:4]):.2g} m"
        return f"{self.mass:.3f} kg at [{com}] m (standard deviations {spread}), compared with {compared}; {seen}"


def estimate_payload(
    model: RobotModel,
    windows: StateWindows,
    link: str | None = None,
    gravity: ArrayLike | None = None,
    tare: StateWindows | None = None,
) -> PayloadEstimate:
    """Estimate what a link carries from a short motion, or from rest in several postures.

    Args:
        model: the robot without payload.
        windows: of the motion, during which nothing else touches the robot; see `state_windows`.
        link: the link that carries the payload; the model's `default_tip` for None.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); [0, 0, -9.81] for None.
        tare: of a motion without payload, best of the same one; None: the model alone is compared with.

    Raises:
        InputError: the windows or the link are wrong, the mass or the centre of mass is not observed, or the mass is
            negative.
    """
    link = link or model.default_tip
    check_windows(model, windows)
    highest = np.max(np.abs(windows.effort), axis=0, initial=1e-3)
    limit = np.where(np.isfinite(model.effort_limit) & (model.effort_limit > 0), model.effort_limit, highest)
    parts = [payload_equations(model, windows, link, gravity, limit, carries=True)]
    errors = error_deviations(model, limit)
    if tare is not None:
        parts.append(payload_equations(model, tare, link, gravity, limit, carries=False))
        body = PARAMETERS * model.link_frame(link).body
        errors[body : body + PARAMETERS] = TOOL
    fit = _Fit(PayloadEquations.join(parts), errors, MIN_NOISE * limit)
    return _judged(fit, link, tare is not None)


class _Fit:
    """The parameters x with their covariance, and the noise of each joint."""

    def __init__(self, equations: PayloadEquations, errors: Array, least_noise: Array) -> None:
        self._equations, self._least = equations, least_noise**2
        self._noise = 100 * self._least
        inertia, mean = np.full(6, RADIUS**2), np.zeros(PARAMETERS + len(errors))
        for _ in range(PASSES):
            deviation = np.concatenate([np.full(4, ANYTHING), inertia, errors])
            self._solve(mean, deviation)
            mass = max(float(self.x[0]), 0.1)
            # What is assumed of the inertia is about the centre of mass: it goes where that is.
            mean[4:PARAMETERS] = SpatialInertia.from_com(mass, self.x[1:4] / mass, np.zeros((3, 3))).parameters[4:]
            inertia = np.full(6, mass * RADIUS**2)
        self.inertia_before = mass * RADIUS**2
        """Standard deviation of the moments of inertia before anything was measured, kg m^2."""

    def _solve(self, mean: Array, deviation: Array) -> None:
        """Solve for x, given its mean and deviation before, and estimate the noise anew from what is left."""
        columns, left, slides, stuck = self._equations
        scale = np.minimum(deviation, 1.0)
        spread = np.sqrt(self._noise + stuck)
        Z = (columns * scale / spread[..., None]).reshape(-1, len(scale))
        before = (scale / deviation) ** 2
        inverse = np.linalg.inv(Z.T @ Z + np.diag(before))
        self.x = scale * (inverse @ (Z.T @ (left / spread).ravel() + before * mean / scale))
        self.covariance = (inverse * np.outer(scale, scale))[:PARAMETERS, :PARAMETERS]
        remains = np.where(slides, left - columns @ self.x, 0.0)
        leverage = np.sum(Z @ inverse * Z, axis=1).reshape(left.shape)
        freedom = np.maximum(np.sum(np.where(slides, 1 - leverage, 0.0), axis=0), 1.0)
        noise = np.sum(remains**2, axis=0) / freedom
        self._noise = np.maximum(noise * _repetition(remains), self._least)


def _repetition(remains: Array) -> Array:
    """Return how many windows tell as much as one of white noise would, 1 or more, of residuals (m, n)."""
    power = np.sum(remains**2, axis=0) + 1e-300
    lags = range(1, min(10, len(remains) // 4) + 1)
    correlation = np.array([np.sum(remains[k:] * remains[:-k], axis=0) / power for k in lags])
    positive = np.cumprod(correlation > 0, axis=0)
    return np.asarray(1 + 2 * np.sum(positive * correlation, axis=0))


def _judged(fit: _Fit, link: str, tared: bool) -> PayloadEstimate:
    """Return the payload of a fit, where that tells one."""
    mass, uncertain = float(fit.x[0]), float(np.sqrt(fit.covariance[0, 0]))
    if uncertain > max(MASS_ERROR, RELATIVE_MASS_ERROR * abs(mass)):
        remedy = "hold the arm, stretched out, in several postures, or move it; or give a motion without payload (tare)"
        raise InputError(
            "motion", f"the mass is {mass:.2g} kg with a standard deviation of {uncertain:.2g} kg: {remedy}"
        )
    if mass < -DEVIATIONS * uncertain:
        compared = "without payload (tare)" if tared else "in the model"
        raise InputError("mass", f"the arm carries {-mass:.2g} kg less than {compared}: tare it with nothing carried")
    if mass <= DEVIATIONS * uncertain:
        return PayloadEstimate(0.0, (0.0,) * 3, (0.0,) * 6, (uncertain, *(np.inf,) * 9), False, tared)
    deviation = _deviation(fit)
    if unseen := [axis for axis, error in zip("xyz", deviation[1:4]) if error > COM_ERROR]:
        raise InputError(
            "motion",
            f"the mass is {mass:.2g} kg, but the centre of mass along {' and '.join(unseen)} of '{link}' was not seen: "
            "turn the wrist, so that this axis is level in some postures",
        )
    observed = _inertia_observed(fit, deviation)
    body = _body(nearest_consistent(fit.x[:PARAMETERS], mass, SLIMMEST) if observed else fit.x[:PARAMETERS])
    inertia, known = (body[4:], deviation[4:]) if observed else (np.zeros(6), np.full(6, np.inf))
    spread = tuple(np.concatenate([deviation[:4], known]).tolist())
    return PayloadEstimate(mass, tuple(body[1:4].tolist()), tuple(inertia.tolist()), spread, observed, tared)


def _body(parameters: Array) -> Array:
    """Return mass, centre of mass, and moments of inertia about it, shape (10,)."""
    I = SpatialInertia.from_parameters(parameters)
    return np.array([float(I.mass), *I.com, *I.I_com[np.triu_indices(3)]])


def _deviation(fit: _Fit) -> Array:
    """Return the standard deviations of mass, centre of mass and moments of inertia, shape (10,), to first order."""
    x = fit.x[:PARAMETERS]
    steps = 1e-4 * np.minimum(np.sqrt(np.diag(fit.covariance)), np.maximum(np.abs(x), 1e-3))
    J = np.array([(_body(x + step) - _body(x - step)) / (2 * step.sum()) for step in np.diag(steps)])
    return np.asarray(np.sqrt(np.sum(fit.covariance @ J * J, axis=0)))


def _inertia_observed(fit: _Fit, deviation: Array) -> bool:
    """Return whether the motion shows the moments of inertia."""
    largest = float(np.max(_body(fit.x[:PARAMETERS])[4:]))
    known = bool(np.all(deviation[4:] <= INERTIA_ERROR * largest))
    return known and bool(np.all(np.sqrt(np.diag(fit.covariance)[4:]) < fit.inertia_before / 2))
