# SPDX-License-Identifier: Apache-2.0
"""The whole state of a runtime as bytes, and a runtime from them that goes on bit for bit.

Robots, parameters and kernels do not change, so they are kept beside the bytes, as constants. Kernels are compiled
anew. Only classes of the runtime are made from bytes: a file of unknown origin can be wrong, and no more.
"""

from __future__ import annotations

import io
import pickle
from types import MethodType
from typing import Any, NamedTuple

from ros2_dyn.errors import InputError, Ros2DynError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.settings import Settings

ROOMS = ("model", "dynamics", "estimation", "control", "runtime")
"""Packages whose classes may be in a file."""
LIBRARIES = {
    "builtins": {"set", "frozenset", "slice", "complex", "bytearray"},
    "collections": {"deque", "Counter", "OrderedDict", "defaultdict"},
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.numeric": {"_frombuffer"},
}
"""What else may be in a file."""


class Checkpoint(NamedTuple):
    """A runtime at one moment."""

    constants: list[Any]
    """Robots, parameters and kernels that the state refers to."""
    state: bytes


def save(runtime: ArmRuntime) -> Checkpoint:
    """Return the state of a runtime that awaits no work.

    Raises:
        PicklingError: something of it cannot be saved.
    """
    buffer = io.BytesIO()
    pickler = _StatePickler(buffer, runtime)
    try:
        pickler.dump(runtime)
    except (AttributeError, TypeError) as error:  # what pickle raises, too
        raise pickle.PicklingError(str(error)) from error
    return Checkpoint(pickler.constants, buffer.getvalue())


def load(checkpoint: Checkpoint) -> ArmRuntime:
    """Return a runtime that goes on where another was.

    Raises:
        InputError: the bytes are not the state of a runtime of this version.
    """
    runtime = loads(checkpoint.state, checkpoint.constants)
    if not isinstance(runtime, ArmRuntime):
        raise InputError("checkpoint", f"expected the state of a runtime, found {type(runtime).__name__}")
    return runtime


def dumps(value: Any) -> bytes:
    """Return a value that holds robots, parameters and kernels as bytes."""
    buffer = io.BytesIO()
    _Pickler(buffer, 5).dump(value)
    return buffer.getvalue()


def loads(data: bytes, constants: list[Any] | None = None) -> Any:
    """Return a value from bytes.

    Raises:
        InputError: the bytes are broken, or hold what no runtime of this version consists of.
    """
    try:
        return _Unpickler(io.BytesIO(data), constants or []).load()
    except (Ros2DynError, pickle.UnpicklingError) as error:
        raise InputError("checkpoint", str(error)) from error
    except Exception as error:  # bytes that are broken can make pickle raise anything
        raise InputError("checkpoint", f"cannot be read: {type(error).__name__}: {error}") from error


class _Pickler(pickle.Pickler):
    """Kernels are saved by what they are compiled from."""

    def reducer_override(self, obj: Any) -> Any:
        if _is_kernel(obj):
            return obj.recipe
        if isinstance(obj, MethodType):
            return bound_method, (obj.__self__, obj.__name__)
        return NotImplemented


class _StatePickler(_Pickler):
    """Constants are kept beside the bytes, and a runtime is saved as what it is without its recorder."""

    def __init__(self, buffer: io.BytesIO, runtime: ArmRuntime) -> None:
        super().__init__(buffer, 5)
        self.constants: list[Any] = []
        self._indices: dict[int, int] = {}
        self._runtime = runtime

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (RobotModel, Settings)) or _is_kernel(obj):
            index = self._indices.setdefault(id(obj), len(self.constants))
            if index == len(self.constants):
                self.constants.append(obj)
            return constant, (index,)
        if obj is self._runtime:
            return empty_runtime, (), {key: obj.__dict__[key] for key in obj.__dict__ if key != "box"}
        return super().reducer_override(obj)


class _Unpickler(pickle.Unpickler):
    """Makes objects of the runtime's classes alone."""

    def __init__(self, buffer: io.BytesIO, constants: list[Any]) -> None:
        super().__init__(buffer)
        self._constants = constants

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or one of the functions here by its name."""
        if module == __name__ and name == "constant":
            return self._constants.__getitem__
        if (module, name) in FUNCTIONS:
            return FUNCTIONS[module, name]
        package, _, rest = module.partition(".")
        if "." not in name and package == "ros2_dyn" and rest.split(".")[0] in ROOMS:
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        elif name in LIBRARIES.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a runtime")


def _is_kernel(obj: Any) -> bool:
    return not isinstance(obj, type) and hasattr(obj, "recipe")


def constant(index: int) -> Any:
    """Stand for a constant of the checkpoint."""
    raise pickle.UnpicklingError(f"constant {index} is not here")


def empty_runtime() -> ArmRuntime:
    """Return a runtime whose state is to follow."""
    return ArmRuntime.__new__(ArmRuntime)


def bound_method(owner: Any, name: str) -> Any:
    """Return a method of one of the runtime's objects or classes."""
    kind = owner if isinstance(owner, type) else type(owner)
    if not kind.__module__.startswith("ros2_dyn.") or name.startswith("__"):
        raise pickle.UnpicklingError(f"{kind.__name__}.{name} is no method of a runtime")
    return getattr(owner, name)


FUNCTIONS = {(each.__module__, each.__name__): each for each in (compile_kernel, empty_runtime, bound_method)}
"""Functions that may be in a file."""
