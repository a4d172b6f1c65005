# SPDX-License-Identifier: Apache-2.0
"""Trace the algorithms of `ros2_dyn.dynamics`: run them once on symbols, for one robot, and keep the operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ros2_dyn import dynamics
from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.kernels.symbol import Record, Symbol
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array


class Inputs(NamedTuple):
    """Possible inputs of a kernel, in SI units and the model's order."""

    q: Array
    """Joint positions, shape (nq,)."""
    qd: Array
    """Joint velocities, shape (n,)."""
    qdd: Array
    """Joint accelerations, shape (n,)."""
    tau: Array
    """Joint efforts of forward dynamics, shape (n,)."""
    gravity: Array
    """Acceleration of free fall in the base frame, m/s^2, shape (3,)."""
    payload: Array
    """Inertial parameters of the payload of the kernel's link, shape (10,): `Payload.parameters`."""
    wrench: Array
    """[force; moment] of the surroundings on the kernel's link, at its origin and in its axes, shape (6,)."""


class TraceContext(NamedTuple):
    """Arguments of the outputs' functions."""

    model: RobotModel
    """Robot with its payload."""
    link: str
    """Link of the pose, the Jacobians and the wrench."""
    x: Inputs
    """Inputs, each of symbols or a constant."""

    def rnea(self) -> Array:
        """Return the efforts of inverse dynamics under the wrench."""
        return dynamics.rnea(self.model, self.x.q, self.x.qd, self.x.qdd, self.x.gravity, external=self.external)

    @property
    def external(self) -> dict[str, Array]:
        """Wrench in the form of the argument `external` of `dynamics.rnea`."""
        return {self.link: self.x.wrench}

    def friction(self) -> Array:
        """Return the efforts that overcome friction, apart from presliding, which depends on the motion before."""
        return dynamics.friction(self.model, self.x.qd, dynamics.carried_load(self.model, self.x.q, self.x.gravity))

    def derivatives(self) -> dynamics.RneaDerivatives:
        """Return the derivatives of those efforts."""
        return dynamics.rnea_derivatives(
            self.model, self.x.q, self.x.qd, self.x.qdd, self.x.gravity, external=self.external
        )


OUTPUTS: dict[str, Callable[[TraceContext], Array]] = {
    "tau": lambda c: c.rnea(),
    "gravity": lambda c: dynamics.gravity(c.model, c.x.q, c.x.gravity),
    "coriolis": lambda c: dynamics.coriolis(c.model, c.x.q, c.x.qd),
    "bias": lambda c: dynamics.rnea(c.model, c.x.q, c.x.qd, np.zeros(c.model.n), c.x.gravity),  # h = c + g
    "effort": lambda c: c.rnea() + c.friction() + dynamics.spring(c.model, c.x.q),
    "friction": lambda c: c.friction(),
    "spring": lambda c: dynamics.spring(c.model, c.x.q),
    "mass_matrix": lambda c: dynamics.mass_matrix(c.model, c.x.q),
    "coriolis_matrix": lambda c: dynamics.coriolis_matrix(c.model, c.x.q, c.x.qd),
    "qdd": lambda c: dynamics.forward_dynamics(c.model, c.x.q, c.x.qd, c.x.tau, c.x.gravity, external=c.external),
    "momentum": lambda c: dynamics.momentum(c.model, c.x.q, c.x.qd),
    "coriolis_transpose_qd": lambda c: dynamics.coriolis_transpose_qd(c.model, c.x.q, c.x.qd),
    "joint_wrenches": lambda c: dynamics.joint_wrenches(
        c.model, c.x.q, c.x.qd, c.x.qdd, c.x.gravity, external=c.external
    ),
    "pose": lambda c: dynamics.forward_kinematics(c.model, c.x.q, c.link),
    "jacobian": lambda c: dynamics.jacobian(c.model, c.x.q, c.link),
    "jacobian_dot": lambda c: dynamics.jacobian_dot(c.model, c.x.q, c.x.qd, c.link),
    "regressor": lambda c: dynamics.regressor(c.model, c.x.q, c.x.qd, c.x.qdd, c.x.gravity),
    "dtau_dq": lambda c: c.derivatives().dtau_dq,
    "dtau_dqd": lambda c: c.derivatives().dtau_dqd,
    "kinetic_energy": lambda c: dynamics.kinetic_energy(c.model, c.x.q, c.x.qd),
    "potential_energy": lambda c: dynamics.potential_energy(c.model, c.x.q, c.x.gravity),
}
"""Functions of the possible outputs, by name."""
BEYOND_EFFORTS = {"joint_wrenches", "potential_energy"}
"""Outputs that depend on more of the inertia than the joints feel."""


@dataclass(frozen=True)
class Program:
    """A straight-line program."""

    inputs: dict[str, Array]
    """Input symbols by the name of the input, each of shape (size,)."""
    defaults: dict[str, Array]
    """Values of inputs that are left out of a call."""
    outputs: dict[str, Array]
    """Arrays of symbols and numbers by the name of the output."""

    def values(self) -> list[Symbol]:
        """Return the symbols that the outputs need, each after its operands."""
        needed: dict[int, Symbol] = {}
        pending = [value for output in self.outputs.values() for value in output.flat]
        while pending:
            value = pending.pop()
            if isinstance(value, Symbol) and value.index not in needed:
                needed[value.index] = value
                pending.extend(value.args)
        return [needed[index] for index in sorted(needed)]


def trace(
    model: RobotModel,
    outputs: Sequence[str],
    inputs: Sequence[str],
    link: str | None = None,
    gravity: Sequence[float] = STANDARD_GRAVITY,
) -> Program:
    """Trace the named outputs into one program, so that they share common subexpressions.

    Inputs that are not named become constants of the program: `gravity`, neutral q, and zero for the others.
    Where only efforts and what follows from them is wanted, the robot is traced with its fewest inertial parameters.

    Raises:
        InputError: an output, an input or the link is unknown.
    """
    _check("outputs", outputs, tuple(OUTPUTS))
    _check("inputs", inputs, Inputs._fields)
    record = Record()
    zero = np.zeros(model.n)
    constants = Inputs(model.neutral, zero, zero, zero, np.array(gravity), np.zeros(10), np.zeros(6))
    defaults = {name: value for name, value in constants._asdict().items() if name in inputs}
    symbols = {
        name: np.array([record.symbol("input", f"{name}{i}") for i in range(len(value))], dtype=object)
        for name, value in defaults.items()
    }
    x = constants._replace(**symbols)
    link = model.default_tip if link is None else link
    if not BEYOND_EFFORTS.intersection(outputs):
        model = dynamics.regroup_inertia(model, None if "gravity" in inputs else gravity)
    carrying = model.with_body(link, SpatialInertia.from_parameters(x.payload))
    context = TraceContext(carrying, link, x)
    traced = {name: np.asarray(OUTPUTS[name](context), dtype=object) for name in outputs}
    record.close()
    return Program(symbols, defaults, traced)


def _check(argument: str, names: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(argument, f"expected some of {', '.join(known)}; got {', '.join(unknown) or 'none'}")
