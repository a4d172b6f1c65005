# SPDX-License-Identifier: Apache-2.0
"""The same quantity from each library: functions of nothing, at one state, that are timed; and what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax_peers
import mujoco
import numpy as np
import pinocchio as pin
import roboticstoolbox as rtb
from textbook import Textbook

from ros2_dyn import dynamics
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.model import RobotModel

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
    if quantity == "RNEA":
        textbook = Textbook(model)
        found |= {"6x6 NumPy": lambda: textbook.rnea(*state[:3])}
    if quantity == "RNEA" and name == "6-axis":
        found |= toolbox(model, state) | jax_peers.functions(xml, state[:3])
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


def toolbox(model: RobotModel, state: np.ndarray) -> dict[str, Function]:
    """Robotics Toolbox: its C code, which takes a DH table; that of the six-axis arm, as published."""
    q, qd, qdd, _ = state
    half = np.pi / 2
    table = [
        (0, half, 0.089159),
        (-0.425, 0, 0),
        (-0.39225, 0, 0),
        (0, half, 0.10915),
        (0, -half, 0.09465),
        (0, 0, 0.0823),
    ]
    links = []
    for (a, alpha, d), body in zip(table, model.inertia):
        c, s = np.cos(alpha), np.sin(alpha)
        R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])  # of the table's frame, which lies at the link's far end
        com = R.T @ (body.com - [a, 0, 0])
        links.append(
            rtb.RevoluteDH(a=a, alpha=alpha, d=d, m=float(body.mass), r=com, I=R.T @ body.I_com @ R, Jm=0, B=0)
        )
    robot = rtb.DHRobot(links, gravity=[0, 0, -9.81])
    return {"Robotics Toolbox (C)": lambda: robot.rne(q, qd, qdd)}
