# SPDX-License-Identifier: Apache-2.0
"""What may be wrong with a recording or with the model that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

UPRIGHT = (0.0, 0.0, -9.81)
"""Gravity in the base frame of an arm that stands upright, m/s^2."""
SCALE_DOUBT = 0.125
"""Standard deviation of the logarithm of `Hypothesis.heavy`: 2 is as unlikely as a gain."""


@dataclass(frozen=True)
class Hypothesis:
    """One explanation of a recording; nothing is wrong by default."""

    states: tuple[int, ...]
    """The recording's column of each joint's position."""
    efforts: tuple[int, ...]
    """The recording's column of each joint's effort."""
    gains: tuple[float, ...]
    """N m or N per unit of each joint's effort, its sign included."""
    common_gain: float = 1.0
    """The same of all joints; multiplies `gains`."""
    percent: bool = False
    """Whether efforts are percent of the effort limits."""
    gravity: tuple[float, float, float] = UPRIGHT
    """Gravity in the base frame, m/s^2."""
    compensated: bool = False
    """Whether the efforts lack those that carry the weight of the robot as it stands upright."""
    payload: tuple[float, ...] = ()
    """Mass, kg, and centre of mass in the tip's frame, m, of a body that the model lacks, shape (4,); or nothing."""
    delay: float = 0.0
    """How much later efforts are recorded than positions, s."""
    springs: tuple[int, ...] = ()
    """Joints at which a spring or a counterbalance acts that the model lacks, in ascending order."""
    heavy: float = 1.0
    """How many times as heavy as the arm its description is. That is no fault, and gains of all efforts look alike."""

    @classmethod
    def nothing_wrong(cls, n: int) -> Hypothesis:
        """Return the hypothesis that all n joints are right."""
        return cls(tuple(range(n)), tuple(range(n)), (1.0,) * n)

    @property
    def effective_gravity(self) -> Array:
        """Gravity whose efforts are in the recording, m/s^2, shape (3,)."""
        return np.array(self.gravity) - self.compensated * np.array(UPRIGHT)

    @property
    def tilt(self) -> float:
        """Angle between gravity and that of an upright arm, rad."""
        cosine = np.dot(self.gravity, UPRIGHT) / np.linalg.norm(self.gravity) / np.linalg.norm(UPRIGHT)
        return float(np.arccos(np.clip(cosine, -1.0, 1.0)))

    def units(self, model: RobotModel) -> Array:
        """Return N m or N per unit of each joint's effort, shape (n,)."""
        percent = effort_scale(model) / 100 if self.percent else 1.0
        return self.common_gain * np.array(self.gains) * percent

    def scales(self, model: RobotModel) -> Array:
        """Return what each joint's effort is multiplied with before it is compared with the model's, shape (n,)."""
        return self.heavy * self.units(model)

    @property
    def load(self) -> tuple[float, ...]:
        """The payload with its mass in kg, where the description has another weight."""
        mass, *com = self.payload or (0.0,)
        return (mass / self.heavy, *com) if self.payload else ()

    @property
    def faults(self) -> tuple[Hypothesis, ...]:
        """Hypotheses that lack one of the faults each, in the order of diagnosis."""
        n = len(self.states)
        right, without = self.nothing_wrong(n), []
        for joints in self.cycles:
            states, efforts = (
                tuple(i if i in joints else order[i] for i in range(n)) for order in (self.states, self.efforts)
            )
            without.append(replace(self, states=states, efforts=efforts))
        without += [replace(self, common_gain=gain) for gain in _simpler(self.common_gain)]
        without += [
            replace(self, **{name: getattr(right, name)})
            for name in ("percent", "compensated", "gravity", "payload", "delay")
            if getattr(self, name) != getattr(right, name)
        ]
        without += [self.with_spring(joint, False) for joint in self.springs]
        for i in range(n):
            gains = [(*self.gains[:i], gain, *self.gains[i + 1 :]) for gain in _simpler(self.gains[i])]
            without += [replace(self, gains=each) for each in gains]
        return tuple(without)

    def with_spring(self, joint: int, there: bool = True) -> Hypothesis:
        """Return the hypothesis with or without a spring at a joint."""
        others = tuple(each for each in self.springs if each != joint)
        return replace(self, springs=tuple(sorted((*others, joint))) if there else others)

    @property
    def free_gains(self) -> int:
        """Number of gains other than 1 and -1."""
        return sum(abs(gain) != 1.0 for gain in (self.common_gain, *self.gains))

    @property
    def kind(self) -> tuple[object, ...]:
        """What is wrong, whatever the numbers."""
        signs = [np.sign(x) * (1 + (abs(x) != 1.0)) for x in (self.common_gain, *self.gains)]
        mounted = self.gravity != UPRIGHT
        faults = self.percent, mounted, self.compensated, bool(self.payload), self.delay != 0.0
        return (self.states, self.efforts, *signs, *faults, self.springs)

    @property
    def cycles(self) -> tuple[tuple[int, ...], ...]:
        """Groups of joints whose columns are exchanged among themselves."""
        left = set(range(len(self.states)))
        groups = []
        while left:
            group, new = set(), {min(left)}
            while new:
                group |= new
                new = {order[i] for i in new for order in (self.states, self.efforts)} - group
            left -= group
            if len(group) > 1:
                groups.append(tuple(sorted(group)))
        return tuple(groups)


def _simpler(gain: float) -> list[float]:
    """Return the gain with the usual sign, and the gain of size 1, where these are others."""
    return [simpler for simpler, wrong in ((abs(gain), gain < 0), (float(np.sign(gain)), abs(gain) != 1.0)) if wrong]


def scale_price(heavy: ArrayLike) -> Array:
    """Return the logarithm of the odds against a description that is so many times too heavy, of the same shape."""
    return np.asarray(0.5 * (np.log(heavy) / SCALE_DOUBT) ** 2)


def effort_scale(model: RobotModel) -> Array:
    """Return the effort limits, N m or N, shape (n,); a typical one where the description has none."""
    limit = model.effort_limit
    known = limit[np.isfinite(limit) & (limit > 0)]
    typical = float(np.median(known)) if len(known) else 100.0
    return np.where(np.isfinite(limit) & (limit > 0), limit, typical)
