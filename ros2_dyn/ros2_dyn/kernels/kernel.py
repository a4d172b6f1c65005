"""Compile the algorithms for one robot: the book's lines, traced once, as one fast function."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.kernels.cache import import_source
from ros2_dyn.kernels.emit_numba import emit_numba
from ros2_dyn.kernels.emit_python import emit_python
from ros2_dyn.kernels.trace import Inputs, Program, trace
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

Backend = Literal["auto", "python", "numpy", "numba"]


class Kernel:
    """The named outputs of one robot in one fused evaluation. Made by `compile_kernel`.

    Call it with joint positions, and what else the outputs need: ``kernel(q, qd, qdd, effort, gravity)``, in rad or m,
    s, and N m or N, in the model's joint order. What is left out is zero, and gravity [0, 0, -9.81] m/s^2. It returns
    a tuple of the outputs in the order they were asked for.
    """

    def __init__(self, outputs: Sequence[str], backend: str, source: str, function: Callable[..., Any]) -> None:
        self.outputs = tuple(outputs)
        """Names of what a call returns."""
        self.backend = backend
        self.source = source
        """The generated function, to be read."""
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Evaluate. See the class for arguments, and `compile_kernel` for what each backend takes and returns."""
        return self._function(*args, **kwargs)


def compile_kernel(
    model: RobotModel, outputs: Sequence[str] = ("tau", "gravity", "coriolis"), backend: Backend = "auto"
) -> Kernel:
    """Trace and compile the named outputs for one robot.

    Args:
        model: the robot; its constants become part of the function.
        outputs: some of ``"tau"`` (inverse dynamics), ``"gravity"``, ``"coriolis"``, ``"bias"`` (Coriolis and gravity),
            ``"mass_matrix"``, ``"coriolis_matrix"``, ``"qdd"`` (forward dynamics under an effort), ``"momentum"``,
            ``"joint_wrenches"``, ``"jacobian"`` (of the default tip), ``"regressor"``.
        backend: ``"python"``: on sequences of n finite floats, returns nested tuples of floats; needs nothing
            installed, and checks nothing but the lengths.
            ``"numpy"``: on arrays (..., n), returns arrays with the same leading axes.
            ``"numba"``: as numpy, compiled; quickest on contiguous arrays of float64; needs Numba.
            ``"auto"``: numba where it is installed, numpy otherwise.

    Raises:
        InputError: an output or the backend is unknown, or the backend is not installed.
    """
    if backend not in get_args(Backend):
        raise InputError("backend", f"expected one of {', '.join(get_args(Backend))}; got '{backend}'")
    have_numba = importlib.util.find_spec("numba") is not None
    if backend == "auto":
        backend = "numba" if have_numba else "numpy"
    if backend == "numba" and not have_numba:
        raise InputError("backend", "Numba is not installed (pip install numba); expected one of python, numpy")
    program = trace(model, outputs)
    make = {"python": _python, "numpy": _numpy, "numba": _numba}[backend]
    source, function = make(program, model.n)
    return Kernel(outputs, backend, source, function)


def _python(program: Program, n: int) -> tuple[str, Callable[..., Any]]:
    source = emit_python(program, "math")
    kernel = _execute(source)
    zero = (0.0,) * n
    kernel.__defaults__ = (zero, zero, zero, STANDARD_GRAVITY)
    return source, kernel


def _numpy(program: Program, n: int) -> tuple[str, Callable[..., Any]]:
    source = emit_python(program, "numpy")
    kernel = _execute(source)
    shapes = [output.shape for output in program.outputs.values()]

    zero = np.zeros(n)

    def call(q: Any, qd: Any = zero, qdd: Any = zero, effort: Any = zero, gravity: Any = STANDARD_GRAVITY) -> Any:
        inputs = _as_arrays(n, q, qd, qdd, effort, gravity)
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
        results = kernel(*(np.moveaxis(x, -1, 0) for x in inputs))
        return tuple(_stack(result, batch, shape) for result, shape in zip(results, shapes))

    return source, call


def _stack(result: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """An array (*batch, *shape) of nested tuples, of numbers and of arrays that broadcast to the batch."""
    if not shape:
        return np.broadcast_to(result, batch)
    return np.stack([_stack(part, batch, shape[1:]) for part in result], axis=len(batch))


def _numba(program: Program, n: int) -> tuple[str, Callable[..., Any]]:
    source = emit_numba(program)
    module = import_source(source)
    used = [i for i, name in enumerate(Inputs._fields) if name in module.INPUTS]
    shapes = [output.shape for output in program.outputs.values()]

    def general(*args: Any) -> Any:
        """Any array-like, any leading axes."""
        inputs = _as_arrays(n, *args)
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
        rows = [np.broadcast_to(inputs[i], (*batch, inputs[i].shape[-1])) for i in used]
        results = module.batch(*(np.array(x.reshape(-1, x.shape[-1]), dtype=float, order="C") for x in rows))
        return tuple(result.reshape(*batch, *shape) for result, shape in zip(results, shapes))

    # Written out for the arguments that are used: every indirection costs as much as the dynamics.
    fields = ", ".join(Inputs._fields)
    call = _execute(
        f"def kernel({fields}):\n"
        "    try:\n"
        f"        return single({', '.join(Inputs._fields[i] for i in used)})\n"
        "    except (TypeError, ValueError):\n"
        "        pass\n"
        f"    return general({fields})\n",
        single=module.single,
        general=general,
    )
    zero = np.zeros(n)
    call.__defaults__ = (zero, zero, zero, np.array(STANDARD_GRAVITY))
    return source, call


def _as_arrays(n: int, *inputs: Any) -> list[Array]:
    """Every input as an array (..., n), and gravity, the last, as (..., 3)."""
    arrays = []
    for name, value in zip(Inputs._fields, inputs):
        size = 3 if name == "gravity" else n
        array = value if hasattr(value, "__array_function__") else np.asarray(value, dtype=float)
        if array.ndim == 0 or array.shape[-1] != size:
            raise InputError(name, f"expected shape (..., {size}), got {array.shape}")
        if not np.all(np.isfinite(array)):
            raise InputError(name, f"expected finite numbers, got {array}")
        arrays.append(array)
    return arrays


def _execute(source: str, **names: Any) -> Any:
    exec(compile(source, "<ros2_dyn kernel>", "exec"), names)
    return names["kernel"]
