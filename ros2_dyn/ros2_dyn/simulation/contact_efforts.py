"""The sum of all contacts: joint efforts, and one wrench."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics.wrenches import reduce_to_point
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, cross
from ros2_dyn.simulation.contact import Contact


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
        self._kernels: dict[str, Kernel] = {}

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
        pose, _ = self._at(self.model.default_tip, q)
        return reduce_to_point([f.force for f in forces], [f.position for f in forces], about=pose[:3, 3])

    def _point_forces(self, contacts: Iterable[Contact], t: float, q: Array, qd: Array) -> Iterator[PointForce]:
        for contact in contacts:
            if contact.start <= t < contact.end:
                pose, J = self._at(contact.link, q)
                arm = pose[:3, :3] @ contact.point
                position, J_point = pose[:3, 3] + arm, J[:3] + cross(J[3:].T, arm).T
                yield PointForce(contact.force_at(t, position, J_point @ qd), position, J_point)

    def _at(self, link: str, q: Array) -> tuple[Array, Array]:
        """Return the pose (4, 4) and the Jacobian (6, n) of a link's origin."""
        if link not in self._kernels:
            self._kernels[link] = compile_kernel(self.model, ("pose", "jacobian"), "python", ("q",), link)
        pose, J = self._kernels[link](q.tolist())
        return np.array(pose), np.array(J)
