# SPDX-License-Identifier: Apache-2.0
"""A fit of all joints' efforts at once, each weighted by what remains unexplained in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.columns import POSITIVE, TERMS, TILT, loading, parameter_columns, supported
from ros2_dyn_tools.identification.consistent_fit import Prior, fit
from ros2_dyn_tools.identification.normal_equations import JointEquations
from ros2_dyn_tools.identification.settings import FitSettings, JointTerms

Places = list[tuple[list[int], list[int]]]
"""For each joint, columns of its equations, and where their parameters are in all."""
ROUNDS = 4
"""Times that the joints' weights are set anew."""
TILT_SCALE = 0.5
"""Typical size of gravity along x and y of the base, m/s^2: 3 degrees."""


class Fit(NamedTuple):
    """Parameters that fit."""

    parameters: Array
    """The bodies', the tilt's and the joints' own, shape (p,)."""
    deviations: Array
    """Root mean square of what remains in each joint, N m or N, shape (n,)."""


class Problem:
    """What is the same in all fits of a robot."""

    def __init__(self, model: RobotModel, bodies: Array, scales: Array) -> None:
        """Keep what is the same.

        Args:
            model: the robot.
            bodies: inertial parameters that the divergence is from, shape (b, 10).
            scales: typical sizes of the parameters of `TERMS` in each joint, shape (n, k).
        """
        self.bodies, self.scales = bodies, scales
        self._places: dict[tuple[tuple[JointTerms, ...], bool], Places] = {}
        self._supported = [parameter_columns(supported(model, joint)) for joint in range(model.n)]
        self._loading = [loading(model, joint) for joint in range(model.n)]

    def places(self, settings: FitSettings) -> Places:
        """Return which columns of each joint's equations are fitted, and where their parameters are in all."""
        key = settings.joints, settings.tilt
        if key not in self._places:
            self._places[key] = self._find_places(settings)
        return self._places[key]

    def _find_places(self, settings: FitSettings) -> Places:
        places, tilt = [], range(TILT * settings.tilt)
        chosen = [terms.columns for terms in settings.joints]
        first = self.bodies.size + len(tilt) + np.cumsum([0, *map(len, chosen)])
        for own, drives in zip(self._supported, self._loading):
            columns = [*range(len(own)), *(len(own) + k for k in tilt)]
            where = [*own, *(self.bodies.size + k for k in tilt)]
            for i, drive in enumerate(drives):
                columns += [len(own) + TILT + i * len(TERMS) + k for k in chosen[drive]]
                where += range(first[drive], first[drive + 1])
            places.append((columns, where))
        return places

    def solve(
        self,
        equations: Sequence[JointEquations],
        settings: FitSettings,
        start: Fit | None = None,
        accuracy: float = 1e-15,
    ) -> Fit:
        """Return the fit to some joints' equations.

        Args:
            equations: of each joint.
            settings: see `FitSettings`.
            start: a similar problem's fit with as many parameters.
            accuracy: see `fit`.
        """
        places, states = self.places(settings), sum(each.states for each in equations)
        squares = np.array([each.gram[-1, -1] / max(each.states, 1) for each in equations])
        floor = 1e-12 + 1e-6 * np.sqrt(squares)
        prior = self.prior(settings, states)
        size = prior.bodies.size + len(prior.scale)
        x = start.parameters if start is not None and len(start.parameters) == size else None
        deviations = start.deviations if x is not None and start is not None else floor + 0.1 * np.sqrt(squares)
        for _ in range(ROUNDS if x is None else 2):
            right = np.zeros(size)
            for each, (columns, where), deviation in zip(equations, places, deviations):
                right[where] += each.gram[columns, -1] / deviation**2
            x = fit(self.information(equations, settings, deviations), right, prior, x, accuracy)
            deviations = np.maximum(np.sqrt(self.mean_squares(equations, settings, x)), floor)
        assert x is not None
        return Fit(x, deviations)

    def information(self, equations: Sequence[JointEquations], settings: FitSettings, deviations: Array) -> Array:
        """Return the weighted products of all columns, ``A' W A``, shape (p, p)."""
        places = self.places(settings)
        total = np.zeros((1 + max(where[-1] for _, where in places),) * 2)
        for each, (columns, where), deviation in zip(equations, places, deviations):
            total[np.ix_(where, where)] += each.gram[np.ix_(columns, columns)] / deviation**2
        return total

    def mean_squares(self, equations: Sequence[JointEquations], settings: FitSettings, x: Array) -> Array:
        """Return the mean squares of what parameters leave in each joint, shape (n,)."""
        places = self.places(settings)
        return np.array([each.mean_square(columns, x[where]) for each, (columns, where) in zip(equations, places)])

    def prior(self, settings: FitSettings, states: int) -> Prior:
        """Return what is known before a motion of some states is seen."""
        kinds = [(joint, column) for joint, terms in enumerate(settings.joints) for column in terms.columns]
        tilt = [TILT_SCALE] * (TILT * settings.tilt)
        scale = np.array(tilt + [self.scales[joint, column] for joint, column in kinds])
        positive = np.array([False] * len(tilt) + [TERMS[column].kind in POSITIVE for _, column in kinds])
        return Prior(self.bodies, scale, positive, settings.body_weight * states, settings.friction_weight * states)
