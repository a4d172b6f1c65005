# SPDX-License-Identifier: Apache-2.0
"""What is true of a simulated arm, and how far the model that the node was told is from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics import jacobian, mass_matrix
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.kernels.compile_aside import scalar_backend
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.inputs import PayloadRequest

MODEL_TOLERANCE = 0.2
"""Largest difference of a joint's gravity effort from the told model's at which the model counts as right, relative."""
NO_PAYLOAD = PayloadRequest("", (0.0,) * 10)


class ArmTerms(NamedTuple):
    """Terms of the true arm and of the told model at one state, in the arm's joint order."""

    kinetic_energy: float
    """Of the true arm, J."""
    gravity: Sequence[float]
    """Of the true arm, N m or N."""
    friction: Sequence[float]
    """Of the true arm, N m or N."""
    told_gravity: Sequence[float]
    """Of the told model, N m or N."""
    told_friction: Sequence[float]
    """Of the told model, N m or N."""


class ArmTruth:
    """The true arm, and the model that the node was told: description, payload and gravity vector."""

    def __init__(
        self, arm: RobotModel, description: RobotModel, gravity: Sequence[float], own_gravity: bool = False
    ) -> None:
        """Begin without a payload that was told.

        Args:
            arm: the arm as it is.
            description: the robot as the node knows it, with the same joints.
            gravity: gravity vector that the node was told, m/s^2.
            own_gravity: whether the robot adds the gravity of its description to commands itself. What the node is told
                of payload and gravity then has no effect on the efforts.
        """
        self._gravity = tuple(gravity)
        self._own_gravity = own_gravity
        self._description = description
        self._to_description = [arm.joint_names.index(name) for name in description.joint_names]
        self._to_arm = [description.joint_names.index(name) for name in arm.joint_names]
        self.replace_arm(arm)
        self._use_payload(NO_PAYLOAD)

    def replace_arm(self, arm: RobotModel) -> None:
        """Take another arm as the true one."""
        self.arm = arm
        self.dry_friction = [joint.dynamics.coulomb for joint in arm.joints]
        """Dry friction of the true arm, N m or N."""
        self._true = _true_kernel(arm)

    def tell_payload(self, request: PayloadRequest) -> None:
        """Take note of a payload that the node was told; ramps are ignored."""
        if not self._own_gravity:
            self._use_payload(request)

    def tell_gravity(self, gravity: Sequence[float]) -> None:
        """Take note of a gravity vector that the node was told, m/s^2."""
        if not self._own_gravity:
            self._gravity = tuple(gravity)

    def _use_payload(self, request: PayloadRequest) -> None:
        self._payload = tuple(request.parameters)
        self._told = _told_kernel(self._description, request.link or self._description.default_tip)

    def terms(self, q: Sequence[float], qd: Sequence[float]) -> ArmTerms:
        """Return the terms at a state, rad or m and s, each of shape (n,)."""
        energy, gravity, friction = self._true(q, qd)
        at, speed = [q[i] for i in self._to_description], [qd[i] for i in self._to_description]
        told, told_friction = self._told(at, speed, self._gravity, self._payload)
        order = self._to_arm
        return ArmTerms(energy, gravity, friction, [told[i] for i in order], [told_friction[i] for i in order])

    def gravities(self, q: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return the gravity efforts of the told model and of the arm, at positions in the arm's order, rad or m.

        The efforts are in the order of the description, N m or N.
        """
        terms = self.terms(q, [0.0] * len(q))
        order = self._to_description
        return [terms.told_gravity[i] for i in order], [terms.gravity[i] for i in order]

    def held_by_friction(self) -> Array:
        """Return what the dry friction of the joints holds at rest, in the order of the description, N m or N, (n,)."""
        return np.array(self.dry_friction)[self._to_description]

    def model_fits(self, terms: ArmTerms) -> bool:
        """Return whether no joint's gravity effort differs by more than the tolerance and its dry friction."""
        return all(
            abs(g - told) <= MODEL_TOLERANCE * abs(g) + held
            for g, told, held in zip(terms.gravity, terms.told_gravity, self.dry_friction)
        )

    def friction_holds(self, terms: ArmTerms) -> bool:
        """Return whether dry friction makes up for the error of the told gravity at each joint."""
        errors = (abs(g - told) for g, told in zip(terms.gravity, terms.told_gravity))
        return all(error <= held for error, held in zip(errors, self.dry_friction))

    def inertias(self, q: Array) -> Array:
        """Return the inertia of each joint with the others at rest, kg m^2 or kg, shape (n,)."""
        return np.diag(mass_matrix(self.arm, q)).copy()

    def tip_mass(self, q: Array) -> float:
        """Return the largest apparent mass of the tip in any direction that it can move in, kg."""
        J = jacobian(self.arm, q)[:3]
        mobility = np.linalg.eigvalsh(J @ np.linalg.solve(mass_matrix(self.arm, q), J.T))
        return float(1.0 / max(mobility[0], 1e-3 * mobility[-1], 1e-6))


@lru_cache(maxsize=256)
def _true_kernel(model: RobotModel) -> Kernel:
    return compile_kernel(model, ("kinetic_energy", "gravity", "friction"), scalar_backend(), ("q", "qd"))


@lru_cache(maxsize=256)
def _told_kernel(model: RobotModel, link: str) -> Kernel:
    return compile_kernel(
        model, ("gravity", "friction"), scalar_backend(), ("q", "qd", "gravity", "payload"), link=link
    )
