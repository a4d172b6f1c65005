# SPDX-License-Identifier: Apache-2.0
"""Identification of a robot from recorded motions: choice of settings, fit, test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ros2_dyn.dynamics import inertial_parameters
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import PARAMETERS, nearest_consistent
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification import outcome
from ros2_dyn_tools.identification.columns import DISTANCES, TERMS, TILT, check
from ros2_dyn_tools.identification.cross_validation import CrossValidation, Search, together
from ros2_dyn_tools.identification.identification import Identification, Options
from ros2_dyn_tools.identification.normal_equations import Equations, normal_equations
from ros2_dyn_tools.identification.parts import GAP, NONE, TEST, excerpts, parts_of
from ros2_dyn_tools.identification.settings import FitSettings, JointTerms
from ros2_dyn_tools.identification.weighted_fit import Fit, Problem
from ros2_dyn_tools.recording.effort_filter import EffortFilter, candidates
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import EvenMotion, even_motion, unbroken

LIGHTEST, SLIMMEST = 1e-3, 0.01
"""Smallest body that the divergence is from: its share of the robot's mass, and its radius of gyration, m."""
SIZES = {"viscous": 0.2, "armature": 0.1, "offset": 0.05, "coulomb": 0.2, "stribeck": 0.1, "presliding": 0.1}
"""Typical efforts of the terms, as shares of the greatest effort in a joint."""
LOAD_SIZE = 0.2
"""Typical load-dependent friction, as a share of the load."""

DEFAULTS = Options()
Progress = Callable[[str, float], None]
"""Is told what is done, and what share of all of it."""


def identify(
    model: RobotModel,
    recordings: Iterable[Recording],
    options: Options = DEFAULTS,
    progress: Progress = lambda step, share: None,
) -> Identification:
    """Identify bodies, friction, rotors and the base's tilt from motions during which nothing touched the robot.

    Args:
        model: the robot as described, with the joints in the recordings' order.
        recordings: the motions, with efforts in N m or N; they are read one by one if they are generated.
        options: what is given.
        progress: is called now and then.

    Raises:
        InputError: a joint is of a kind that is not identified, or the recordings are too short.
    """
    check(model)
    progress("signals", 0.0)
    motions = [even_motion(part, options.cutoff) for each in recordings for part in unbroken(each)]
    if not motions:
        raise InputError("recording", "expected one that is not interrupted for 50 states")
    parts = parts_of(motions, options.split)
    gravity = np.array(options.gravity)
    problem = Problem(model, *_prior(model, motions, parts))

    searched = excerpts(motions, parts, options.longest_search)
    filters = candidates(min(0.4 / motions[0].step, options.band or np.inf))
    progress("driver's filter", 0.05)
    equations = normal_equations(
        model,
        motions,
        searched,
        filters,
        gravity=gravity,
        loaded=None,
        band=options.band,
        progress=lambda x: progress("driver's filter", 0.05 + 0.25 * x),
    )
    search = _search(problem, dict(zip(filters, equations)), options, lambda x: progress("settings", 0.3 + 0.5 * x))
    fit = problem.solve(together(equations[filters.index(search.best.effort_filter)][: GAP + 1]), search.best)

    # Load-dependent friction depends on the load that was found, and the tilt is linear for small angles only.
    loaded, settings = _with_bodies(model, fit, len(problem.bodies)), search.best
    gravity = _tilted(gravity, fit, settings, problem.bodies.size)
    progress("all motions", 0.8)
    (final,) = normal_equations(
        model,
        motions,
        parts,
        [settings.effort_filter],
        gravity=gravity,
        loaded=loaded,
        band=options.band,
        progress=lambda x: progress("fit", 0.8 + 0.18 * x),
    )
    validation = CrossValidation(problem, {settings.effort_filter: final})
    last = Search(validation, settings, lambda: None)
    last.weights()
    fit = problem.solve(together(final[: GAP + 1]), last.best)
    progress("done", 1.0)
    return outcome.identification(
        model,
        motions,
        parts=parts,
        problem=problem,
        settings=last.best,
        equations=final,
        fit=fit,
        gravity=gravity,
        validation=validation,
        options=options,
    )


def _search(
    problem: Problem, equations: dict[EffortFilter, Equations], options: Options, progress: Callable[[float], None]
) -> Search:
    """Return the search when it is over."""
    n = len(problem.scales)
    steps = iter(range(1, 1000))
    start = FitSettings((JointTerms(distances=DISTANCES),) * n)
    expected = 2 * 6 + 2 * n + 2
    search = Search(CrossValidation(problem, equations), start, lambda: progress(min(1.0, next(steps) / expected)))
    for _ in range(2):
        search.filters()
        search.weights()
        search.common_terms()
        if options.tilt and not search.best.tilt:
            search.tilt()
    search.own_terms()
    search.filters()
    search.weights()
    return search


def _prior(model: RobotModel, motions: Sequence[EvenMotion], parts: Sequence[Array]) -> tuple[Array, Array]:
    """Return the bodies that the divergence is from, (b, 10), and the typical sizes of the terms, (n, k)."""
    mass = LIGHTEST * sum(float(body.mass) for body in model.inertia)
    told = inertial_parameters(model).reshape(-1, PARAMETERS)
    bodies = np.array([nearest_consistent(body, max(mass, 1e-3), SLIMMEST) for body in told])
    C = model.drives.coupling
    effort, speed, acceleration = (
        np.max(
            [np.max(np.abs(values[_fitted(part)]), axis=0, initial=1e-9) for values, part in zip(signal, parts)], axis=0
        )
        for signal in ([m.effort for m in motions], [m.qd @ C.T for m in motions], [m.qdd @ C.T for m in motions])
    )
    per = {"viscous": speed, "armature": acceleration, "load": effort}
    sizes = [SIZES.get(term.kind, LOAD_SIZE) * effort / per.get(term.kind, 1.0) for term in TERMS]
    return bodies, np.stack(sizes, axis=1)


def _fitted(part: Array) -> Array:
    """Return which states belong to the fit part."""
    return (part != NONE) & (part != TEST)


def _with_bodies(model: RobotModel, fit: Fit, bodies: int) -> RobotModel:
    """Return the robot with the bodies that were found."""
    found = fit.parameters[: PARAMETERS * bodies].reshape(bodies, PARAMETERS)
    return model.with_inertia([SpatialInertia.from_parameters(body) for body in found])


def _tilted(gravity: Array, fit: Fit, settings: FitSettings, first: int) -> Array:
    """Return gravity as it was found."""
    if not settings.tilt:
        return gravity
    turned = gravity + np.array([*fit.parameters[first : first + TILT], 0.0])
    return turned * np.linalg.norm(gravity) / np.linalg.norm(turned)
