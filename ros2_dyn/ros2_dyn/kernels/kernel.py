"""Compile the algorithms for one robot: trace them once, and emit one fast function."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.kernels.cache import import_source
from ros2_dyn.kernels.compile_aside import compile_source
from ros2_dyn.kernels.emit_numba import emit_numba
from ros2_dyn.kernels.emit_python import emit_python
from ros2_dyn.kernels.trace import Program, trace
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

Backend = Literal["auto", "python", "numpy", "numba"]
DEFAULT_INPUTS = ("q", "qd", "qdd", "tau", "gravity")
"""Inputs of a kernel by default."""


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
    """Backend: python, numpy or numba."""
    source: str
    """Generated code."""
    recipe: tuple[Any, ...]
    """Arguments of `compile_kernel` that make the same function: it cannot be copied to another process."""

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Evaluate the outputs; see `compile_kernel` for the types of each backend."""


def compile_kernel(
    model: RobotModel,
    outputs: Sequence[str] = ("tau", "gravity", "coriolis"),
    backend: Backend = "auto",
    inputs: Sequence[str] = DEFAULT_INPUTS,
    link: str | None = None,
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
            ``"numba"`` is the same, compiled; it needs Numba, and is fastest with contiguous arrays of float64.
            ``"auto"`` is numba where it is installed, numpy otherwise.
        inputs: names of the inputs of each call, from the fields of `Inputs`. The others become constants, which makes
            the kernel faster and its source shorter. ``"payload"`` is carried by the link, and ``"wrench"`` acts on it.
        link: link of the payload, the wrench, the pose and the Jacobians; `model.default_tip` for None.

    Raises:
        InputError: an output, an input, the link or the backend is unknown, or the backend is not installed.
    """
    if backend not in get_args(Backend):
        raise InputError("backend", f"expected one of {', '.join(get_args(Backend))}; got '{backend}'")
    have_numba = importlib.util.find_spec("numba") is not None
    if backend == "auto":
        backend = "numba" if have_numba else "numpy"
    if backend == "numba" and not have_numba:
        raise InputError("backend", "Numba is not installed (pip install numba); expected one of python, numpy")
    program = trace(model, outputs, inputs, link)
    make = {"python": _python, "numpy": _numpy, "numba": _numba}[backend]
    source, function = make(program)
    about = {
        "outputs": tuple(outputs),
        "inputs": tuple(program.inputs),
        "link": link or model.default_tip,
        "backend": backend,
        "source": source,
        "recipe": (model, tuple(outputs), backend, tuple(inputs), link),
        "__doc__": f"({', '.join(outputs)}) of the robot '{model.name}'.",
    }
    for name, value in about.items():  # on the function itself: a wrapper object would take a sixth more time
        setattr(function, name, value)
    return cast(Kernel, function)


def _python(program: Program) -> tuple[str, Callable[..., Any]]:
    source = emit_python(program, "math")
    kernel = _execute(source)
    kernel.__defaults__ = tuple(tuple(default.tolist()) for default in program.defaults.values())
    return source, kernel


def _numpy(program: Program) -> tuple[str, Callable[..., Any]]:
    source = emit_python(program, "numpy")
    kernel = _execute(source)
    shapes = [output.shape for output in program.outputs.values()]

    def evaluate(*inputs: Any) -> Any:
        arrays, batch = _as_arrays(program, inputs)
        results = kernel(*(np.moveaxis(x, -1, 0) for x in arrays))
        return tuple(_stack(result, batch, shape) for result, shape in zip(results, shapes))

    return source, _with_signature(program, "    return evaluate({fields})", evaluate=evaluate)


def _stack(result: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Return an array (*batch, *shape) from nested tuples of numbers and arrays that broadcast to the batch."""
    if not shape:
        return np.broadcast_to(result, batch)
    return np.stack([_stack(part, batch, shape[1:]) for part in result], axis=len(batch))


def _numba(program: Program) -> tuple[str, Callable[..., Any]]:
    source = emit_numba(program)
    module = import_source(source)
    used = [i for i, name in enumerate(program.inputs) if name in module.INPUTS]
    shapes = [output.shape for output in program.outputs.values()]

    def general(*inputs: Any) -> Any:
        """Evaluate arrays of any kind, with any leading axes."""
        arrays, batch = _as_arrays(program, inputs)
        rows = [np.broadcast_to(arrays[i], (*batch, arrays[i].shape[-1])) for i in used]
        m = math.prod(batch)
        results = [np.empty((m, *(shape or (1,)))) for shape in shapes]
        module.batch(*(np.array(x.reshape(m, x.shape[-1]), dtype=float, order="C") for x in rows), *results)
        return tuple(result.reshape(*batch, *shape) for result, shape in zip(results, shapes))

    # Written out for the used arguments, because each indirection costs as much as the dynamics.
    results = [f"out{i}" for i in range(len(shapes))]
    lines = [
        f"    {name} = empty({shape[0] if len(shape) == 1 else shape or 1})" for name, shape in zip(results, shapes)
    ]
    lines += [
        "    try:",
        f"        single({', '.join([*module.INPUTS, *results])})",
        "    except (TypeError, ValueError):",
        "        return general({fields})",
        f"    return ({''.join(f'{name}, ' if shape else f'{name}[0], ' for name, shape in zip(results, shapes))})",
    ]
    names = {"single": module.single, "general": general, "empty": np.empty}
    return source, _with_signature(program, "\n".join(lines), **names)


def _with_signature(program: Program, body: str, **names: Any) -> Callable[..., Any]:
    """Return a function of the program's inputs, with their defaults."""
    fields = ", ".join(program.inputs)
    kernel = _execute(f"def kernel({fields}):\n{body.format(fields=fields)}\n", **names)
    kernel.__defaults__ = tuple(program.defaults.values())
    return kernel


def _as_arrays(program: Program, inputs: Sequence[Any]) -> tuple[list[Array], tuple[int, ...]]:
    """Return every input as an array (..., size), and the leading axes to which they broadcast."""
    arrays = []
    for (name, symbols), value in zip(program.inputs.items(), inputs):
        size = len(symbols)
        array = value if hasattr(value, "__array_function__") else np.asarray(value, dtype=float)
        if array.ndim == 0 or array.shape[-1] != size:
            raise InputError(name, f"expected shape (..., {size}), got {array.shape}")
        if not np.all(np.isfinite(array)):
            raise InputError(name, f"expected finite numbers, got {array}")
        arrays.append(array)
    return arrays, np.broadcast_shapes(*(x.shape[:-1] for x in arrays))


def _execute(source: str, **names: Any) -> Any:
    exec(compile_source(source), names)
    return names["kernel"]
