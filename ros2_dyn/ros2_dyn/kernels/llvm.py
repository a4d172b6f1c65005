"""Turn a generated function into machine code by running it once on LLVM values, without Numba's own compiler.

Numba's compiler takes minutes for a function of ten thousand lines; this takes a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.options import DefaultOptions
from numba.extending import intrinsic

DOUBLE = ir.DoubleType()
LEAN = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""Options for functions that create no arrays: without reference counting, a call takes a fifth less time."""


class Value:
    """LLVM value of a number; operators on it emit instructions."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value

    def __add__(self, other: Value | float) -> Value:
        return self._write(self.builder.fadd, self, other)

    def __radd__(self, other: float) -> Value:
        return self._write(self.builder.fadd, other, self)

    def __sub__(self, other: Value | float) -> Value:
        return self._write(self.builder.fsub, self, other)

    def __rsub__(self, other: float) -> Value:
        return self._write(self.builder.fsub, other, self)

    def __mul__(self, other: Value | float) -> Value:
        return self._write(self.builder.fmul, self, other)

    def __rmul__(self, other: float) -> Value:
        return self._write(self.builder.fmul, other, self)

    def __truediv__(self, other: Value | float) -> Value:
        return self._write(self.builder.fdiv, self, other)

    def __rtruediv__(self, other: float) -> Value:
        return self._write(self.builder.fdiv, other, self)

    def __neg__(self) -> Value:
        return self._write(self.builder.fneg, self)

    def call(self, name: str) -> Value:
        """Emit a call of a function of libm, or of an LLVM intrinsic."""
        function = self.builder.module.globals.get(name)
        if function is None:
            function = ir.Function(self.builder.module, ir.FunctionType(DOUBLE, [DOUBLE]), name)
        return Value(self.builder, self.builder.call(function, [self.value]))

    def _write(self, instruction: Callable[..., ir.Value], *operands: Value | float) -> Value:
        return Value(self.builder, instruction(*map(_operand, operands)))


class Numbers:
    """Contiguous numbers of an array in memory; reading and assigning items emits loads and stores."""

    def __init__(self, builder: ir.IRBuilder, data: ir.Value) -> None:
        self.builder = builder
        self.data = data

    def __getitem__(self, index: int) -> Value:
        return Value(self.builder, self.builder.load(self._at(index)))

    def __setitem__(self, index: int, value: Value | float) -> None:
        self.builder.store(_operand(value), self._at(index))

    def _at(self, index: int) -> ir.Value:
        return self.builder.gep(self.data, [ir.Constant(ir.IntType(64), index)])


def _operand(value: Value | float) -> ir.Value:
    return value.value if isinstance(value, Value) else ir.Constant(DOUBLE, float(value))


def sin(x: Value) -> Value:
    """Emit a sine."""
    return x.call("llvm.sin.f64")


def cos(x: Value) -> Value:
    """Emit a cosine."""
    return x.call("llvm.cos.f64")


def exp(x: Value) -> Value:
    """Emit an exponential function."""
    return x.call("llvm.exp.f64")


def tanh(x: Value) -> Value:
    """Emit a hyperbolic tangent."""
    return x.call("tanh")


def straight_line(function: Callable[..., None]) -> Any:
    """Return an intrinsic that Numba code can call in place of a function of contiguous float64 arrays."""
    names = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
    template = f"lambda typing, {names}: (types.void({names}), codegen)"

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        arrays = (context.make_array(kind)(context, builder, arg) for kind, arg in zip(signature.args, args))
        function(*(Numbers(builder, array.data) for array in arrays))
        return context.get_dummy_value()

    return intrinsic(eval(template, {"types": types, "codegen": codegen}))  # Numba inspects the argument names
