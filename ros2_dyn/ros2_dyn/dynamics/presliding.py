"""Friction before a joint slides: Maxwell-slip elements (Iwan 1966; Al-Bender, Lampaert and Swevers 2005).

An element is a spring that slips where its effort reaches a limit. It gives back what it has stored and no more, so that
a joint that turns back is pushed on its way at first. That is why a turn of the motion looks as if the effort were late.
"""

from __future__ import annotations

from collections.abc import Sequence

from ros2_dyn.model import RobotModel


class Presliding:
    """The elements of a robot's joints, which remember the way that the joints have moved."""

    def __init__(self, model: RobotModel) -> None:
        """Make the elements of the joints' `JointDynamics`, without tension."""
        self._n = model.n
        self._elements = [
            (row.start, at.start, joint.multiplier, distance, effort)
            for joint, row, at in zip(model.joints, model.v_slices, model.q_slices)
            for distance, effort in joint.dynamics.presliding
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
        """Follow the joints to positions, rad or m, shape (nq,); return the efforts that overcome the elements, (n,)."""
        before, self._before = self._before or list(q), list(q)
        tau = [0.0] * self._n
        for i, (row, at, multiplier, distance, effort) in enumerate(self._elements):
            stretched = self._stretched[i] + multiplier * (q[at] - before[at])
            self._stretched[i] = stretched = min(max(stretched, -distance), distance)
            tau[row] += multiplier * effort * stretched / distance
        self.tau = tau
        return tau
