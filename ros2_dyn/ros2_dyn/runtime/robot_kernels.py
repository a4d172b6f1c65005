# SPDX-License-Identifier: Apache-2.0
"""The kernels of one robot: in Python first, which takes some 50 ms, and in C as soon as a compiler has made it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from ros2_dyn.kernels import Backend, Kernel, compile_kernel
from ros2_dyn.kernels.compile_aside import compiles_aside
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array

ALL_TERMS = ("mass_matrix", "coriolis", "gravity", "friction", "effort", "kinetic_energy", "potential_energy")
INPUTS = ("q", "qd", "qdd", "gravity", "payload")


class RobotKernels:
    """What is computed for one robot, with a payload on one link."""

    state: Kernel
    """The numbers of `Terms` at each measured state."""
    effort: Kernel
    """Inverse dynamics with friction alone."""
    mass: Kernel
    """The mass matrix."""
    tip: Kernel
    """Jacobian and pose of the tip."""

    def __init__(self, model: RobotModel, payload_link: str, tip_link: str) -> None:
        """Compile them in Python.

        Args:
            model: the robot.
            payload_link: the link that carries the payload.
            tip_link: the link that forces are controlled at.
        """
        self._model, self._payload_link, self._tip_link = model, payload_link, tip_link
        self._all_terms: Kernel | None = None
        self._compile("python")

    def compile_c(self) -> None:
        """Compile them in C, where that can be done: the numbers stay the same, and take a thirtieth of the time.

        It takes some seconds, in which another thread may go on with those in Python.
        """
        if self.state.backend == "c":
            return
        self._compile("scalar")
        self._all_terms = self._compile_all_terms("scalar")

    @property
    def all_terms(self) -> Kernel:
        """`ALL_TERMS`, for the service."""
        if self._all_terms is None:
            self._all_terms = self._compile_all_terms("python")
        return self._all_terms

    def _compile(self, backend: Backend) -> None:
        model, link = self._model, self._payload_link
        terms = ("effort", "gravity", "coriolis", "friction", "joint_wrenches", "momentum", "coriolis_transpose_qd")
        self.state = compile_kernel(model, terms, backend, INPUTS, link=link)
        self.effort = compile_kernel(model, ("effort",), backend, INPUTS, link=link)
        self.mass = compile_kernel(model, ("mass_matrix",), backend, ("q", "payload"), link=link)
        self.tip = compile_kernel(model, ("jacobian", "pose"), backend, ("q",), link=self._tip_link)

    def _compile_all_terms(self, backend: Backend) -> Kernel:
        return compile_kernel(self._model, ALL_TERMS, backend, INPUTS, link=self._payload_link)


@lru_cache(maxsize=64)
def robot_kernels(model: RobotModel, payload_link: str, tip_link: str) -> RobotKernels:
    """Return the kernels of a robot; those that were compiled before are at hand. See `RobotKernels`."""
    return RobotKernels(model, payload_link, tip_link)


@lru_cache(maxsize=64)
def link_frame(model: RobotModel, link: str) -> Callable[[Sequence[float]], Array]:
    """Return the pose in the base frame, shape (4, 4), of any link, as a function of joint positions, rad or m.

    Targets and stiffness are given in its frame. The kernel of a link that moves takes some milliseconds to compile;
    one that was compiled before is at hand.

    Args:
        model: the robot.
        link: its name; the base link where it is empty.
    """
    link = link or model.base_link
    placement = model.link_frame(link)
    if placement.body != BASE:
        kernel = compile_kernel(model, ("pose",), "python", ("q",), link=link)
        return lambda q: np.array(kernel(q)[0])
    fixed = np.eye(4)
    fixed[:3, :3], fixed[:3, 3] = placement.X.E.T, placement.X.r
    return lambda q: fixed


@lru_cache(maxsize=4)
def trajectory_kernel(model: RobotModel, payload_link: str) -> Kernel:
    """Compile efforts, gravity and friction of many states at once."""
    backend: Backend = "auto" if compiles_aside() else "numpy"
    return compile_kernel(model, ("effort", "gravity", "friction"), backend, INPUTS, link=payload_link)
