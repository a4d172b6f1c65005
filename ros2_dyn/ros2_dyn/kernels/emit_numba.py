"""Emit a traced program as functions that Numba compiles, for one state and for batches."""

from __future__ import annotations

from textwrap import indent

from ros2_dyn.kernels.function_body import FunctionBody
from ros2_dyn.kernels.trace import Program

TEMPLATE = """\
from math import isfinite

import numba

from ros2_dyn.kernels.llvm import LEAN, cos, exp, sin, straight_line, tanh

INPUTS = {inputs}


def program({arguments}):
{body}


kernel = straight_line(program)


@numba.njit(({types},), cache=True, **LEAN)
def single({arguments}):
    if {wrong} or not isfinite({total}):
        raise ValueError("wrong shape, or not finite")
    kernel({arguments})


@numba.njit(cache=True)
def batch({arguments}):
    for i in range({first}.shape[0]):
        kernel({rows})
"""


def emit_numba(program: Program) -> str:
    """Return the source of a module with INPUTS, the names of the used inputs, and two functions.

    `single` takes those inputs as arrays (k,), and one array to fill for each output. `batch` takes the same with a
    leading axis.
    """
    body = FunctionBody(program)
    outputs = {f"out{i}": output for i, output in enumerate(program.outputs.values())}
    read = [f"{symbol} = {name}[{i}]" for name, symbols in body.inputs.items() for i, symbol in enumerate(symbols)]
    write = [
        f"{name}[{i}] = {body.operand(value)}"
        for name, output in outputs.items()
        for i, value in enumerate(output.flat)
    ]
    arguments = [*body.inputs, *outputs]
    dimensions = [1 for _ in body.inputs] + [output.ndim for output in outputs.values()]
    return TEMPLATE.format(
        inputs=list(body.inputs),
        arguments=", ".join(arguments),
        body=indent("\n".join([*read, *body.lines, *write]), "    "),
        types=", ".join(f"numba.float64[{':, ' * (ndim - 1)}::1]" for ndim in dimensions),
        wrong=" or ".join(f"{name}.shape[0] != {len(symbols)}" for name, symbols in body.inputs.items()),
        total=" + ".join(f"{name}.sum()" for name in body.inputs),
        first=arguments[0],
        rows=", ".join(f"{name}[i]" for name in arguments),
    )
