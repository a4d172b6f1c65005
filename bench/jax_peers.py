# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics by the libraries on JAX, jitted, in float64: functions of one state or of a batch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np
from adam.jax import KinDynComputations
from frax import Robot

from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

InverseDynamics = Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
"""Efforts from q, qd and qdd, each of shape (..., n)."""
jax.config.update("jax_enable_x64", True)


def functions(xml: str, state: np.ndarray) -> dict[str, Callable[[], jax.Array]]:
    """The functions that compute the efforts of a robot, by library, of one state or a batch: q, qd, qdd."""
    libraries = {"ours: jax": ours(xml), "frax": frax(xml), "ADAM": adam(xml)}
    return {name: _bound(efforts, state) for name, efforts in libraries.items()}


def _bound(efforts: InverseDynamics, state: np.ndarray) -> Callable[[], jax.Array]:
    """The call as a user writes it, up to the result."""
    call = jax.jit(efforts)
    q, qd, qdd = state if state.ndim == 2 else jnp.asarray(state)
    return lambda: call(q, qd, qdd).block_until_ready()


def ours(xml: str) -> InverseDynamics:
    """The kernel of backend jax."""
    kernel = compile_kernel(RobotModel.from_urdf(xml), ("tau",), "jax", ("q", "qd", "qdd"))
    return lambda q, qd, qdd: kernel(q, qd, qdd)[0]


def frax(xml: str) -> InverseDynamics:
    """Its recursive Newton-Euler algorithm; it reads URDFs from files."""
    with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        file.write(xml)
        file.flush()
        robot = Robot(file.name)
    gravity = jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])  # of the base, upwards
    return jnp.vectorize(lambda q, qd, qdd: robot.rnea(q, qd, qdd, gravity, None), signature="(n),(n),(n)->(n)")


def _with_origins(xml: str) -> str:
    """A description in which each joint and inertia has an <origin>, which is optional and which ADAM needs."""
    root = ElementTree.fromstring(xml)
    for element in (*root.iter("joint"), *root.iter("inertial")):
        if element.find("origin") is None:
            ElementTree.SubElement(element, "origin", xyz="0 0 0", rpy="0 0 0")
    return ElementTree.tostring(root, encoding="unicode")


def adam(xml: str) -> InverseDynamics:
    """It has no inverse dynamics: the mass matrix times the accelerations, and the bias force, of a base at rest."""
    joints = [joint.name for joint in RobotModel.from_urdf(xml).joints]
    robot = KinDynComputations(_with_origins(xml), joints, gravity=jnp.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0]))

    def efforts(q: jax.Array, qd: jax.Array, qdd: jax.Array) -> jax.Array:
        base, rest = jnp.broadcast_to(jnp.eye(4), (*q.shape[:-1], 4, 4)), jnp.zeros((*q.shape[:-1], 6))
        M = robot.mass_matrix(base, q)[..., 6:, 6:]
        return jnp.einsum("...ij,...j", M, qdd) + robot.bias_force(base, q, rest, qd)[..., 6:]

    return efforts
