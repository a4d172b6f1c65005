"""Write a traced program as functions that Numba compiles, for one state and for batches."""

from __future__ import annotations

from textwrap import indent

import numpy as np

from ros2_dyn.kernels.body import Body
from ros2_dyn.kernels.trace import Program

TEMPLATE = """\
import numba
from math import cos, isfinite, sin
from numpy import empty

INPUTS = {inputs}


@numba.njit(cache=True, error_model="numpy")
def kernel({arguments}, {results}):
{body}


@numba.njit(({vectors},), cache=True, error_model="numpy")
def single({arguments}):
    if {wrong}:
        raise ValueError("wrong shape, or not finite")
{allocate_one}
    kernel({arguments}, {results})
    return ({results},)


@numba.njit(({rows},), cache=True, error_model="numpy")
def batch({arguments}):
    m = {first}.shape[0]
{allocate_many}
    for i in range(m):
        kernel({row_arguments}, {row_results})
    return ({results},)
"""


def emit_numba(program: Program) -> str:
    """A module: ``INPUTS``, names of the inputs used; `single` of arrays (k,) of those; `batch` of arrays (m, k)."""
    body = Body(program)
    outputs = {f"out{i}": output for i, output in enumerate(program.outputs.values())}
    shapes = {name: "".join(f"{size}, " for size in output.shape) for name, output in outputs.items()}
    read = [f"{symbol} = {name}[{i}]" for name, symbols in body.inputs.items() for i, symbol in enumerate(symbols)]
    write = [
        f"{name}[{', '.join(map(str, index))}] = {body.operand(value)}"
        for name, output in outputs.items()
        for index, value in np.ndenumerate(output)
    ]
    return TEMPLATE.format(
        inputs=list(body.inputs),
        arguments=", ".join(body.inputs),
        results=", ".join(outputs),
        body=indent("\n".join([*read, *body.lines, *write]), "    "),
        vectors=", ".join("numba.float64[::1]" for _ in body.inputs),
        rows=", ".join("numba.float64[:, ::1]" for _ in body.inputs),
        wrong=" or ".join(
            f"{name}.shape[0] != {len(symbols)} or not isfinite({name}.sum())" for name, symbols in body.inputs.items()
        ),
        allocate_one="\n".join(f"    {name} = empty(({shape}))" for name, shape in shapes.items()),
        allocate_many="\n".join(f"    {name} = empty((m, {shape}))" for name, shape in shapes.items()),
        first=next(iter(body.inputs)),
        row_arguments=", ".join(f"{name}[i]" for name in body.inputs),
        row_results=", ".join(f"{name}[i]" for name in outputs),
    )
