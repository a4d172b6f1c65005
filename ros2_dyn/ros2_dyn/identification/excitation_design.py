"""The exciting trajectory of a robot: the most information about its parameters within its limits.

Swevers et al. 1997, with the log-determinant of the information, minimised by L-BFGS from several random starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.identification.base_parameters import BaseParameters
from ros2_dyn.identification.excitation import FourierBasis, FourierTrajectory
from ros2_dyn.identification.excitation_collision import SelfCollision
from ros2_dyn.identification.excitation_cost import ExcitationCost
from ros2_dyn.identification.excitation_information import Information, Quality
from ros2_dyn.identification.excitation_limits import MotionLimits, whole_effort
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

TYPICAL_FREQUENCY = 0.1
"""Base frequency where none is given, Hz, rounded so that the duration is a whole number of periods."""
SAMPLES = 16
"""Samples of the shortest period in the cost."""
CHECK_RATE = 1000.0
"""Rate at which limits are checked at the end, Hz."""
COLLISION_RATE = 50.0
"""Rate at which self-collision is checked at the end, Hz."""
CLOSE = 0.999
"""Share of the limits that the samples of the last check may use, because there is motion between them."""
BISECTIONS = 10


@dataclass(frozen=True)
class ExcitationOptions:
    """What the trajectory is to be like."""

    duration: float = 20.0
    """Duration, s."""
    base_frequency: float | None = None
    """Frequency of the first harmonic, Hz; None: about `TYPICAL_FREQUENCY`."""
    harmonics: int = 5
    """Number of harmonics."""
    rate: float = 100.0
    """Rate of the points, and of the measurements that standard errors are computed for, Hz."""
    share: float = 0.7
    """Share of the velocity and effort limits."""
    margin: float = 0.1
    """Distance from the position limits, rad or m."""
    acceleration: ArrayLike | None = None
    """Limits of acceleration, rad/s^2 or m/s^2, one or shape (n,); None: see `MotionLimits.of`."""
    posture: ArrayLike | None = None
    """Positions at the start and the end, rad or m, shape (n,); None: in the middle of the limits, else 0."""
    noise: ArrayLike | None = None
    """Standard deviation of measured efforts, N m or N, one or shape (n,); None: see `NOISE`."""
    seed: int = 1
    """Seed of the random starts."""
    starts: int = 3
    """Number of random starts."""
    iterations: int = 60
    """Largest number of iterations from each start."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a number is outside of its range, or the duration is no whole number of periods.
        """
        for name, low in (("duration", 0), ("rate", 0), ("starts", 0), ("iterations", 0), ("harmonics", 1)):
            value = getattr(self, name)
            if not low < value < np.inf:
                raise InputError(name, f"expected a finite number above {low}, got {value}")
        if not 0 < self.share <= 1:
            raise InputError("share", f"expected a number above 0, at most 1, got {self.share}")
        if not 0 <= self.margin < np.inf:
            raise InputError("margin", f"expected a finite number, not negative, got {self.margin}")
        periods = self.duration * self.frequency
        if not (0.5 < periods < np.inf and abs(periods - round(periods)) < 1e-6):
            problem = f"expected a multiple of 1 / duration ({1 / self.duration:.4g} Hz), got {self.base_frequency}"
            raise InputError("base_frequency", problem)

    @property
    def frequency(self) -> float:
        """Base frequency, Hz."""
        if self.base_frequency is not None:
            return self.base_frequency
        return max(round(self.duration * TYPICAL_FREQUENCY), 1) / self.duration


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


def start_posture(model: RobotModel, given: ArrayLike | None = None) -> Array:
    """Return the given positions, or the middle of the position limits and 0 where there are none, shape (n,).

    Raises:
        InputError: there is not one finite number for each joint.
    """
    if given is None:
        limited = np.isfinite(model.lower) & np.isfinite(model.upper)
        return np.where(limited, (np.where(limited, model.lower, 0) + np.where(limited, model.upper, 0)) / 2, 0.0)
    posture = np.asarray(given, dtype=float)
    if posture.shape != (model.n,) or not np.all(np.isfinite(posture)):
        raise InputError("posture", f"expected {model.n} finite positions, of {model.joint_names}, got {given}")
    return posture


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
        cost = ExcitationCost(self.told, self.limits, self.posture, basis, times, near)
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
