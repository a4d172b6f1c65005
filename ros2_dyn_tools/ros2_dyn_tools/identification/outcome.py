# SPDX-License-Identifier: Apache-2.0
"""From fitted parameters to a robot, with errors in all parts and standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ros2_dyn.dynamics import inertial_parameters
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import PARAMETERS, is_consistent
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.base_parameters import base_parameters
from ros2_dyn_tools.identification.columns import TERMS, TILT
from ros2_dyn_tools.identification.cross_validation import CrossValidation, together
from ros2_dyn_tools.identification.identification import Estimate, Identification, Options
from ros2_dyn_tools.identification.normal_equations import Equations, JointEquations
from ros2_dyn_tools.identification.parts import GAP, NONE, TEST
from ros2_dyn_tools.identification.retracing import retraced
from ros2_dyn_tools.identification.settings import FitSettings
from ros2_dyn_tools.identification.standard_errors import standard_errors
from ros2_dyn_tools.identification.weighted_fit import Fit, Problem
from ros2_dyn_tools.recording.signals import EvenMotion

NEGLIGIBLE = 1e-3
"""Presliding elements below this share of the greatest one that is typical are left out."""


def identification(
    model: RobotModel,
    motions: Sequence[EvenMotion],
    *,
    parts: Sequence[Array],
    problem: Problem,
    settings: FitSettings,
    equations: Equations,
    fit: Fit,
    gravity: Array,
    validation: CrossValidation,
    options: Options,
) -> Identification:
    """Return all that follows from a fit; see `Identification`."""
    x, fitted = fit.parameters, together(equations[: GAP + 1])
    dynamics = joint_dynamics(model, problem, settings, x)
    bodies = x[: problem.bodies.size].reshape(-1, PARAMETERS)
    found = model.with_inertia([SpatialInertia.from_parameters(body) for body in bodies]).with_joint_dynamics(dynamics)
    tilt = np.array([*x[problem.bodies.size :][:TILT], 0.0]) if settings.tilt else np.zeros(3)
    turned = gravity + tilt
    told = inertial_parameters(model)
    base = base_parameters(model, gravity)
    base_errors, other_errors = standard_errors(
        problem,
        settings,
        fitted,
        fit,
        independent=base.independent,
        correlation=_correlation(motions, settings, options),
    )
    values = base.of(x[: problem.bodies.size])
    estimates = zip(base.combinations(), values, base_errors)
    return Identification(
        model=found,
        gravity=turned * np.linalg.norm(gravity) / np.linalg.norm(turned),
        settings=settings,
        options=options,
        before=_errors(problem, settings, equations[TEST], np.concatenate([told, np.zeros(len(x) - len(told))])),
        fitted=_errors(problem, settings, fitted, x),
        held_out=np.sqrt(validation.mean_squares(settings)),
        tested=_errors(problem, settings, equations[TEST], x),
        base=tuple(Estimate(name, float(value), float(error)) for name, value, error in estimates),
        joints=_joint_estimates(model, problem, settings, x, other_errors),
        retraced=retraced(motions, parts),
        mended=tuple(
            link for link, body in zip(model.child_links, told.reshape(-1, PARAMETERS)) if not is_consistent(body)
        ),
        seconds=(_length(motions, parts, test=False), _length(motions, parts, test=True)),
        rate=1.0 / motions[0].step,
    )


def joint_dynamics(model: RobotModel, problem: Problem, settings: FitSettings, x: Array) -> dict[str, JointDynamics]:
    """Return the friction and motor of each joint; springs stay as they are."""
    found = {}
    for joint, terms, (first, sizes) in zip(model.joints, settings.joints, _own(problem, settings)):
        value = {TERMS[k]: float(x[first + i]) for i, k in enumerate(terms.columns)}
        kind = {term.kind: number for term, number in value.items() if term.kind != "presliding"}
        elements = [(term.value, number) for term, number in value.items() if term.kind == "presliding"]
        kept = tuple(each for each in elements if each[1] > NEGLIGIBLE * max(sizes))
        excess = kind.get("stribeck")
        found[joint.name] = replace(
            joint.dynamics,
            viscous=kind["viscous"],
            coulomb=kind["coulomb"],
            static=None if excess is None else kind["coulomb"] + excess,
            stribeck_velocity=terms.stribeck_velocity or joint.dynamics.stribeck_velocity,
            transition_velocity=terms.transition_velocity,
            load=kind.get("load", 0.0),
            offset=kind.get("offset", 0.0),
            presliding=kept,
            armature=kind["armature"],
        )
    return found


def _own(problem: Problem, settings: FitSettings) -> list[tuple[int, list[float]]]:
    """Return where each joint's own parameters begin, and their typical sizes."""
    first, places = problem.bodies.size + TILT * settings.tilt, []
    for joint, terms in enumerate(settings.joints):
        places.append((first, [float(problem.scales[joint, k]) for k in terms.columns]))
        first += len(terms.columns)
    return places


def _joint_estimates(
    model: RobotModel, problem: Problem, settings: FitSettings, x: Array, errors: Array
) -> dict[str, tuple[Estimate, ...]]:
    """Return the friction and motor of each joint with their standard errors."""
    estimates = {}
    for joint, terms, (first, _) in zip(model.joints, settings.joints, _own(problem, settings)):
        numbers = range(first, first + len(terms.columns))
        names = [str(TERMS[k]) for k in terms.columns]
        estimates[joint.name] = tuple(
            Estimate(name, float(x[i]), float(errors[i - problem.bodies.size])) for name, i in zip(names, numbers)
        )
    return estimates


def _errors(problem: Problem, settings: FitSettings, equations: Sequence[JointEquations], x: Array) -> Array:
    """Return the root mean squares of what parameters leave, shape (n,); NaN without a state."""
    if not equations[0].states:
        return np.full(len(equations), np.nan)
    return np.sqrt(problem.mean_squares(equations, settings, x))


def _correlation(motions: Sequence[EvenMotion], settings: FitSettings, options: Options) -> float:
    """Return how many states count as one: those within half a period of the lowest cut-off of the efforts."""
    lowest = min(settings.effort_filter.cutoff, options.band or np.inf)
    return max(1.0, 0.5 / (motions[0].step * lowest))


def _length(motions: Sequence[EvenMotion], parts: Sequence[Array], test: bool) -> float:
    """Return the length of the test part or of the fit part, s."""
    chosen = [(part == TEST) if test else (part != TEST) & (part != NONE) for part in parts]
    return float(sum(motion.step * np.sum(part) for motion, part in zip(motions, chosen)))
