# SPDX-License-Identifier: Apache-2.0
"""The headers of ros2_dyn_controllers, compiled by the system's C++ compiler, and called from Python."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np

TEST = Path(__file__).parents[1]
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
POINTER = ctypes.POINTER(ctypes.c_double)


def compiler():
    """Return the command of the C++ compiler; empty where there is none."""
    command = shlex.split(os.environ.get("CXX", "")) or [shutil.which("c++") or shutil.which("g++") or ""]
    return [part for part in command if part]


def build(source, target, *flags):
    """Compile a file of this folder, as strictly as can be."""
    command = [*compiler(), "-std=c++17", *WARNINGS, f"-I{TEST.parent / 'include'}", *flags, str(TEST / source)]
    subprocess.run([*command, "-o", str(target)], check=True)
    return target


class CompiledTape:
    """A tape in C++."""

    def __init__(self, library, data):
        """Load it; a ValueError says why it is refused."""
        self._library = library
        why = ctypes.create_string_buffer(200)
        library.tape_load.restype = ctypes.c_void_p
        self._tape = ctypes.c_void_p(library.tape_load(data, ctypes.c_size_t(len(data)), why))
        if not self._tape:
            raise ValueError(why.value.decode())

    def __del__(self):
        self._library.tape_free(self._tape)

    def evaluate(self, shapes, **inputs):
        """Return outputs of known shapes by name."""
        for name, value in inputs.items():
            self._numbers("tape_input", name, value.size)[:] = value
        self._library.tape_evaluate(self._tape)
        sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
        found = {name: self._numbers("tape_output", name, size) for name, size in sizes.items()}
        return {name: numbers.reshape(shapes[name]).copy() for name, numbers in found.items()}

    def _numbers(self, function, name, size):
        find = getattr(self._library, function)
        find.restype = POINTER
        place = find(self._tape, name.encode(), ctypes.c_size_t(size))
        if not place:
            raise KeyError(name)
        return np.ctypeslib.as_array(place, (size,))
