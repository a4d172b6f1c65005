"""Write a traced program as the source of a Python function on floats."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ros2_dyn.kernels.symbol import Operand, Symbol
from ros2_dyn.kernels.trace import Program

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
MAX_INLINED = 12
"""A value that is used once is written where it is used, if it takes fewer operations than this."""


def emit_python(program: Program) -> str:
    """The source of ``kernel(q, qd, qdd, g)``, which returns the outputs as nested tuples of floats, in order."""
    return _Writer(program).source()


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = program.values()
        outputs = [value.index for output in program.outputs.values() for value in output.flat if _is_symbol(value)]
        args = [arg.index for value in self.values for arg in value.args if _is_symbol(arg)]
        self.uses = Counter(outputs + args)
        self.text: dict[int, str] = {}
        self.size: dict[int, int] = {}

    def source(self) -> str:
        lines = ["from math import cos, sin", "", "", "def kernel(q, qd, qdd, g):"]
        lines += [f"    {line}" for line in self._unpack_inputs()]
        for value in self.values:
            lines += [f"    {line}" for line in self._assign(value)]
        results = ", ".join(self._nested(output.tolist()) for output in self.program.outputs.values())
        return "\n".join([*lines, f"    return ({results},)", ""])

    def _unpack_inputs(self) -> list[str]:
        used = {value.args[0] for value in self.values if value.op == "input"}
        lines = []
        for name, symbols in zip(("q", "qd", "qdd", "g"), self.program.inputs):
            names = [symbol.args[0] for symbol in symbols]
            if used.intersection(names):
                lines.append(f"{', '.join(names)}, = {name}")
        return lines

    def _assign(self, value: Symbol) -> list[str]:
        """The line that computes the value, or none: then `text` holds the expression to write where it is used."""
        expression = self._expression(value)
        size = 1 + sum(self.size[arg.index] for arg in value.args if _is_symbol(arg))
        if value.op == "input" or (self.uses[value.index] == 1 and size < MAX_INLINED):
            self.text[value.index] = expression if value.op in ("input", "sin", "cos") else f"({expression})"
            self.size[value.index] = 0 if value.op == "input" else size
            return []
        self.text[value.index] = f"t{value.index}"
        self.size[value.index] = 0
        return [f"t{value.index} = {expression}"]

    def _expression(self, value: Symbol) -> str:
        if value.op == "input":
            return str(value.args[0])
        args = [self._operand(arg) for arg in value.args]
        if value.op in INFIX:
            return f"{args[0]} {INFIX[value.op]} {args[1]}"
        return f"-{args[0]}" if value.op == "neg" else f"{value.op}({args[0]})"

    def _operand(self, value: Operand) -> str:
        return self.text[value.index] if _is_symbol(value) else repr(float(value))

    def _nested(self, output: list[Any] | Operand) -> str:
        if not isinstance(output, list):
            return self._operand(output)
        return "(" + "".join(f"{self._nested(part)}, " for part in output) + ")"


def _is_symbol(value: Operand) -> bool:
    return isinstance(value, Symbol)
