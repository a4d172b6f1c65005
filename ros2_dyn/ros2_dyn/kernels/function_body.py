"""Straight-line function body of a traced program, for any backend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from heapq import heappop, heappush

from ros2_dyn.kernels.symbol import FUNCTIONS, Operand, Symbol
from ros2_dyn.kernels.trace import Program

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
MAX_INLINED = 12
"""A value that is used once is inlined if it takes fewer operations than this."""
MAX_NAMES = 200
"""A body with more names than this reuses the names of values that are no longer needed.

Python has short instructions for 256 variables only, and arrays that are no longer needed would occupy memory.
"""


class FunctionBody:
    """Assignments that compute a program's values, and the expression for each value."""

    def __init__(
        self, program: Program, max_names: int = MAX_NAMES, functions: Mapping[str, str] | None = None
    ) -> None:
        """Write the assignments.

        Args:
            program: the program.
            max_names: number of names above which they are reused.
            functions: names of the functions of `FUNCTIONS`; None: the same.
        """
        self.lines: list[str] = []
        """Assignments, in order."""
        self.names = 0
        """Number of names that they assign, from t1."""
        self._functions = functions or {name: name for name in FUNCTIONS}
        values = program.values()
        used = self.used = {str(value.args[0]) for value in values if value.op == "input"}
        names = {name: [symbol.args[0] for symbol in symbols] for name, symbols in program.inputs.items()}
        self.inputs = {name: symbols for name, symbols in names.items() if name == "q" or used.intersection(symbols)}
        """Names of the input's numbers, by the name of each used input; q is always included, to define the batch."""
        outputs = [value.index for output in program.outputs.values() for value in output.flat if _is_symbol(value)]
        args = [arg.index for value in values for arg in value.args if _is_symbol(arg)]
        self._uses = Counter(outputs + args)
        self._write(values, reuse_names=False)
        if len(self.lines) > max_names:
            self._write(values, reuse_names=True)

    def operand(self, value: Operand) -> str:
        """Return the expression for a value."""
        return self._text[value.index] if _is_symbol(value) else repr(float(value))

    def _write(self, values: list[Symbol], reuse_names: bool) -> None:
        """Assign each value to a name, or keep its expression to be inlined."""
        self.lines = []
        self._text: dict[int, str] = {}
        self._free: list[int] = []
        self.names = 0
        unread = self._uses.copy() if reuse_names else Counter[int]()
        size: dict[int, int] = {}
        reads: dict[int, list[int]] = {}  # names that the expression of a value reads
        for value in values:
            index = value.index
            args = [arg.index for arg in value.args if _is_symbol(arg)]
            expression = self._expression(value)
            reads[index] = [name for arg in args for name in reads[arg]]
            size[index] = 1 + sum(size[arg] for arg in args)
            if value.op == "input":
                self._text[index], size[index] = expression, 0
            elif self._uses[index] == 1 and size[index] < MAX_INLINED:
                self._text[index] = expression if value.op in FUNCTIONS else f"({expression})"
            else:
                for name in reads[index]:
                    unread[name] -= 1
                    if unread[name] == 0:
                        heappush(self._free, int(self._text[name][1:]))
                self._text[index] = self._new_name()
                self.lines.append(f"{self._text[index]} = {expression}")
                reads[index], size[index] = [index], 0

    def _new_name(self) -> str:
        if self._free:
            return f"t{heappop(self._free)}"
        self.names += 1
        return f"t{self.names}"

    def _expression(self, value: Symbol) -> str:
        if value.op == "input":
            return str(value.args[0])
        args = [self.operand(arg) for arg in value.args]
        if value.op in INFIX:
            return f"{args[0]} {INFIX[value.op]} {args[1]}"
        return f"-{args[0]}" if value.op == "neg" else f"{self._functions[value.op]}({args[0]})"


def _is_symbol(value: Operand) -> bool:
    return isinstance(value, Symbol)
