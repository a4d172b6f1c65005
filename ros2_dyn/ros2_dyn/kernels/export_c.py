# SPDX-License-Identifier: Apache-2.0
"""A robot's dynamics as C99 that needs nothing but libm: for a controller in C or C++."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import printable
from ros2_dyn.kernels.emit_c import c_body, emit_program
from ros2_dyn.kernels.symbol import FUNCTIONS
from ros2_dyn.kernels.trace import Program, trace
from ros2_dyn.model import RobotModel

CALLER_INPUTS = ("q", "qd", "qdd", "tau")
"""Inputs that the function takes by default, where its outputs need them."""
UNITS = {
    "q": "joint positions, rad or m",
    "qd": "joint velocities, rad/s or m/s",
    "qdd": "joint accelerations, rad/s^2 or m/s^2",
    "tau": "joint efforts, N m or N",
    "gravity": "acceleration of free fall in the base frame, m/s^2",
    "payload": "inertial parameters of the payload of the link: m, m c, I at the link's origin",
    "wrench": "[force; moment] of the surroundings on the link, N and N m",
}
HEADER = """\
/* {about}

   Robot {robot}, hash {hash}. Numbers are in SI units, arrays row by row.
   Joints: {joints}.
   Link of poses, Jacobians, payload and wrench: {link}.

   It allocates nothing, keeps no state, calls nothing but libm's {functions}, and has neither loops nor branches: each
   call takes the same {operations} operations. */
#ifndef {guard}
#define {guard}

#define {prefix}_JOINTS {n}
#define {prefix}_HASH "{hash}"

#ifdef __cplusplus
extern "C" {{
#endif

/* Inputs:
{inputs}
   Outputs:
{outputs} */
void {name}({arguments});

#ifdef __cplusplus
}}
#endif

#endif
"""
SOURCE = """\
#include "{name}.h"

#include <math.h>

{program}
void {name}({arguments})
{{
    const double *const in[] = {{{inputs}}};
    double *const out[] = {{{outputs}}};
{unused}    program(in, out);
}}
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project({name} C CXX)

add_library({name} STATIC {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_compile_options({name} PRIVATE -O2)
set_target_properties({name} PROPERTIES C_STANDARD 99 POSITION_INDEPENDENT_CODE ON)
target_link_libraries({name} PUBLIC m)

add_executable(example example.cpp)
target_link_libraries(example PRIVATE {name})
"""
EXAMPLE = """\
// As in the update() of a ros2_control controller: read the state interfaces, compute, write the command interfaces.
#include <cstdio>

#include "{name}.h"

int main()
{{
  {declarations}
  {call}
  for (double value : {first}) std::printf("%.17g\\n", value);
}}
"""


def export_c(
    model: RobotModel,
    folder: Path,
    outputs: Sequence[str] = ("tau", "gravity"),
    inputs: Sequence[str] | None = None,
    link: str | None = None,
    *,
    gravity: Sequence[float] = STANDARD_GRAVITY,
) -> list[Path]:
    """Write ``NAME_dynamics.h`` and ``.c``, ``CMakeLists.txt`` and ``example.cpp`` into a folder; return their paths.

    Args:
        model: the robot.
        folder: it is made where it is not there.
        outputs: as for `compile_kernel`.
        inputs: the same; None: those of `CALLER_INPUTS` that the outputs need.
        link: link of the payload, the wrench, the pose and the Jacobians; `model.default_tip` for None.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,), where it is no input.

    Raises:
        InputError: an output, an input or the link is unknown.
    """
    if inputs is None:
        inputs = tuple(c_body(trace(model, outputs, CALLER_INPUTS, link, gravity)).inputs)
    program = trace(model, outputs, inputs, link, gravity)
    name = f"{identifier(model.name)}_dynamics"
    body = c_body(program)
    code = emit_program(program, body, "program")
    digest = hashlib.sha256(code.encode()).hexdigest()[:16]
    arguments = ", ".join(
        [f"const double {each}[{len(symbols)}]" for each, symbols in program.inputs.items()]
        + [f"double out_{each}[{output.size}]" for each, output in program.outputs.items()]
    )
    unused = "".join(f"    (void){each};\n" for each in program.inputs if each not in body.inputs)
    calls = sorted({value.op for value in program.values()}.intersection(FUNCTIONS))
    header = HEADER.format(
        about=f"{', '.join(outputs)} of the robot '{comment_text(model.name)}', by ros2_dyn.",
        robot=f"'{comment_text(model.name)}'",
        hash=digest,
        joints=", ".join(f"{i} {comment_text(joint)}" for i, joint in enumerate(model.joint_names)),
        link=comment_text(link or model.default_tip),
        functions=" and ".join(calls) or "nothing",
        operations=operations(program),
        guard=f"{name.upper()}_H",
        prefix=name.upper(),
        n=model.n,
        inputs="\n".join(f"   {each}: {UNITS[each]}, [{len(x)}]" for each, x in program.inputs.items()),
        outputs="\n".join(f"   out_{each}: {list(output.shape)}" for each, output in program.outputs.items()),
        name=name,
        arguments=arguments,
    )
    source = SOURCE.format(
        name=name,
        program=code,
        arguments=arguments,
        inputs=", ".join(body.inputs),
        outputs=", ".join(f"out_{each}" for each in program.outputs),
        unused=unused,
    )
    return _write(folder, name, header, source, _example(program, name))


def operations(program: Program) -> int:
    """Return the number of additions, multiplications, divisions and calls of a program."""
    return sum(value.op not in ("input", "neg") for value in program.values())


def identifier(name: str) -> str:
    """Return a name as a C identifier in lower case."""
    text = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()
    return text if text[:1].isalpha() else f"robot_{text}".rstrip("_")


def comment_text(name: str) -> str:
    """Return a name as it can stand in a comment of C: on one line, without characters that begin or end a comment."""
    return re.sub(r"\*(?=/)|/(?=\*)", r"\g<0> ", printable(name))


def _example(program: Program, name: str) -> str:
    arrays = [f"double {each}[{len(x)}] = {{}};" for each, x in program.inputs.items()]
    arrays += [f"double out_{each}[{output.size}];" for each, output in program.outputs.items()]
    call = ", ".join([*program.inputs, *(f"out_{each}" for each in program.outputs)])
    first = f"out_{next(iter(program.outputs))}"
    return EXAMPLE.format(name=name, declarations="\n  ".join(arrays), call=f"{name}({call});", first=first)


def _write(folder: Path, name: str, header: str, source: str, example: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        f"{name}.h": header,
        f"{name}.c": source,
        "CMakeLists.txt": CMAKE.format(name=name),
        "example.cpp": example,
    }
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in files]
