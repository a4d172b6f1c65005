# SPDX-License-Identifier: Apache-2.0
"""The exciting trajectory of a robot: the most information about its parameters within its limits.

Swevers et al. 1997, with the log-determinant of the information, minimised by L-BFGS from several random starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.identification.base_parameters import BaseParameters
from ros2_dyn_tools.identification.excitation import FourierBasis, FourierTrajectory
from ros2_dyn_tools.identification.excitation_collision import SelfCollision
from ros2_dyn_tools.identification.excitation_cost import ExcitationCost
from ros2_dyn_tools.identification.excitation_information import Information, Quality
from ros2_dyn_tools.identification.excitation_limits import MotionLimits, whole_effort
from ros2_dyn_tools.identification.excitation_options import ExcitationOptions, start_posture

SAMPLES = 16
"""Samples of the shortest period in the cost."""
CHECK_RATE = 1000.0
"""Rate at which limits are checked at the end, Hz."""
COLLISION_RATE = 50.0
"""Rate at which self-collision is checked at the end, Hz."""
CLOSE = 0.999
"""Share of the limits that the samples of the last check may use, because there is motion between them."""
BISECTIONS = 10


class Excitation(NamedTuple):
    """An exciting trajectory, and what it tells."""

    trajectory: FourierTrajectory
    limits: MotionLimits
    base: BaseParameters
    """Base parameters, friction and rotors included."""
    beta: Array
    """Their values in the description, shape (r,)."""
    deviations: Array
    """Standard deviations of the measured efforts that are assumed, N m or N, shape (n,)."""
    quality: Quality


def excite(
    model: RobotModel,
    options: ExcitationOptions | None = None,
    collision: SelfCollision | None = None,
    progress: Callable[[int], None] = lambda start: None,
) -> Excitation:
    """Return the best trajectory of several starts; it keeps all limits, in 1000 samples a second.

    Args:
        model: the robot; joints have one degree of freedom.
        options: see `ExcitationOptions`; its defaults for None.
        collision: the geometry that must not touch itself; None: not checked.
        progress: is called after each start with their number so far.

    Raises:
        InputError: an option is wrong for the robot; see `MotionLimits.of` and `Information`.
    """
    options = options or ExcitationOptions()
    information = Information(model, options.noise)
    posture = start_posture(model, options.posture)
    limits = MotionLimits.of(model, posture, options.share, options.margin, options.acceleration)
    search = _Search(model, options, information, limits, posture, collision)
    rng = np.random.default_rng(options.seed)
    candidates = []
    for start in range(options.starts):
        candidates.append(search.within_limits(search.minimise(rng)))
        progress(start + 1)
    trajectory = max(candidates, key=search.information)
    quality = information.quality(*trajectory.at(trajectory.times(options.rate)[:-1]))
    return Excitation(trajectory, limits, information.base, information.beta, information.deviations, quality)


@dataclass(frozen=True)
class _Search:
    """The search from one start."""

    model: RobotModel
    options: ExcitationOptions
    told: Information
    limits: MotionLimits
    posture: Array
    collision: SelfCollision | None

    def minimise(self, rng: np.random.Generator) -> FourierTrajectory:
        """Return a trajectory of low cost, which may exceed limits a little."""
        from scipy.optimize import minimize  # here, because it takes half a second to import

        options, count = self.options, SAMPLES * self.options.harmonics
        basis = FourierBasis(options.frequency, options.harmonics)
        times = np.arange(count) / (count * options.frequency)
        near = None if self.collision is None else self.collision.closeness
        cost = ExcitationCost(self.told, self.limits, self.posture, basis=basis, times=times, closeness=near)
        first = self._trajectory(rng.normal(size=(2 * options.harmonics - 2, self.model.n)))
        use = np.max(self.limits.linear(*first.at(times), self.posture), axis=0)
        weights = (0.5 / use * first.weights).ravel()
        found = minimize(cost, weights, jac=True, method="L-BFGS-B", options={"maxiter": options.iterations})
        return self._trajectory(found.x.reshape(first.weights.shape))

    def _trajectory(self, weights: Array) -> FourierTrajectory:
        return FourierTrajectory(self.posture, weights, self.options.frequency, self.options.duration)

    def within_limits(self, trajectory: FourierTrajectory) -> FourierTrajectory:
        """Return the trajectory, smaller where it exceeds limits: one joint, or all for efforts and collisions."""
        t = np.arange(0.0, 1 / trajectory.base_frequency, 1 / max(CHECK_RATE, 10 * self.options.rate))
        use = np.max(self.limits.linear(*trajectory.at(t), self.posture), axis=0)
        trajectory = self._trajectory(trajectory.weights / np.maximum(use / CLOSE, 1.0))
        seldom = t[:: max(int(CHECK_RATE / COLLISION_RATE), 1)]

        def allowed(factor: float) -> bool:
            q, qd, qdd = trajectory.scaled(factor).at(t)
            if np.any(np.abs(whole_effort(self.model, q, qd, qdd)) > CLOSE * self.limits.effort):
                return False
            return self.collision is None or self.collision.is_free(trajectory.scaled(factor).at(seldom)[0])

        return trajectory.scaled(_largest(allowed))

    def information(self, trajectory: FourierTrajectory) -> float:
        """Return the log-determinant of the information of one period."""
        times = np.arange(0.0, 1 / trajectory.base_frequency, 1 / self.options.rate)
        return float(np.linalg.slogdet(self.told.matrix(*trajectory.at(times)))[1])


def _largest(allowed: Callable[[float], bool]) -> float:
    """Return the largest factor up to 1 that is allowed, by bisection; 0 always is."""
    if allowed(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low
