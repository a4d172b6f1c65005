# SPDX-License-Identifier: Apache-2.0
"""Compile C source into an extension module of Python, with the system's compiler.

The environment variables CC and CFLAGS are the user's, as in other builds. What is compiled by default runs on any
processor of its kind; ``CFLAGS=-march=native`` compiles for this one.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

import numpy as np

from ros2_dyn.errors import InputError

COMPILERS = ("cc", "gcc", "clang")
FLAGS = (*("-std=gnu99", "-fPIC", "-shared", "-w"), *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"))
"""Without contraction and errno: the same numbers as Python's, and sine and cosine in one."""
MAX_OPTIMISED = 20_000
"""Lines above which the compiler optimises less: its time grows faster than they do."""


def why_no_c() -> str:
    """Return why C cannot be compiled here, and what to do; empty where it can."""
    if not compiler():
        return f"no C compiler is here ({', '.join(COMPILERS)}, or $CC); install gcc or clang"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python.h is not here; install Python's headers (python3-dev)"
    return ""


def compiler() -> tuple[str, ...]:
    """Return the command of the C compiler; empty where there is none."""
    return _compiler(os.environ.get("CC", ""))


@lru_cache(maxsize=8)
def _compiler(chosen: str) -> tuple[str, ...]:
    for command in [shlex.split(chosen)] if chosen else [[name] for name in COMPILERS]:
        if path := shutil.which(command[0]):
            return path, *command[1:]
    return ()


@lru_cache(maxsize=8)
def _version(command: tuple[str, ...]) -> str:
    return subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout


def arguments(lines: int) -> list[str]:
    """Return the compiler's arguments for a number of lines, without its files."""
    flags = [*FLAGS, "-O2" if lines <= MAX_OPTIMISED else "-O1"]
    flags += shlex.split(os.environ.get("CFLAGS", ""))
    if sys.platform == "darwin":
        flags += ["-undefined", "dynamic_lookup"]
    return [*flags, f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]


def conditions(lines: int) -> str:
    """Return all that the machine code depends on beside the source."""
    interpreter = sysconfig.get_config_var("SOABI") or sys.version
    return "\n".join([*arguments(lines), interpreter, np.__version__, _version(compiler())])


def compile_c(source: Path, library: Path) -> None:
    """Compile a file.

    Raises:
        InputError: the compiler refuses it; the message has the compiler's first complaint.
    """
    lines = source.read_text(encoding="utf-8").count("\n")
    command = [*compiler(), *arguments(lines), str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "error" in line.lower()] or done.stderr.splitlines()
        raise InputError("backend", f"{command[0]} failed with status {done.returncode}: {(said or ['?'])[0].strip()}")
