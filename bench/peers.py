# SPDX-License-Identifier: Apache-2.0
"""The same quantity from each library: functions of nothing, at one state, that are timed; and what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pinocchio as pin

from ros2_dyn import dynamics
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.model import RobotModel

jax.config.update("jax_enable_x64", True)
Function = Callable[[], object]
FUSED = ("tau", "gravity", "coriolis", "momentum", "joint_wrenches")
MOTION = ("q", "qd", "qdd")
QUANTITIES = {
    "RNEA": (("tau",), MOTION),
    "fused tick": (FUSED, MOTION),
    "mass matrix": (("mass_matrix",), ("q",)),
    "forward dynamics": (("qdd",), ("q", "qd", "tau")),
    "Jacobian": (("jacobian",), ("q",)),
    "regressor": (("regressor",), MOTION),
    "derivatives": (("dtau_dq", "dtau_dqd"), MOTION),
}
"""What is measured: outputs and inputs of our kernels. Gravity is a constant, as it is in the peers' models."""


def functions(xml: str, name: str, quantity: str) -> dict[str, Function]:
    """The functions that compute a quantity of a robot, by library and backend."""
    model = RobotModel.from_urdf(xml)
    state = np.random.default_rng(1).uniform(-1, 1, size=(4, model.n))
    found = ours(model, quantity, state) | pinocchio(xml, quantity, state) | mujoco_(xml, quantity, state)
    if quantity == "RNEA" and name == "6-axis":
        found |= jax_kernel(model, state[:3])
    return found


def ours(model: RobotModel, quantity: str, state: np.ndarray) -> dict[str, Function]:
    """The textbook functions, and the kernels of two backends."""
    q, qd, qdd, effort = state
    outputs, inputs = QUANTITIES[quantity]
    arrays = [{"q": q, "qd": qd, "qdd": qdd, "tau": effort}[name] for name in inputs]
    lists = [values.tolist() for values in arrays]
    textbook = {
        "RNEA": lambda: dynamics.rnea(model, q, qd, qdd),
        "mass matrix": lambda: dynamics.mass_matrix(model, q),
        "forward dynamics": lambda: dynamics.forward_dynamics(model, q, qd, effort),
        "Jacobian": lambda: dynamics.jacobian(model, q),
        "regressor": lambda: dynamics.regressor(model, q, qd, qdd),
        "derivatives": lambda: dynamics.rnea_derivatives(model, q, qd, qdd),
    }
    kernels = {
        "ours: c": _bound(compile_kernel(model, outputs, "c", inputs), arrays),
        "ours: python": _bound(compile_kernel(model, outputs, "python", inputs), lists),
    }
    return kernels | ({"ours: textbook": textbook[quantity]} if quantity in textbook else {})


def _bound(kernel: Kernel, arguments: Sequence[object]) -> Function:
    """The call as a user writes it."""
    if len(arguments) == 1:
        (q,) = arguments
        return lambda: kernel(q)
    q, qd, last = arguments
    return lambda: kernel(q, qd, last)


def pinocchio(xml: str, quantity: str, state: np.ndarray) -> dict[str, Function]:
    """Pinocchio's Python binding; its joints are in the order of their names, which the robots here keep to."""
    q, qd, qdd, effort = state
    model = pin.buildModelFromXML(xml)
    data = model.createData()
    tip = model.njoints - 1

    def fused() -> None:
        pin.rnea(model, data, q, qd, qdd)  # tau, and the joint wrenches in data.f
        pin.computeGeneralizedGravity(model, data, q)
        pin.nonLinearEffects(model, data, q, qd)
        pin.crba(model, data, q) @ qd

    table: dict[str, Function] = {
        "RNEA": lambda: pin.rnea(model, data, q, qd, qdd),
        "fused tick": fused,
        "mass matrix": lambda: pin.crba(model, data, q),
        "forward dynamics": lambda: pin.aba(model, data, q, qd, effort),
        "Jacobian": lambda: pin.computeJointJacobian(model, data, q, tip),
        "regressor": lambda: pin.computeJointTorqueRegressor(model, data, q, qd, qdd),
        "derivatives": lambda: pin.computeRNEADerivatives(model, data, q, qd, qdd),
    }
    return {"Pinocchio": table[quantity]}


def mujoco_(xml: str, quantity: str, state: np.ndarray) -> dict[str, Function]:
    """MuJoCo's Python binding, with the state written before each call as a user does."""
    q, qd, qdd, effort = state
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)

    def inverse() -> object:
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse

    def forward() -> object:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, effort
        mujoco.mj_forward(model, data)
        return data.qacc

    table: dict[str, Function] = {"RNEA": inverse, "forward dynamics": forward}
    return {"MuJoCo": table[quantity]} if quantity in table else {}


def jax_kernel(model: RobotModel, motion: np.ndarray) -> dict[str, Function]:
    """Our kernel of backend jax, jitted, in float64: of one state or a batch, (q, qd, qdd) of shape (3, ..., n)."""
    kernel = compile_kernel(model, ("tau",), "jax", MOTION)
    call = jax.jit(lambda q, qd, qdd: kernel(q, qd, qdd)[0])
    q, qd, qdd = motion if motion.ndim == 2 else jnp.asarray(motion)
    return {"ours: jax": lambda: call(q, qd, qdd).block_until_ready()}
