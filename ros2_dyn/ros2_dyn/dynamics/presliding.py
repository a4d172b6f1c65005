# SPDX-License-Identifier: Apache-2.0
"""Friction before a joint slides: Maxwell-slip elements (Iwan 1966; Al-Bender, Lampaert and Swevers 2005).

An element is a spring that slips where its effort reaches a limit. It gives back what it has stored and no more, so
that a joint that turns back is pushed on its way at first. That is why efforts seem to be late at a turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.friction import carried_load, friction
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


class Presliding:
    """The elements of a robot's joints, which remember the way that the joints have moved."""

    def __init__(self, model: RobotModel) -> None:
        """Make the elements of the joints' `JointDynamics`, without tension."""
        self._n, places = model.n, model.drives.places
        self._elements = [
            (
                [(i, places[i], float(ratio)) for i, ratio in enumerate(model.drives.matrix[row.start]) if ratio],
                *element,
            )
            for joint, row in zip(model.joints, model.drives.rows)
            for element in joint.dynamics.presliding
        ]
        self.restart()

    def __bool__(self) -> bool:
        """Whether there is an element."""
        return bool(self._elements)

    def restart(self) -> None:
        """Take the tension away, and the memory of the last positions."""
        self._stretched = [0.0] * len(self._elements)
        self._before: list[float] | None = None
        self.tau = [0.0] * self._n
        """Efforts that overcome the elements where the joints are, N m or N, shape (n,)."""

    def update(self, q: Sequence[float]) -> list[float]:
        """Follow the joints to positions, rad or m, shape (nq,); return the efforts that overcome the elements."""
        before, self._before = self._before or list(q), list(q)
        tau = [0.0] * self._n
        for i, (turns, distance, effort) in enumerate(self._elements):
            stretched = self._stretched[i] + sum(ratio * (q[at] - before[at]) for _, at, ratio in turns)
            self._stretched[i] = stretched = min(max(stretched, -distance), distance)
            for row, _, ratio in turns:
                tau[row] += ratio * effort * stretched / distance
        self.tau = tau
        return tau


def stretches(q: Array, distances: Sequence[float]) -> Array:
    """Return the effort of elements along a motion as a share of that at which they slip, -1 to 1, shape (m, n, k).

    Args:
        q: joint positions, rad or m, shape (m, n); the elements are relaxed at the first one.
        distances: displacements at which the elements slip, rad or m, shape (k,).
    """
    limits = np.asarray(distances, dtype=float)
    z = np.zeros((*q.shape, len(limits)))
    for before, after, move in zip(z[:-1], z[1:], np.diff(q, axis=0)[..., None]):
        np.clip(before + move, -limits, limits, out=after)
    return z / limits


def presliding(model: RobotModel, q: Array) -> Array:
    """Return the efforts that overcome the elements along a motion, N m or N, shape (m, n); q of shape (m, nq)."""
    tau = np.zeros((len(q), model.n))
    for joint, row in zip(model.joints, model.drives.rows):
        if elements := joint.dynamics.presliding:
            turns, (distances, efforts) = model.drives.matrix[row], zip(*elements)
            tau += stretches(q[:, model.drives.places] @ turns.T, distances) @ efforts @ turns
    return tau


def friction_along(model: RobotModel, q: Array, qd: Array, gravity: ArrayLike | None = None) -> Array:
    """Return the efforts that overcome all friction along a motion, N m or N, shape (m, n).

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (m, nq).
        qd: joint velocities, rad/s or m/s, shape (m, n).
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); standard gravity along -z for None.
    """
    return friction(model, qd, carried_load(model, q, gravity)) + presliding(model, q)
