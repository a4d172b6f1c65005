"""What a payload is, and how well that is known, from the inertial parameters that were estimated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.payload_estimation import PayloadFit
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.inertial import Inertial
from ros2_dyn.model.spatial import Array

MASS_ERROR, RELATIVE_MASS_ERROR = 0.1, 0.1
"""Largest standard deviation of the mass, kg, or as a share of it."""
COM_ERROR = 0.05
"""Largest standard deviation of the centre of mass, m."""
ENOUGH = 0.4
"""Share of these errors at which an estimate that waits until it has seen enough ends."""
INERTIA_ERROR = 0.3
"""Largest standard deviation of the moments of inertia that count as observed, as a share of the largest."""
DEVIATIONS = 3.0
"""Number of standard deviations within which a mass counts as zero."""


class PayloadEstimate(NamedTuple):
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
    """Whether it counts from a motion without payload, rather than from the model."""

    @property
    def parameters(self) -> Array:
        """Inertial parameters about the link's origin, shape (10,), as `Payload.parameters`."""
        return Inertial(self.mass, self.com, self.inertia).spatial().parameters

    @property
    def enough(self) -> bool:
        """Whether it is so good that nothing more has to be seen."""
        mass = ENOUGH * max(MASS_ERROR, RELATIVE_MASS_ERROR * self.mass)
        return self.deviation[0] <= mass and (self.mass == 0 or max(self.deviation[1:4]) <= ENOUGH * COM_ERROR)


def payload_estimate(fit: PayloadFit, link: str) -> PayloadEstimate:
    """Return the payload of a fit.

    Args:
        fit: what efforts tell.
        link: that carries it, for messages.

    Raises:
        InputError: the mass or the centre of mass is not observed, or the mass is negative.
    """
    mass, uncertain = float(fit.parameters[0]), float(np.sqrt(fit.covariance[0, 0]))
    if uncertain > max(MASS_ERROR, RELATIVE_MASS_ERROR * abs(mass)):
        problem = f"the mass is known to {uncertain:.2g} kg only (condition {condition(fit):.2g})"
        raise InputError("joint_states", f"{problem}: hold the arm, stretched out, in other postures, or move it")
    if mass < -DEVIATIONS * uncertain:
        known = "the arm without payload" if fit.tared else "the model"
        remedy = "take the reference (tare) with nothing carried"
        raise InputError("mass", f"the arm carries {-mass:.2g} kg less than {known}: {remedy}")
    if mass <= DEVIATIONS * uncertain:
        return PayloadEstimate(0.0, (0.0,) * 3, (0.0,) * 6, (uncertain, *(np.inf,) * 9), False, fit.tared)
    body, deviation = _body(fit.parameters), _deviation(fit)
    _check_com(fit, deviation, link)
    observed = _inertia_observed(fit, body, deviation)
    inertia, known = (body[4:], deviation[4:]) if observed else (np.zeros(6), np.full(6, np.inf))
    com, errors = tuple(body[1:4].tolist()), (*deviation[:4].tolist(), *known.tolist())
    return PayloadEstimate(mass, com, tuple(inertia.tolist()), errors, observed, fit.tared)


def condition(fit: PayloadFit) -> float:
    """Return the condition number of what is known of mass, kg, and first moments, 0.1 kg m."""
    scale = np.array([1.0, 0.1, 0.1, 0.1])
    return float(np.sqrt(np.linalg.cond(fit.covariance[:4, :4] / np.outer(scale, scale))))


def _check_com(fit: PayloadFit, deviation: Array, link: str) -> None:
    """Check that the centre of mass is observed along all axes; say which axes have to be turned where it is not."""
    unseen = [axis for axis, error in zip("xyz", deviation[1:4]) if error > COM_ERROR]
    if not unseen:
        return
    seen = [f"centre along {axis}" for axis in "xyz" if axis not in unseen]
    axes = " and ".join(unseen)
    raise InputError(
        "joint_states",
        f"seen: {', '.join(['mass', *seen])} only (condition {condition(fit):.2g}); the centre of mass along {axes} of "
        f"'{link}' shows where that axis is level: turn the wrist",
    )


def _body(parameters: Array) -> Array:
    """Return mass, centre of mass, and moments of inertia about it, shape (10,)."""
    I = SpatialInertia.from_parameters(parameters)
    return np.array([float(I.mass), *I.com, *I.I_com[np.triu_indices(3)]])


def _deviation(fit: PayloadFit) -> Array:
    """Return the standard deviations of mass, centre of mass and moments of inertia, shape (10,), to first order."""
    errors = np.sqrt(np.diag(fit.covariance))
    steps = 1e-4 * np.minimum(errors, np.maximum(np.abs(fit.parameters), 1e-3))
    J = [(_body(fit.parameters + s) - _body(fit.parameters - s)) / (2 * s.sum()) for s in np.diag(steps)]
    return np.asarray(np.sqrt(np.einsum("ji,jk,ki->i", J, fit.covariance, J)))


def _inertia_observed(fit: PayloadFit, body: Array, deviation: Array) -> bool:
    """Return whether the motion shows the moments of inertia, and a body can have them."""
    largest = float(np.max(body[4:]))
    shown = largest > 0 and bool(np.all(deviation[4:] <= INERTIA_ERROR * largest))
    possible = not Inertial(float(body[0]), tuple(body[1:4]), tuple(body[4:])).problem()
    return shown and possible and bool(np.all(np.sqrt(np.diag(fit.covariance)[4:]) < fit.inertia_before / 2))
