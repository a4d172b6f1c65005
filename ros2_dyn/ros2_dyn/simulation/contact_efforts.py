"""What touches add up to: the joint efforts that they make, and one wrench."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics.wrenches import reduce_to_point
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, cross
from ros2_dyn.simulation.touch import Touch


class Push(NamedTuple):
    """A force on a point of the robot, in the base frame."""

    force: Array
    """N, shape (3,)."""
    position: Array
    """Of the point, m, shape (3,)."""
    J: Array
    """The Jacobian of the point's velocity, shape (3, n)."""


class ContactEfforts:
    """The joint efforts of touches: ``J^T F``, with the Jacobian of each touched point (Craig 5.96)."""

    def __init__(self, model: RobotModel) -> None:
        """For one robot; the kernel of a link is made when it is first touched."""
        self.model = model
        self._kernels: dict[str, Kernel] = {}

    def __call__(self, contacts: Iterable[Touch], t: float, q: Array, qd: Array) -> Array:
        """Their sum at one instant.

        Args:
            contacts: what may touch the robot.
            t: s.
            q: joint positions, rad or m, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,).

        Returns:
            N m or N, shape (n,).

        Raises:
            InputError: the robot has no such link.
        """
        tau = np.zeros(self.model.n)
        for push in self._pushes(contacts, t, q, qd):
            tau += push.force @ push.J
        return tau

    def wrench(self, contacts: Iterable[Touch], t: float, q: Array, qd: Array) -> Array:
        """Their resultant, and resultant moment about the origin of the default tip; arguments and errors as above.

        Returns:
            [force; moment], N and N m, in the axes of the base frame, shape (6,).
        """
        pushes = list(self._pushes(contacts, t, q, qd))
        if not pushes:
            return np.zeros(6)
        pose, _ = self._at(self.model.default_tip, q)
        return reduce_to_point([push.force for push in pushes], [push.position for push in pushes], about=pose[:3, 3])

    def _pushes(self, contacts: Iterable[Touch], t: float, q: Array, qd: Array) -> Iterator[Push]:
        for contact in contacts:
            if contact.start <= t < contact.end:
                pose, J = self._at(contact.link, q)
                arm = pose[:3, :3] @ contact.point
                position, J_point = pose[:3, 3] + arm, J[:3] + cross(J[3:].T, arm).T
                yield Push(contact.force_at(t, position, J_point @ qd), position, J_point)

    def _at(self, link: str, q: Array) -> tuple[Array, Array]:
        """Pose (4, 4) and Jacobian (6, n) of a link's origin."""
        if link not in self._kernels:
            self._kernels[link] = compile_kernel(self.model, ("pose", "jacobian"), "python", ("q",), link)
        pose, J = self._kernels[link](q.tolist())
        return np.array(pose), np.array(J)
