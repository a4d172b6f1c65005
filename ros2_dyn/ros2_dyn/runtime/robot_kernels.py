# SPDX-License-Identifier: Apache-2.0
"""The kernels of one robot. Compiling them takes some ten milliseconds each; those compiled before are at hand.

Where they are compiled aside, as in the node, they are compiled to C, which takes a second: the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ros2_dyn.kernels import Backend, Kernel, compile_kernel
from ros2_dyn.kernels.compile_aside import compiles_aside, scalar_backend
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array

ALL_TERMS = ("mass_matrix", "coriolis", "gravity", "friction", "effort", "kinetic_energy", "potential_energy")
INPUTS = ("q", "qd", "qdd", "gravity", "payload")


class RobotKernels(NamedTuple):
    """What is computed for one robot, with a payload on one link."""

    state: Kernel
    """The numbers of `Terms` at each measured state."""
    effort: Kernel
    """Inverse dynamics with friction alone."""
    mass: Kernel
    """The mass matrix."""
    tip: Kernel
    """Jacobian and pose of the tip."""


@lru_cache(maxsize=64)
def robot_kernels(model: RobotModel, payload_link: str, tip_link: str) -> RobotKernels:
    """Compile the kernels of a robot.

    Args:
        model: the robot.
        payload_link: the link that carries the payload.
        tip_link: the link that forces are controlled at.
    """
    if compiles_aside():
        terms_kernel(model, payload_link)  # so that the first request finds it
    backend = scalar_backend()
    terms = ("effort", "gravity", "coriolis", "friction", "joint_wrenches", "momentum", "coriolis_transpose_qd")
    state = compile_kernel(model, terms, backend, INPUTS, link=payload_link)
    effort = compile_kernel(model, ("effort",), backend, INPUTS, link=payload_link)
    mass = compile_kernel(model, ("mass_matrix",), backend, ("q", "payload"), link=payload_link)
    return RobotKernels(state, effort, mass, link_kernel(model, tip_link))


@lru_cache(maxsize=64)
def terms_kernel(model: RobotModel, payload_link: str) -> Kernel:
    """Compile `ALL_TERMS`, for the service."""
    return compile_kernel(model, ALL_TERMS, scalar_backend(), INPUTS, link=payload_link)


@lru_cache(maxsize=64)
def link_kernel(model: RobotModel, link: str) -> Kernel:
    """Compile the Jacobian and the pose of a link."""
    return compile_kernel(model, ("jacobian", "pose"), scalar_backend(), ("q",), link=link)


@lru_cache(maxsize=64)
def link_frame(model: RobotModel, link: str) -> Callable[[Sequence[float]], Array]:
    """Return the pose in the base frame, shape (4, 4), of any link, as a function of joint positions, rad or m.

    Targets and stiffness are given in its frame. The kernel of a link that moves takes some 30 ms to compile; one that
    was compiled before is at hand.

    Args:
        model: the robot.
        link: its name; the base link where it is empty.
    """
    link = link or model.base_link
    placement = model.link_frame(link)
    if placement.body != BASE:
        kernel = link_kernel(model, link)
        return lambda q: np.array(kernel(q)[1])
    fixed = np.eye(4)
    fixed[:3, :3], fixed[:3, 3] = placement.X.E.T, placement.X.r
    return lambda q: fixed


@lru_cache(maxsize=4)
def trajectory_kernel(model: RobotModel, payload_link: str) -> Kernel:
    """Compile efforts, gravity and friction of many states at once."""
    backend: Backend = "auto" if compiles_aside() else "numpy"
    return compile_kernel(model, ("effort", "gravity", "friction"), backend, INPUTS, link=payload_link)
