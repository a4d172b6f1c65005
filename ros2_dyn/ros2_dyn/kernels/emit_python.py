"""Write a traced program as a Python function, of floats or of whole arrays."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from ros2_dyn.kernels.body import Body
from ros2_dyn.kernels.symbol import Operand
from ros2_dyn.kernels.trace import Inputs, Program

TEMPLATE = """\
from {module} import cos, sin


def kernel({arguments}):
{body}
    return ({results},)
"""


def emit_python(program: Program, module: str) -> str:
    """A function of all inputs, each a sequence of numbers, that returns the outputs as nested tuples.

    Args:
        program: what to compute.
        module: where sin and cos come from: ``math`` for floats, ``numpy`` for arrays.
    """
    body = Body(program)
    unpacking = [f"{', '.join(names)}, = {name}" for name, names in body.inputs.items()]
    return TEMPLATE.format(
        module=module,
        arguments=", ".join(Inputs._fields),
        body=indent("\n".join([*unpacking, *body.lines]), "    "),
        results=", ".join(_nested(body, output.tolist()) for output in program.outputs.values()),
    )


def _nested(body: Body, output: list[Any] | Operand) -> str:
    if not isinstance(output, list):
        return body.operand(output)
    return "(" + "".join(f"{_nested(body, part)}, " for part in output) + ")"
