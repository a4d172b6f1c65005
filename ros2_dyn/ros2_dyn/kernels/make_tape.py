# SPDX-License-Identifier: Apache-2.0
"""Write a traced program as a tape."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush

import numpy as np

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.kernels.symbol import Operand, Symbol
from ros2_dyn.kernels.tape import MAX_CELLS, OPERATIONS, Tape
from ros2_dyn.kernels.trace import Program, trace
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

TESTS = 3
"""Number of self-tests of a tape."""
OUTPUTS = ("effort", "gravity", "friction", "momentum", "coriolis_transpose_qd", "pose", "jacobian")
"""What a controller needs that carries an arm and feels what touches it."""
INPUTS = ("q", "qd", "qdd", "gravity", "payload")


def make_tape(
    model: RobotModel,
    outputs: Sequence[str] = OUTPUTS,
    inputs: Sequence[str] = INPUTS,
    link: str | None = None,
    *,
    gravity: Sequence[float] = STANDARD_GRAVITY,
    description: int = 0,
) -> Tape:
    """Return the program of the named outputs as a tape.

    Args:
        model: the robot; its friction, springs and rotors are in `effort`.
        outputs: as for `compile_kernel`.
        inputs: the same.
        link: link of the payload, the wrench, the pose and the Jacobians; `model.default_tip` for None.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,), as long as that input is not set.
        description: `description_hash` of what the model was made from; 0: the tape goes with any.

    Raises:
        InputError: an output, an input or the link is unknown; the program is too long; a name has a line break.
    """
    program = trace(model, outputs, inputs, link, gravity)
    tip = model.default_tip if link is None else link
    if broken := [name for name in (model.name, tip, *model.joint_names) if "\n" in name]:
        raise InputError("model", f"a tape has no place for the line break in the name {broken[0]!r}")
    body = _Body(program)
    if body.cells > MAX_CELLS:
        raise InputError("outputs", f"they take {body.cells} cells, a tape has at most {MAX_CELLS}; ask for fewer")
    tape = Tape(
        robot=model.name,
        link=tip,
        joints=model.joint_names,
        limits=np.column_stack([model.lower, model.upper, model.velocity_limit, model.effort_limit]),
        inputs=program.defaults,
        outputs={name: output.shape for name, output in program.outputs.items()},
        constants=np.array(body.constants),
        registers=body.registers,
        instructions=np.array(body.instructions, dtype=int).reshape(-1, 4),
        results=np.array(body.results, dtype=int),
        tests=np.empty((0, 0)),
        description=description,
    )
    return replace(tape, tests=_self_tests(tape))


def _self_tests(tape: Tape) -> Array:
    """Return inputs around the defaults, and what the tape makes of them."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(TESTS):
        inputs = {name: value + rng.uniform(-1, 1, value.size) for name, value in tape.inputs.items()}
        rows.append(np.concatenate([*inputs.values(), *map(np.ravel, tape.evaluate(**inputs).values())]))
    return np.array(rows)


class _Body:
    """Instructions of a program. A register is free again when its value has been read for the last time."""

    def __init__(self, program: Program) -> None:
        values = program.values()
        outputs = [value for output in program.outputs.values() for value in output.flat]
        operands = [operand for value in values if value.op != "input" for operand in value.args]
        numbers = {_key(each): float(each) for each in (*operands, *outputs) if not isinstance(each, Symbol)}
        self.constants = list(numbers.values())
        symbols = [symbol for each in program.inputs.values() for symbol in each]
        self._cell: dict[object, int] = {key: i for i, key in enumerate([*numbers, *(x.index for x in symbols)])}
        self._first = len(self._cell)
        self._free: list[int] = []
        self.registers = 0
        """Number of registers."""
        self._unread = Counter(each.index for each in (*operands, *outputs) if isinstance(each, Symbol))
        self.instructions = [self._instruction(value) for value in _by_operation(values)]
        self.results = [self._cell[_key(value)] for value in outputs]
        """Cells of the outputs' numbers: what an output reads is never free."""

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self._first + self.registers

    def _instruction(self, value: Symbol) -> tuple[int, int, int, int]:
        cells = [self._cell[_key(operand)] for operand in value.args]
        for operand in value.args:
            self._read(operand)
        target = self._cell[value.index] = self._register()
        return list(OPERATIONS).index(value.op), target, cells[0], cells[-1]

    def _read(self, operand: Operand) -> None:
        if isinstance(operand, Symbol):
            self._unread[operand.index] -= 1
            if not self._unread[operand.index] and self._cell[operand.index] >= self._first:
                heappush(self._free, self._cell[operand.index])

    def _register(self) -> int:
        if self._free:
            return heappop(self._free)
        self.registers += 1
        return self.cells - 1


def _by_operation(values: Sequence[Symbol]) -> list[Symbol]:
    """Return the values, each after its operands, in few runs of one operation: a reader decides once for each run."""
    users: defaultdict[int, list[Symbol]] = defaultdict(list)
    missing: dict[int, int] = {}
    ready: dict[str, list[Symbol]] = {op: [] for op in OPERATIONS}
    for value in values:
        operands = {each.index for each in value.args if isinstance(each, Symbol) and each.op != "input"}
        missing[value.index] = len(operands)
        for index in operands:
            users[index].append(value)
        if not operands and value.op != "input":
            ready[value.op].append(value)
    ordered: list[Symbol] = []
    while run := max(ready.values(), key=len):
        for value in run:  # which grows meanwhile
            ordered.append(value)
            for user in users[value.index]:
                missing[user.index] -= 1
                if not missing[user.index]:
                    ready[user.op].append(user)
        run.clear()
    return ordered


def _key(value: Operand) -> object:
    """Return what a value's cell is found by: zeros of two signs are two numbers."""
    return value.index if isinstance(value, Symbol) else float(value).hex()
