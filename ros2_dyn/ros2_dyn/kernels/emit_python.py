# SPDX-License-Identifier: Apache-2.0
"""Emit a traced program as a Python function of floats or of arrays."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from ros2_dyn.kernels.function_body import FunctionBody
from ros2_dyn.kernels.symbol import FUNCTIONS, Operand
from ros2_dyn.kernels.trace import Program

TEMPLATE = """\
from {module} import {functions}


def kernel({arguments}):
{body}
    return ({results},)
"""


def emit_python(program: Program, module: str) -> str:
    """Return the source of a function from the program's inputs, each a sequence, to its outputs as nested tuples.

    Args:
        program: the program.
        module: source of sin, cos and the like: ``math`` for floats, ``numpy`` for arrays.
    """
    body = FunctionBody(program)
    unpacking = [f"{', '.join(names)}, = {name}" for name, names in body.inputs.items()]
    return TEMPLATE.format(
        module=module,
        functions=", ".join(FUNCTIONS),
        arguments=", ".join(program.inputs),
        body=indent("\n".join([*unpacking, *body.lines]), "    "),
        results=", ".join(_nested(body, output.tolist()) for output in program.outputs.values()),
    )


def _nested(body: FunctionBody, output: list[Any] | Operand) -> str:
    if not isinstance(output, list):
        return body.operand(output)
    return "(" + "".join(f"{_nested(body, part)}, " for part in output) + ")"
