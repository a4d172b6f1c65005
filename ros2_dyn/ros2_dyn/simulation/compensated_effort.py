# SPDX-License-Identifier: Apache-2.0
"""Robots that compensate gravity themselves, as arms with a torque interface of their own do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.kernels.compile_aside import scalar_backend
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.simulated_arm import EffortLaw


class OwnGravity:
    """The gravity efforts that a robot computes from its own model."""

    def __init__(self, model: RobotModel, joint_names: Sequence[str]) -> None:
        """Prepare for positions and efforts in another joint order.

        Args:
            model: the robot's own model.
            joint_names: its joints in the order of positions and efforts.
        """
        names = list(joint_names)
        self._kernel = _gravity_kernel(model)
        self._to_model = [names.index(name) for name in model.joint_names]
        self._from_model = [model.joint_names.index(name) for name in names]

    def know(self, model: RobotModel) -> None:
        """Go on with another model of the same joints: one that carries what the robot is told, for example."""
        self._kernel = _gravity_kernel(model)

    def __call__(self, q: Array) -> Array:
        """Return the efforts at joint positions, N m or N, shape (n,)."""
        (efforts,) = self._kernel(q[self._to_model].tolist())
        return np.array(efforts)[self._from_model]


class CompensatedEffort:
    """The efforts of a law on top of the robot's own gravity compensation."""

    def __init__(self, law: EffortLaw, compensation: Callable[[Array], Array]) -> None:
        """Add to a law what a function returns at joint positions, N m or N, shape (n,)."""
        self._law, self._compensation = law, compensation
        self.uses_dynamics, self.damping = law.uses_dynamics, law.damping

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        return self._law(t, q, qd, M, h) + self._compensation(q)


@lru_cache(maxsize=64)
def _gravity_kernel(model: RobotModel) -> Kernel:
    return compile_kernel(model, ("gravity",), scalar_backend(), ("q",))
