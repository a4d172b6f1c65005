"""Write a traced program in straight lines: the body of a function, whatever its target."""

from __future__ import annotations

from collections import Counter

from ros2_dyn.kernels.symbol import FUNCTIONS, Operand, Symbol
from ros2_dyn.kernels.trace import Program

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
MAX_INLINED = 12
"""A value that is used once is written where it is used, if it takes fewer operations than this."""


class Body:
    """The lines that compute a program's values, and what to write for each of them."""

    def __init__(self, program: Program) -> None:
        self.lines: list[str] = []
        """Assignments, in order."""
        self._values = program.values()
        used = {value.args[0] for value in self._values if value.op == "input"}
        names = {name: [symbol.args[0] for symbol in symbols] for name, symbols in program.inputs.items()}
        self.inputs = {name: symbols for name, symbols in names.items() if name == "q" or used.intersection(symbols)}
        """Names of the input's numbers, by the name of each input that is used; q always is, for the batch's sake."""
        outputs = [value.index for output in program.outputs.values() for value in output.flat if _is_symbol(value)]
        args = [arg.index for value in self._values for arg in value.args if _is_symbol(arg)]
        self._uses = Counter(outputs + args)
        self._text: dict[int, str] = {}
        self._size: dict[int, int] = {}
        for value in self._values:
            self._write(value)

    def operand(self, value: Operand) -> str:
        """What to write for a value."""
        return self._text[value.index] if _is_symbol(value) else repr(float(value))

    def _write(self, value: Symbol) -> None:
        """Assign the value to a name, or keep its expression to be written where it is used."""
        expression = self._expression(value)
        size = 1 + sum(self._size[arg.index] for arg in value.args if _is_symbol(arg))
        if value.op == "input" or (self._uses[value.index] == 1 and size < MAX_INLINED):
            self._text[value.index] = expression if value.op in ("input", *FUNCTIONS) else f"({expression})"
            self._size[value.index] = 0 if value.op == "input" else size
        else:
            self._text[value.index] = f"t{value.index}"
            self._size[value.index] = 0
            self.lines.append(f"t{value.index} = {expression}")

    def _expression(self, value: Symbol) -> str:
        if value.op == "input":
            return str(value.args[0])
        args = [self.operand(arg) for arg in value.args]
        if value.op in INFIX:
            return f"{args[0]} {INFIX[value.op]} {args[1]}"
        return f"-{args[0]}" if value.op == "neg" else f"{value.op}({args[0]})"


def _is_symbol(value: Operand) -> bool:
    return isinstance(value, Symbol)
