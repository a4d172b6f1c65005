# SPDX-License-Identifier: Apache-2.0
"""The sum of all contacts: joint efforts, and one wrench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import forward_kinematics, jacobian
from ros2_dyn.dynamics.wrenches import reduce_to_point
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, cross
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.traced import input_symbols, traced_function


class PointForce(NamedTuple):
    """A force on a point of the robot, in the axes of the base frame."""

    force: Array
    """Force, N, shape (3,)."""
    position: Array
    """Position of the point, m, shape (3,)."""
    J: Array
    """Jacobian of the point's linear velocity, shape (3, n)."""


class ContactEfforts:
    """Joint efforts of contacts: ``J^T F`` with the Jacobian of each contact point (Craig 5.96)."""

    def __init__(self, model: RobotModel) -> None:
        """Prepare for a robot; the kernel of a link is compiled when a contact first acts on it."""
        self.model = model
        self._kernels: dict[str, Callable[..., tuple[Any, Any]]] = {}

    def __call__(self, contacts: Iterable[Contact], t: float, q: Array, qd: Array) -> Array:
        """Return the sum of the joint efforts at one instant.

        Args:
            contacts: contacts, active or not.
            t: time, s.
            q: joint positions, rad or m, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,).

        Returns:
            Efforts, N m or N, shape (n,).

        Raises:
            InputError: the robot has no such link.
        """
        tau = np.zeros(self.model.n)
        for point_force in self._point_forces(contacts, t, q, qd):
            tau += point_force.force @ point_force.J
        return tau

    def wrench(self, contacts: Iterable[Contact], t: float, q: Array, qd: Array) -> Array:
        """Return the resultant force, and the resultant moment about the origin of the default tip.

        Returns:
            [force; moment] in the axes of the base frame, N and N m, shape (6,).

        Raises:
            InputError: the robot has no such link.
        """
        forces = list(self._point_forces(contacts, t, q, qd))
        if not forces:
            return np.zeros(6)
        tip = self.position(self.model.default_tip, q)
        return reduce_to_point([f.force for f in forces], [f.position for f in forces], about=tip)

    def position(self, link: str, q: Array) -> Array:
        """Return the position of a link's origin in the base frame, m, shape (3,).

        Raises:
            InputError: the robot has no such link.
        """
        return self._point(link, (0.0, 0.0, 0.0), q)[0]

    def _point_forces(self, contacts: Iterable[Contact], t: float, q: Array, qd: Array) -> Iterator[PointForce]:
        for contact in contacts:
            if contact.start <= t < contact.end:
                position, J = self._point(contact.link, contact.point, q)
                if contact.reaches(position):
                    yield PointForce(contact.force_at(t, position, J @ qd), position, J)

    def _point(self, link: str, point: ArrayLike, q: Array) -> tuple[Array, Array]:
        """Return the position (3,) of a point of a link, and the Jacobian (3, n) of its linear velocity."""
        if link not in self._kernels:
            self._kernels[link] = _compile_point(self.model, link)
        position, J = self._kernels[link](q.tolist(), point)
        return np.array(position), np.array(J)


@lru_cache(maxsize=256)
def _compile_point(model: RobotModel, link: str) -> Callable[..., tuple[Any, Any]]:
    """Compile the position and the Jacobian of a point of a link; the point is an input in the link's frame."""
    inputs = input_symbols({"q": model.nq, "point": 3})
    q, point = inputs.values()
    pose, J = forward_kinematics(model, q, link), jacobian(model, q, link)
    arm = pose[:3, :3] @ point
    outputs = {"position": pose[:3, 3] + arm, "jacobian": J[:3] + cross(J[3:].T, arm).T}
    return traced_function(inputs, outputs)
