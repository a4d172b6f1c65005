"""Compile the algorithms for one robot: the book's lines, traced once, as one fast function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.kernels.emit_python import emit_python
from ros2_dyn.kernels.trace import trace
from ros2_dyn.model import RobotModel

Backend = Literal["auto", "python"]


class Kernel:
    """The named outputs of one robot in one fused evaluation. Made by `compile_kernel`."""

    def __init__(self, model: RobotModel, outputs: Sequence[str], source: str) -> None:
        self.outputs = tuple(outputs)
        """Names of what a call returns."""
        self.source = source
        """The generated function, to be read."""
        self._zero = (0.0,) * model.n
        namespace: dict[str, Any] = {}
        exec(compile(source, f"<kernel of {model.name}: {', '.join(outputs)}>", "exec"), namespace)
        self._function: Callable[..., tuple[Any, ...]] = namespace["kernel"]

    def __call__(
        self,
        q: Sequence[float],
        qd: Sequence[float] | None = None,
        qdd: Sequence[float] | None = None,
        gravity: Sequence[float] = STANDARD_GRAVITY,
    ) -> tuple[Any, ...]:
        """Evaluate at one state.

        Args:
            q: joint positions, rad or m, n finite floats in the model's order.
            qd: joint velocities, rad/s or m/s; zero for None.
            qdd: joint accelerations, rad/s^2 or m/s^2; zero for None.
            gravity: acceleration of free fall in the base frame, m/s^2.

        Returns:
            The outputs in the order they were asked for: a vector as a tuple of n floats, a matrix as a tuple of rows.

        Raises:
            ValueError: an argument has the wrong length.
        """
        return self._function(q, self._zero if qd is None else qd, self._zero if qdd is None else qdd, gravity)


def compile_kernel(
    model: RobotModel, outputs: Sequence[str] = ("tau", "gravity", "coriolis"), backend: Backend = "auto"
) -> Kernel:
    """Trace and compile the named outputs for one robot.

    Args:
        model: the robot; its constants become part of the function.
        outputs: some of ``"tau"`` (inverse dynamics), ``"gravity"``, ``"coriolis"``, ``"bias"`` (Coriolis and gravity)
            and ``"mass_matrix"``.
        backend: ``"python"``, a function on floats that needs nothing installed; ``"auto"`` chooses.

    Raises:
        InputError: an output or the backend is unknown.
    """
    if backend not in get_args(Backend):
        raise InputError("backend", f"expected one of {', '.join(get_args(Backend))}; got '{backend}'")
    return Kernel(model, outputs, emit_python(trace(model, outputs)))
