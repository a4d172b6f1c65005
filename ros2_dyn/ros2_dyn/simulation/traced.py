# SPDX-License-Identifier: Apache-2.0
"""Functions of the simulation that are traced once per robot, as the kernels of the library are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ros2_dyn.kernels.compile_aside import scalar_backend
from ros2_dyn.kernels.kernel import compile_program
from ros2_dyn.kernels.symbol import Record
from ros2_dyn.kernels.trace import Program
from ros2_dyn.model.spatial import Array


def input_symbols(sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return arrays of symbols, one for each input, from the sizes of the inputs."""
    record = Record()
    return {
        name: np.array([record.symbol("input", f"{name}{i}") for i in range(size)], dtype=object)
        for name, size in sizes.items()
    }


def traced_function(inputs: Mapping[str, Array], outputs: Mapping[str, Array]) -> Any:
    """Return a function of sequences of floats that returns the outputs as nested tuples of floats.

    Nothing can be traced any more with these inputs.

    Args:
        inputs: symbols from `input_symbols`, in the order of the arguments.
        outputs: arrays of symbols and numbers, in the order of the results.
    """
    next(iter(inputs.values()))[0].record.close()
    defaults = {name: np.zeros(len(symbols)) for name, symbols in inputs.items()}
    return compile_program(Program(dict(inputs), defaults, dict(outputs)), scalar_backend()).function
