# SPDX-License-Identifier: Apache-2.0
"""Emit a traced program as C99, and as the source of a Python extension module that evaluates it."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

from ros2_dyn.kernels.function_body import FunctionBody
from ros2_dyn.kernels.symbol import FUNCTIONS
from ros2_dyn.kernels.trace import Program
from ros2_dyn.model.spatial import Array

FOLDER = Path(__file__).parent
MAX_SIDE_BY_SIDE = 3_000
"""Assignments above which batches are computed one state at a time: the compiler would take longer than it saves."""
MAX_LANE_NUMBERS = 2_000
"""Numbers of inputs and outputs above which they are: those of several states would not fit the stack."""
MAX_LINES = 500
"""Lines of a function: a compiler's time grows faster than they do, so that a longer program is several functions."""
PROGRAM = """\
static void {name}(const {number} *const *in, {number} *const *out)
{{
{body}
}}
"""
PART = """\
static __attribute__((noinline)) void {name}(const {number} *const *in, {number} *const *out, {number} *restrict t)
{{
{body}
}}
"""
MODULE = """\
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <math.h>
#include <stddef.h>

{programs}
enum {{ ARGUMENTS = {arguments}, INPUTS = {inputs}, OUTPUTS = {outputs} }};
enum {{ INPUT_TOTAL = {input_total}, OUTPUT_TOTAL = {output_total} }};
static const char *const argument_names[] = {{{argument_names}}};
static const int input_argument[] = {{{input_argument}}};
static const npy_intp input_size[] = {{{input_size}}};
static const int output_ndim[] = {{{output_ndim}}};
static const npy_intp output_shape[][{max_ndim}] = {{{output_shape}}};
static const npy_intp output_size[] = {{{output_size}}};

{glue}"""


def emit_program(program: Program, body: FunctionBody, name: str, lanes: bool = False) -> str:
    """Return the source of a function of pointers to the used inputs, and to the outputs.

    Args:
        program: the program.
        body: its body.
        name: the name of the function.
        lanes: whether each number is of several states side by side, see ``lanes.h``.
    """
    number = "lanes" if lanes else "double"
    writes = _writes(program, body, lanes)
    if len(body.lines) > MAX_LINES:
        return _emit_parts([f"{line};" for line in body.lines] + writes, body, name, number)
    lines = [*_reads(body, number, body.used), *(f"const {number} {line};" for line in body.lines), *writes]
    return PROGRAM.format(name=name, number=number, body=indent("\n".join(lines), "    "))


def _reads(body: FunctionBody, number: str, used: set[str]) -> list[str]:
    return [
        f"const {number} {symbol} = in[{i}][{k}];"
        for i, symbols in enumerate(body.inputs.values())
        for k, symbol in enumerate(symbols)
        if symbol in used
    ]


def _writes(program: Program, body: FunctionBody, lanes: bool) -> list[str]:
    """Return the assignments of the outputs; one that is mostly zero is filled with it first."""
    zero, lines = " + (lanes){0}" if lanes else "", []
    for i, output in enumerate(program.outputs.values()):
        values = [body.operand(value) for value in output.flat]
        sparse = 2 * values.count("0.0") > len(values)
        if sparse:
            lines.append(f"for (int k = 0; k < {len(values)}; k++) out[{i}][k] = 0.0{zero};")
        lines += [
            f"out[{i}][{k}] = {value}{zero};" for k, value in enumerate(values) if not (sparse and value == "0.0")
        ]
    return lines


def _emit_parts(lines: list[str], body: FunctionBody, name: str, number: str) -> str:
    """Return a function that calls others, each with a part of the lines; what they compute is in one array."""
    parts: list[str] = []
    for begin in range(0, len(lines), MAX_LINES):
        text = "\n".join(lines[begin : begin + MAX_LINES])
        reads = _reads(body, number, set(re.findall(r"\w+", text)))
        text = "\n".join([*reads, re.sub(r"\bt(\d+)\b", r"t[\1]", text)])
        parts.append(PART.format(name=f"{name}_{len(parts)}", number=number, body=indent(text, "    ")))
    calls = [f"{number} t[{body.names + 1}];", *(f"{name}_{i}(in, out, t);" for i in range(len(parts)))]
    whole = PROGRAM.format(name=name, number=number, body=indent("\n".join(calls), "    "))
    return "\n".join([*parts, whole])


def emit_module(program: Program) -> str:
    """Return the source of an extension module, see ``kernel_module.c``."""
    body = c_body(program)
    outputs = list(program.outputs.values())
    inputs = {name: len(symbols) for name, symbols in body.inputs.items()}
    sizes = [output.size for output in outputs]
    programs = [emit_program(program, body, "program")]
    if len(body.lines) <= MAX_SIDE_BY_SIDE and sum(inputs.values()) + sum(sizes) <= MAX_LANE_NUMBERS:
        beside = c_body(program, "_of_lanes")
        programs += [(FOLDER / "lanes.h").read_text(encoding="utf-8")]
        programs += [emit_program(program, beside, "program_lanes", lanes=True)]
    else:
        programs += ["#define LANES 1\n"]
    names = list(program.inputs)
    return MODULE.format(
        programs="\n".join(programs),
        arguments=len(names),
        inputs=len(inputs),
        outputs=len(outputs),
        input_total=sum(inputs.values()),
        output_total=sum(sizes),
        argument_names=", ".join(f'"{name}"' for name in names),
        input_argument=", ".join(str(names.index(name)) for name in inputs),
        input_size=", ".join(map(str, inputs.values())),
        output_ndim=", ".join(str(output.ndim) for output in outputs),
        max_ndim=max(1, *(output.ndim for output in outputs)) if len(outputs) > 1 else max(1, outputs[0].ndim),
        output_shape=", ".join(_shape(output) for output in outputs),
        output_size=", ".join(map(str, sizes)),
        glue=(FOLDER / "kernel_module.c").read_text(encoding="utf-8"),
    )


def c_body(program: Program, suffix: str = "") -> FunctionBody:
    """Return the body for a C compiler, which chooses registers itself; a suffix of the functions that it calls.

    The names of a program of several functions are used again, so that their array is small.
    """
    return FunctionBody(program, max_names=MAX_LINES, functions={name: name + suffix for name in FUNCTIONS})


def _shape(output: Array) -> str:
    return "{" + (", ".join(map(str, output.shape)) or "1") + "}"
