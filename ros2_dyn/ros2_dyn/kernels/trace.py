"""Run the algorithms of `ros2_dyn.dynamics` once on symbols, for one robot, and keep what they computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ros2_dyn import dynamics
from ros2_dyn.errors import InputError
from ros2_dyn.kernels.symbol import Symbol, Tape
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


class Inputs(NamedTuple):
    """What a kernel is called with: joint vectors (n,) in SI units, and gravity (3,) in the base frame.

    The effort is what forward dynamics starts from.
    """

    q: Array
    qd: Array
    qdd: Array
    effort: Array
    gravity: Array


OUTPUTS: dict[str, Callable[[RobotModel, Inputs], Array]] = {
    "tau": lambda model, x: dynamics.rnea(model, x.q, x.qd, x.qdd, x.gravity),
    "gravity": lambda model, x: dynamics.gravity(model, x.q, x.gravity),
    "coriolis": lambda model, x: dynamics.coriolis(model, x.q, x.qd),
    "bias": lambda model, x: dynamics.rnea(model, x.q, x.qd, np.zeros(model.n), x.gravity),  # h = c + g
    "mass_matrix": lambda model, x: dynamics.mass_matrix(model, x.q),
    "coriolis_matrix": lambda model, x: dynamics.coriolis_matrix(model, x.q, x.qd),
    "qdd": lambda model, x: dynamics.forward_dynamics(model, x.q, x.qd, x.effort, x.gravity),
    "momentum": lambda model, x: dynamics.momentum(model, x.q, x.qd),
    "joint_wrenches": lambda model, x: dynamics.joint_wrenches(model, x.q, x.qd, x.qdd, x.gravity),
    "jacobian": lambda model, x: dynamics.jacobian(model, x.q),  # of the default tip
    "regressor": lambda model, x: dynamics.regressor(model, x.q, x.qd, x.qdd, x.gravity),
}
"""What a kernel can compute, by name."""


@dataclass(frozen=True)
class Program:
    """A straight-line program: inputs, and outputs made of symbols that lead back to them."""

    inputs: Inputs
    outputs: dict[str, Array]

    def values(self) -> list[Symbol]:
        """The symbols that the outputs need, each after those that it is computed from."""
        needed: dict[int, Symbol] = {}
        pending = [value for output in self.outputs.values() for value in output.flat]
        while pending:
            value = pending.pop()
            if isinstance(value, Symbol) and value.index not in needed:
                needed[value.index] = value
                pending.extend(value.args)
        return [needed[index] for index in sorted(needed)]


def trace(model: RobotModel, outputs: Sequence[str]) -> Program:
    """Trace the named outputs into one program, so that they share what they have in common.

    Raises:
        InputError: an output is unknown.
    """
    unknown = [name for name in outputs if name not in OUTPUTS]
    if unknown or not outputs:
        raise InputError("outputs", f"expected some of {', '.join(OUTPUTS)}; got {', '.join(unknown) or 'none'}")
    tape = Tape()

    def inputs(name: str, size: int) -> Array:
        return np.array([tape.symbol("input", f"{name}{i}") for i in range(size)], dtype=object)

    x = Inputs(*(inputs(name, 3 if name == "gravity" else model.n) for name in Inputs._fields))
    return Program(x, {name: np.asarray(OUTPUTS[name](model, x), dtype=object) for name in outputs})
