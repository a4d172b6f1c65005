# SPDX-License-Identifier: Apache-2.0
"""Compile the algorithms for one robot: trace them once, and emit one fast function."""

from __future__ import annotations

import itertools
import math
import os
import warnings
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.kernels.cache import import_c
from ros2_dyn.kernels.compile_aside import compile_source
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.kernels.emit_c import emit_module
from ros2_dyn.kernels.emit_python import emit_python
from ros2_dyn.kernels.trace import Program, trace
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

Backend = Literal["auto", "scalar", "python", "numpy", "c", "jax"]
DEFAULT_INPUTS = ("q", "qd", "qdd", "tau", "gravity")
"""Inputs of a kernel by default."""
MIN_ROWS = 2500
"""Number of states that are worth a thread."""


class Kernel(Protocol):
    """Function made by `compile_kernel`: the named outputs of one robot in one fused evaluation.

    Call it with its inputs, in the order of `inputs` or by name. Inputs that are left out are zero, apart from q
    (neutral) and gravity ([0, 0, -9.81] m/s^2). It returns a tuple of the outputs in the order of `outputs`.
    """

    outputs: tuple[str, ...]
    """Names of the outputs."""
    inputs: tuple[str, ...]
    """Names of the inputs."""
    link: str
    """Link of the pose, the Jacobians, the payload and the wrench."""
    backend: str
    """Backend: python, numpy, c or jax."""
    source: str
    """Generated code."""

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Evaluate the outputs; see `compile_kernel` for the types of each backend."""


def compile_kernel(
    model: RobotModel,
    outputs: Sequence[str] = ("tau", "gravity", "coriolis"),
    backend: Backend = "auto",
    inputs: Sequence[str] = DEFAULT_INPUTS,
    *,
    link: str | None = None,
    threads: int | None = None,
) -> Kernel:
    """Trace and compile the named outputs for one robot.

    Args:
        model: the robot; its constants become part of the function.
        outputs: some of ``"tau"`` (inverse dynamics), ``"effort"`` (with friction and springs), ``"gravity"``,
            ``"coriolis"``, ``"bias"`` (Coriolis and gravity), ``"friction"``, ``"spring"``, ``"mass_matrix"``,
            ``"coriolis_matrix"``, ``"qdd"`` (forward dynamics under the input tau), ``"momentum"``,
            ``"coriolis_transpose_qd"``, ``"joint_wrenches"``, ``"regressor"``, ``"dtau_dq"``, ``"dtau_dqd"``,
            ``"kinetic_energy"``, ``"potential_energy"``, and of the link ``"pose"``, ``"jacobian"``,
            ``"jacobian_dot"``.
        backend: ``"python"`` takes sequences of finite floats, of which it checks the lengths only, and returns nested
            tuples of floats. ``"numpy"`` takes arrays (..., n), and returns arrays with the same leading axes.
            ``"c"`` is the same, by the system's C compiler, and fastest with contiguous arrays of float64. It is
            cached on disk. ``"jax"`` takes and returns JAX's arrays, on its device and with its precision (float32,
            unless ``jax_enable_x64``); it is compiled at the first call of each shape, and JAX's own grad, vmap and jit
            go through it. It does not look for numbers that are not finite. ``"auto"`` is c where a compiler and
            Python's headers are, numpy otherwise. ``"scalar"`` takes and returns what ``"python"`` does, with the same
            numbers: in C where that can be compiled here, in a thirtieth of the time. A compiler that fails is warned
            of.
        inputs: names of the inputs of each call, from the fields of `Inputs`. The others become constants, which makes
            the kernel faster and its source shorter. ``"payload"`` is carried by the link, and ``"wrench"`` acts on it.
        link: link of the payload, the wrench, the pose and the Jacobians; `model.default_tip` for None.
        threads: largest number of threads that the backend c uses for a batch of thousands; None: all processors.

    Raises:
        InputError: an output, an input, the link or the backend is unknown, or the backend is not installed.
    """
    if backend not in get_args(Backend):
        raise InputError("backend", f"expected one of {', '.join(get_args(Backend))}; got '{backend}'")
    program = trace(model, outputs, inputs, link)
    made = compile_program(program, backend, threads)
    about = {
        "outputs": tuple(outputs),
        "inputs": tuple(program.inputs),
        "link": link or model.default_tip,
        "backend": made.backend,
        "source": made.source,
        "__doc__": f"({', '.join(outputs)}) of the robot '{model.name}'.",
    }
    for name, value in about.items():  # on the function itself: a wrapper object would take a sixth more time
        setattr(made.function, name, value)
    return cast(Kernel, made.function)


class Compiled(NamedTuple):
    """What a program was compiled to."""

    backend: str
    """python, numpy, c or jax."""
    source: str
    """Generated code."""
    function: Callable[..., Any]
    """Function of the program's inputs."""


def compile_program(program: Program, backend: Backend, threads: int | None = None) -> Compiled:
    """Compile any traced program; see `compile_kernel`.

    Raises:
        InputError: the backend is not installed.
    """
    if backend == "scalar":
        return _scalar(program)
    if backend == "auto":
        backend = "numpy" if why_no_c() else "c"
    if backend == "c":
        return _c(program, threads or os.cpu_count() or 1)
    return {"python": _python, "numpy": _numpy, "jax": _jax}[backend](program)


def _python(program: Program) -> Compiled:
    source = emit_python(program, "math")
    kernel = _execute(source)
    kernel.__defaults__ = tuple(tuple(default.tolist()) for default in program.defaults.values())
    return Compiled("python", source, kernel)


def _numpy(program: Program) -> Compiled:
    source = emit_python(program, "numpy")
    kernel = _execute(source)
    shapes = [output.shape for output in program.outputs.values()]

    def evaluate(*inputs: Any) -> Any:
        arrays, batch = _as_arrays(program, inputs)
        results = kernel(*(np.moveaxis(x, -1, 0) for x in arrays))
        return tuple(_stack(np, result, batch, shape) for result, shape in zip(results, shapes))

    return Compiled("numpy", source, _with_signature(program, evaluate))


def _jax(program: Program) -> Compiled:
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        raise InputError("backend", f"jax is not installed ({error}): pip install jax") from None
    source = emit_python(program, "jax.numpy")
    kernel = _execute(source)
    shapes = [output.shape for output in program.outputs.values()]

    def evaluate(*inputs: Any) -> Any:
        arrays = [jnp.asarray(x, dtype=float) for x in inputs]
        _check_sizes(program, arrays)
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        results = kernel(*(jnp.moveaxis(x, -1, 0) for x in arrays))
        return tuple(_selected(jnp, result, batch, shape) for result, shape in zip(results, shapes))

    return Compiled("jax", source, _with_signature(program, jax.jit(evaluate)))


def _stack(np_: Any, result: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return an array (*batch, *shape) from nested tuples of numbers and arrays that broadcast to the batch."""
    if not shape:
        return np_.broadcast_to(result, batch)
    return np_.stack([_stack(np_, part, batch, shape[1:]) for part in result], axis=len(batch))


def _selected(jnp: Any, result: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return what `_stack` does. XLA computes a program anew for each part of a stack, and once for a selection."""
    if not shape:
        return jnp.broadcast_to(result, batch)
    axis = len(batch)
    first, *others = (jnp.expand_dims(_selected(jnp, part, batch, shape[1:]), axis) for part in result)
    number = jnp.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    for i, part in enumerate(others, 1):
        first = jnp.where(number == i, part, first)
    return jnp.broadcast_to(first, (*batch, *shape))


def _c(program: Program, threads: int) -> Compiled:
    source, module = _c_module(program)
    shapes = [output.shape for output in program.outputs.values()]

    def general(*inputs: Any) -> Any:
        """Evaluate arrays of any kind, with any leading axes."""
        arrays, batch = _as_arrays(program, inputs)
        m = math.prod(batch)
        rows = [_rows(arrays[i], batch, m) for i in module.used]
        results = [np.empty((m, *shape)) for shape in shapes]
        _in_threads(module.batch, [*rows, *results], min(threads, m // MIN_ROWS))
        return tuple(result.reshape(*batch, *shape) for result, shape in zip(results, shapes))

    return Compiled("c", source, module.make(tuple(program.defaults.values()), general, False))


def _rows(array: Array, batch: tuple[int, ...], m: int) -> Array:
    """Return an input of a batch as contiguous rows (m, size)."""
    rows = np.broadcast_to(array, (*batch, array.shape[-1])).reshape(m, array.shape[-1])
    return np.ascontiguousarray(rows, dtype=float)


def _in_threads(function: Callable[..., None], arrays: Sequence[Array], threads: int) -> None:
    """Call a function of arrays with parts of their rows, in this thread and in others; it lets go of the interpreter.

    New threads take less time than those of a pool, whose results pass through locks.
    """
    ends = np.linspace(0, len(arrays[0]), max(threads, 1) + 1).astype(int)
    first, *others = ([array[begin:end] for array in arrays] for begin, end in itertools.pairwise(ends))
    workers = [Thread(target=function, args=part) for part in others]
    for worker in workers:
        worker.start()
    function(*first)
    for worker in workers:
        worker.join()


def _scalar(program: Program) -> Compiled:
    """Compile for sequences of floats: to C where there is a compiler, to Python otherwise."""
    if why_no_c():
        return _python(program)
    try:
        source, module = _c_module(program)
    except InputError as error:
        warnings.warn(f"{error}; Python computes instead, more slowly", RuntimeWarning, stacklevel=4)
        return _python(program)
    defaults = tuple(tuple(each.tolist()) for each in program.defaults.values())
    return Compiled("c", source, module.make(defaults, None, True))


def _c_module(program: Program) -> tuple[str, Any]:
    if reason := why_no_c():
        raise InputError("backend", f"{reason}; expected one of python, numpy")
    source = emit_module(program)
    return source, import_c(source)


def _with_signature(program: Program, evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the names of the program's inputs, and their defaults."""
    fields = ", ".join(program.inputs)
    kernel = _execute(f"def kernel({fields}):\n    return evaluate({fields})\n", evaluate=evaluate)
    kernel.__defaults__ = tuple(program.defaults.values())
    return kernel


def _as_arrays(program: Program, inputs: Sequence[Any]) -> tuple[list[Array], tuple[int, ...]]:
    """Return every input as an array (..., size), and the leading axes to which they broadcast."""
    arrays = [x if hasattr(x, "__array_function__") else np.asarray(x, dtype=float) for x in inputs]
    _check_sizes(program, arrays)
    for name, array in zip(program.inputs, arrays):
        if not np.all(np.isfinite(array)):
            raise InputError(name, f"expected finite numbers, got {array}")
    return arrays, np.broadcast_shapes(*(x.shape[:-1] for x in arrays))


def _check_sizes(program: Program, arrays: Sequence[Any]) -> None:
    """Raise `InputError` for an array that has not the size of its input."""
    for (name, symbols), array in zip(program.inputs.items(), arrays):
        if array.ndim == 0 or array.shape[-1] != len(symbols):
            raise InputError(name, f"expected shape (..., {len(symbols)}), got {array.shape}")


def _execute(source: str, **names: Any) -> Any:
    exec(compile_source(source), names)
    return names["kernel"]
