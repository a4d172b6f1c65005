# SPDX-License-Identifier: Apache-2.0
"""Straight-line function body of a traced program, for any backend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import chain

from ros2_dyn.kernels.symbol import FUNCTIONS, Operand, Symbol
from ros2_dyn.kernels.trace import Program

Args = Mapping[int, list[int]]
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
PLAIN = ("input", *FUNCTIONS)
"""Operations whose expressions need no brackets."""
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
        args = {value.index: [arg.index for arg in value.args if _is_symbol(arg)] for value in values}
        uses = Counter(chain(outputs, *args.values()))
        named = _named(values, args, uses)
        self._text: dict[int, str] = {}
        self._free: list[int] = []
        self._write(values, args, named, uses if len(named) > max_names else Counter())

    def operand(self, value: Operand) -> str:
        """Return the expression for a value."""
        return self._text[value.index] if _is_symbol(value) else repr(float(value))

    def _write(self, values: list[Symbol], args: Args, named: set[int], unread: Counter[int]) -> None:
        """Assign each value that gets a name to it; the expressions of the others are inlined.

        Args:
            values: in order.
            args: indices of the values that each reads.
            named: indices of those that get a name.
            unread: how often each is read still; its name is free then. Empty: names are not reused.
        """
        reads: dict[int, list[int]] = {}  # names that the expression of a value reads
        for value in values:
            index, expression = value.index, self._expression(value)
            reads[index] = [name for arg in args[index] for name in reads[arg]]
            if index in named:
                for name in reads[index]:
                    unread[name] -= 1
                    if unread[name] == 0:
                        heappush(self._free, int(self._text[name][1:]))
                self._text[index] = self._new_name()
                self.lines.append(f"{self._text[index]} = {expression}")
                reads[index] = [index]
            else:
                self._text[index] = expression if value.op in PLAIN else f"({expression})"

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


def _named(values: list[Symbol], args: Args, uses: Counter[int]) -> set[int]:
    """Return the indices of the values that are not inlined: those that are used twice, or are large."""
    named: set[int] = set()
    size: dict[int, int] = {}
    for value in values:
        index = value.index
        size[index] = 0 if value.op == "input" else 1 + sum(size[arg] for arg in args[index])
        if size[index] and (uses[index] != 1 or size[index] >= MAX_INLINED):
            named.add(index)
            size[index] = 0
    return named


def _is_symbol(value: Operand) -> bool:
    return isinstance(value, Symbol)
