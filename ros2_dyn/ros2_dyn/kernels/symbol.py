# SPDX-License-Identifier: Apache-2.0
"""Symbolic scalars: an algorithm that is called with symbols in place of numbers records its operations.

Each new value is folded at once (constants, zeros, ones, signs) and looked up among the earlier ones, so that equal
subexpressions are one value. Multiplication by an exact zero gives zero, because kernels take finite inputs only.
"""

from __future__ import annotations

from typing import Any

Operand = Any  # a Symbol, or a number
FUNCTIONS = ("cos", "exp", "fabs", "sin", "tanh")
"""Functions that a program may call. NumPy functions of these names call methods of Symbol."""


class Record:
    """Record of the values so far, each once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Symbol] = {}

    def symbol(self, op: str, *args: Operand) -> Symbol:
        """Return the value of an operation on symbols and numbers, or of an ``"input"`` by name."""
        key = (op, *(arg.index if isinstance(arg, Symbol) else ("constant", arg) for arg in args))
        if key not in self._known:
            self._known[key] = Symbol(self, len(self._known), op, args)
        return self._known[key]

    def close(self) -> None:
        """Forget the values, which know this record, so that they go when nobody needs them, without a collector."""
        self._known.clear()


class Symbol:
    """One value of a record. NumPy functions of object arrays call its methods."""

    __slots__ = ("args", "index", "op", "record")

    def __init__(self, record: Record, index: int, op: str, args: tuple[Any, ...]) -> None:
        self.record = record
        self.index = index
        self.op = op
        self.args = args

    def __add__(self, other: Operand) -> Operand:
        return _add(self, other)

    def __radd__(self, other: Operand) -> Operand:
        return _add(other, self)

    def __sub__(self, other: Operand) -> Operand:
        return _sub(self, other)

    def __rsub__(self, other: Operand) -> Operand:
        return _sub(other, self)

    def __mul__(self, other: Operand) -> Operand:
        return _mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        return self.record.symbol("div", self, other) if isinstance(other, Symbol) else _mul(self, 1.0 / other)

    def __rtruediv__(self, other: float) -> Operand:
        return 0.0 if other == 0 else self.record.symbol("div", float(other), self)

    def __neg__(self) -> Operand:
        return self.args[0] if self.op == "neg" else self.record.symbol("neg", self)

    def __abs__(self) -> Operand:
        return self.record.symbol("fabs", self)

    def cos(self) -> Operand:
        """Record a cosine, for np.cos."""
        return self.record.symbol("cos", self)

    def exp(self) -> Operand:
        """Record an exponential function, for np.exp."""
        return self.record.symbol("exp", self)

    def sin(self) -> Operand:
        """Record a sine, for np.sin."""
        return self.record.symbol("sin", self)

    def tanh(self) -> Operand:
        """Record a hyperbolic tangent, for np.tanh."""
        return self.record.symbol("tanh", self)

    def __bool__(self) -> bool:
        raise TypeError("a traced algorithm must not branch on a value")

    def __repr__(self) -> str:
        return f"Symbol({self.op}, {self.index})"


def _number(value: Operand) -> Operand:
    return value if isinstance(value, Symbol) else float(value)


def _add(a: Operand, b: Operand) -> Operand:
    a, b = _number(a), _number(b)
    if not isinstance(a, Symbol):
        a, b = b, a
    if not isinstance(a, Symbol):
        return a + b
    if not isinstance(b, Symbol):
        return a if b == 0.0 else a.record.symbol("add", a, b)
    if b.op == "neg":
        return _sub(a, b.args[0])
    if a.op == "neg":
        return _sub(b, a.args[0])
    return a.record.symbol("add", *sorted((a, b), key=lambda symbol: symbol.index))


def _sub(a: Operand, b: Operand) -> Operand:
    a, b = _number(a), _number(b)
    if not isinstance(b, Symbol):
        return _add(a, -b)
    if b.op == "neg":
        return _add(a, b.args[0])
    if a is b:
        return 0.0
    if not isinstance(a, Symbol) and a == 0.0:
        return -b
    if isinstance(a, Symbol) and a.op == "neg":
        return -_add(a.args[0], b)
    return b.record.symbol("sub", a, b)


def _mul(a: Operand, b: Operand) -> Operand:
    a, b = _number(a), _number(b)
    if not isinstance(a, Symbol):
        a, b = b, a
    if not isinstance(a, Symbol):
        return a * b
    if not isinstance(b, Symbol):
        if b == 0.0:
            return 0.0
        if b < 0.0:  # signs move outwards, where sums absorb them and equal products are recognised
            return -_mul(a, -b)
        return a if b == 1.0 else _scale(a, b)
    if a.op == "neg":
        return -_mul(a.args[0], b)
    if b.op == "neg":
        return -_mul(a, b.args[0])
    return a.record.symbol("mul", *sorted((a, b), key=lambda symbol: symbol.index))


def _scale(a: Symbol, factor: float) -> Operand:
    if a.op == "neg":
        return -_mul(a.args[0], factor)
    if a.op == "mul" and not isinstance(a.args[1], Symbol):  # c1 * (c2 * x)
        return _mul(a.args[0], a.args[1] * factor)
    return a.record.symbol("mul", a, factor)
