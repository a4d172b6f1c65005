# SPDX-License-Identifier: Apache-2.0
"""Turning source into code without holding the interpreter: Python's compiler does not let other threads run."""

from __future__ import annotations

import marshal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Literal

FILE_NAME = "<ros2_dyn kernel>"
COMPILER = f"""
import marshal, sys
source = sys.stdin.buffer.read().decode()
sys.stdout.buffer.write(marshal.dumps(compile(source, {FILE_NAME!r}, "exec")))
"""
"""What the other process runs."""
_aside: ContextVar[bool] = ContextVar("aside", default=False)


@contextmanager
def compiling_aside() -> Iterator[None]:
    """Compile kernels in a process of their own, in this thread: 20 ms more each, which hold nobody up.

    The compiler takes 10 to 100 ms for a kernel and keeps the interpreter for all of it. Tracing the kernel takes
    longer, but is Python code, which other threads interrupt.
    """
    token = _aside.set(True)
    try:
        yield
    finally:
        _aside.reset(token)


def compiles_aside() -> bool:
    """Return whether kernels are compiled in a process of their own, in this thread, so that there is time."""
    return _aside.get()


def scalar_backend() -> Literal["scalar", "python"]:
    """Return the backend for sequences of floats that there is time for: compiling C takes a second.

    Both compute the same numbers, and C takes a thirtieth of the time to run.
    """
    return "scalar" if compiles_aside() else "python"


def compile_source(source: str) -> CodeType:
    """Return the code of a module."""
    if _aside.get():
        command = [sys.executable, "-I", "-S", "-c", COMPILER]
        try:
            done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
        except OSError:  # it cannot be forked
            done = None
        if done is not None and done.returncode == 0:
            code = marshal.loads(done.stdout)
            assert isinstance(code, CodeType)
            return code
    return compile(source, FILE_NAME, "exec")
