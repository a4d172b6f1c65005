# SPDX-License-Identifier: Apache-2.0
"""Standard errors of a fit's parameters: how far they would be off by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.normal_equations import JointEquations
from ros2_dyn_tools.identification.settings import FitSettings
from ros2_dyn_tools.identification.weighted_fit import Fit, Problem

SINGULAR = 1e-13
"""Smallest eigenvalue of the scaled information, as a fraction of the greatest, that counts as something known."""


def standard_errors(
    problem: Problem,
    settings: FitSettings,
    equations: Sequence[JointEquations],
    fit: Fit,
    *,
    independent: Array,
    correlation: float,
) -> tuple[Array, Array]:
    """Return the standard errors of base inertial parameters, shape (r,), and of all other parameters, shape (k,).

    They are those of weighted least squares in the base parameters, with no weight on the bodies' divergence. The
    weight that keeps the other parameters small counts, because the data alone cannot always tell two elements apart.

    Args:
        problem: of the fit.
        settings: of the fit.
        equations: those of the fit, of each joint.
        fit: the fit.
        independent: indices of the inertial parameters that stand for base parameters, shape (r,).
        correlation: number of neighbouring states whose errors are one and the same.
    """
    information = problem.information(equations, settings, fit.deviations) / correlation
    bodies = problem.bodies.size
    kept = [*independent, *range(bodies, len(information))]
    information = information[np.ix_(kept, kept)]
    prior = problem.prior(settings, sum(each.states for each in equations))
    r = len(independent)
    information[r:, r:] += np.diag(prior.scale_weight / correlation / prior.scale**2)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information * scale[:, None] * scale)
    values = np.maximum(values, SINGULAR * values[-1])
    errors = scale * np.sqrt(np.sum(vectors**2 / values, axis=1))
    return errors[:r], errors[r:]
