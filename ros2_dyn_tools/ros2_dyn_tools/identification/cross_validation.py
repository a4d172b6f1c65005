# SPDX-License-Identifier: Apache-2.0
"""The choice of a fit's settings by what folds of the fit part tell about those that were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.columns import DISTANCES, STRIBECK_VELOCITIES, TRANSITION_VELOCITIES
from ros2_dyn_tools.identification.normal_equations import Equations, JointEquations
from ros2_dyn_tools.identification.parts import FOLDS
from ros2_dyn_tools.identification.settings import FitSettings
from ros2_dyn_tools.identification.weighted_fit import Fit, Problem
from ros2_dyn_tools.recording.effort_filter import EffortFilter

BODY_WEIGHTS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2)
FRICTION_WEIGHTS = (1e-5, 1e-4, 1e-3, 1e-2)
COMMON: Mapping[str, Sequence[Any]] = {
    "transition_velocity": TRANSITION_VELOCITIES,
    "distances": ((), DISTANCES),
    "load": (True, False),
}
"""Terms of friction that are chosen for all joints at once."""
OWN: Mapping[str, Sequence[Any]] = {"stribeck_velocity": (None, *STRIBECK_VELOCITIES), "offset": (True, False)}
"""Terms of friction that are chosen joint by joint."""
ENOUGH = 0.05
"""Relative decrease of one joint's error, or in total, for which a joint gets terms of its own, and the base a tilt."""
BORNE = 0.015
"""Relative increase of a joint's error that is borne for a description that counts more."""
ACCURACY = 1e-8
"""Of fits that are only compared."""


def together(parts: Iterable[Sequence[JointEquations]]) -> list[JointEquations]:
    """Return the equations of several parts, joint by joint."""
    first, *others = parts
    total = list(first)
    for part in others:
        total = [a + b for a, b in zip(total, part)]
    return total


class CrossValidation:
    """Errors in folds that were left out, for any settings."""

    def __init__(self, problem: Problem, equations: Mapping[EffortFilter, Equations]) -> None:
        """Take the equations behind each filter."""
        self._problem, self._equations = problem, equations
        self._fits: dict[tuple[int, int], Fit] = {}
        self._training = {
            key: [together(parts[i] for i in range(FOLDS) if i != k) for k in range(FOLDS)]
            for key, parts in equations.items()
        }

    @property
    def filters(self) -> list[EffortFilter]:
        """The filters to choose from."""
        return list(self._equations)

    def mean_squares(self, settings: FitSettings) -> Array:
        """Return the mean square errors of the joints over all folds, each predicted by the others, shape (n,)."""
        held_out, errors = self._equations[settings.effort_filter], []
        for k, training in enumerate(self._training[settings.effort_filter]):
            size = sum(len(terms.columns) for terms in settings.joints)
            fit = self._problem.solve(training, settings, self._fits.get((k, size)), ACCURACY)
            self._fits[k, size] = fit
            errors.append(self._problem.mean_squares(held_out[k], settings, fit.parameters))
        return np.mean(errors, axis=0)

    def score(self, settings: FitSettings) -> float:
        """Return the sum over joints of the logarithm of the error's root mean square."""
        return float(0.5 * np.sum(np.log(np.maximum(self.mean_squares(settings), 1e-30))))


class Search:
    """A search along one setting after the other."""

    def __init__(self, validation: CrossValidation, start: FitSettings, progress: Callable[[], None]) -> None:
        """Begin with some settings."""
        self._validation, self._progress = validation, progress
        self.best = start
        self.score = validation.score(start)

    def attempt(self, options: Iterable[FitSettings], enough: float = 0.0) -> None:
        """Take the best of some settings, if it is better than what there is by enough."""
        scores = [
            (self._validation.score(option), i, option) for i, option in enumerate(options) if option != self.best
        ]
        self._progress()
        if scores and min(scores, key=lambda each: each[:2])[0] < self.score - enough:
            self.score, _, self.best = min(scores, key=lambda each: each[:2])

    def filters(self) -> None:
        """Choose the driver's filter."""
        self.attempt(replace(self.best, effort_filter=each) for each in self._validation.filters)

    def weights(self) -> None:
        """Choose how far the description counts, and how small other parameters are.

        The description counts as much as the folds bear: a strong prior costs little inside of what was fitted, and
        keeps predictions outside of it close to what is known.
        """
        scores = {
            (body, friction): self._validation.score(replace(self.best, body_weight=body, friction_weight=friction))
            for body in BODY_WEIGHTS
            for friction in FRICTION_WEIGHTS
        }
        self._progress()
        most = min(scores.values()) + BORNE * len(self.best.joints)
        body = max(weights[0] for weights, score in scores.items() if score <= most)
        friction = min(FRICTION_WEIGHTS, key=lambda friction: scores[body, friction])
        self.best = replace(self.best, body_weight=body, friction_weight=friction)
        self.score = scores[body, friction]

    def tilt(self) -> None:
        """Choose whether the base is tilted."""
        self.attempt([replace(self.best, tilt=True)], ENOUGH)

    def common_terms(self) -> None:
        """Choose the terms of friction that all joints have: more than these choices, a short motion does not bear."""
        for name, values in COMMON.items():
            self.attempt(
                replace(self.best, joints=tuple(terms._replace(**{name: value}) for terms in self.best.joints))
                for value in values
            )

    def own_terms(self) -> None:
        """Choose terms for one joint after the other, where they are worth it."""
        for joint in range(len(self.best.joints)):
            for name, values in OWN.items():
                terms = self.best.joints[joint]
                self.attempt((self.best.with_joint(joint, terms._replace(**{name: v})) for v in values), ENOUGH)
