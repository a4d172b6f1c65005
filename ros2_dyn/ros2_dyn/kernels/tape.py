# SPDX-License-Identifier: Apache-2.0
"""A tape: the straight-line program of one robot as data, which a controller runs without a compiler.

`docs/tape.md` has every byte of its file. Who reads one, here or in ``tape.hpp``, proves it before it is run.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array


def _exp(x: float) -> float:
    """Return e^x as C does: infinite where it is too large."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: float(np.divide(a, b)),
    "neg": lambda a, _: -a,
    "cos": lambda a, _: math.cos(a),
    "exp": lambda a, _: _exp(a),
    "fabs": lambda a, _: abs(a),
    "sin": lambda a, _: math.sin(a),
    "tanh": lambda a, _: math.tanh(a),
}
"""Operations in the order of their numbers in instructions; those of one operand read it twice."""
MAGIC, VERSION = b"ros2tape", 1
PREFIX = struct.Struct("<8sII")
HEADER = struct.Struct("<Q10I")
MAX_CELLS = 1 << 16
MAX_COUNT = 1 << 20
"""No number of a header is larger."""
TOLERANCE = 1e-9
"""Difference from a self-test, as part of the largest number of its output: functions of libm differ by an ulp."""


@dataclass(frozen=True, eq=False)
class Tape:
    """A program, and what is needed to use it and to know that it runs well.

    It works on cells: constants, then inputs, then registers. An instruction is the number of its operation, the
    register that it writes, and the two cells that it reads.
    """

    robot: str
    link: str
    """Link of the pose, the Jacobians, the payload and the wrench."""
    joints: tuple[str, ...]
    limits: Array
    """Lower and upper position, velocity, effort of each degree of freedom, SI units, shape (n, 4)."""
    inputs: Mapping[str, Array]
    """What each input is where it is not set."""
    outputs: Mapping[str, tuple[int, ...]]
    """Shape of each output."""
    constants: Array
    registers: int
    """Number of registers."""
    instructions: Array
    """Shape (number, 4)."""
    results: Array
    """Cell of each number of the outputs."""
    tests: Array
    """Self-tests, one in each row: the numbers of all inputs, and those of all outputs that they give."""
    description: int = 0
    """`description_hash` of the robot's description; 0 where it was made from none."""

    def evaluate(self, **values: ArrayLike) -> dict[str, Array]:
        """Return the outputs by name.

        Raises:
            InputError: an input is unknown, or has another size.
        """
        given = dict(self.inputs)
        for name, value in values.items():
            if name not in given:
                raise InputError(name, f"the tape has no such input; it has {', '.join(given)}")
            given[name] = np.ravel(np.asarray(value, dtype=float))
            if given[name].size != self.inputs[name].size:
                raise InputError(name, f"expected {self.inputs[name].size} numbers, got {given[name].size}")
        parts = _split(self._run(np.concatenate(list(given.values()))), map(math.prod, self.outputs.values()))
        return {name: part.reshape(shape) for (name, shape), part in zip(self.outputs.items(), parts)}

    def to_bytes(self) -> bytes:
        """Return the file."""
        text = "\n".join([self.robot, self.link, *self.joints, *self.inputs, *self.outputs]).encode()
        shapes = [[len(shape), *shape, *(1, 1)[len(shape) :]] for shape in self.outputs.values()]
        body = [
            *(np.ravel(numbers).astype("<u4") for numbers in ([len(x) for x in self.inputs.values()], shapes)),
            *(np.ravel(x).astype("<f8") for x in (self.limits, self.constants, *self.inputs.values(), self.tests)),
            *(np.ravel(numbers).astype("<u2") for numbers in (self.instructions, self.results)),
        ]
        counts = (len(self.joints), len(self.limits), len(self.inputs), len(self.outputs), len(self.constants))
        more = (self.registers, len(self.instructions), len(self.results), len(self.tests), len(text))
        proven = HEADER.pack(self.description, *counts, *more) + b"".join(part.tobytes() for part in body) + text
        return PREFIX.pack(MAGIC, VERSION, zlib.crc32(proven)) + proven

    @classmethod
    def from_bytes(cls, data: bytes) -> Tape:
        """Return the tape of a file, proven: it reads and writes its own cells alone, and computes what it should.

        Raises:
            InputError: it is no tape, is damaged, or fails its self-test.
        """
        tape = _read(data)
        tape._prove()
        return tape

    def _run(self, inputs: Array) -> Array:
        """Return the numbers of all outputs."""
        cells = [*self.constants.tolist(), *inputs.tolist(), *[0.0] * self.registers]
        run = list(OPERATIONS.values())
        with np.errstate(all="ignore"):
            for operation, target, a, b in self.instructions.tolist():
                cells[target] = run[operation](cells[a], cells[b])
        return np.array([cells[cell] for cell in self.results.tolist()])

    def _prove(self) -> None:
        inputs = sum(map(len, self.inputs.values()))
        first = len(self.constants) + inputs
        size = first + self.registers
        _check(size <= MAX_CELLS, f"it has {size} cells, expected at most {MAX_CELLS}")
        numbers = np.concatenate([self.constants, *self.inputs.values()])
        _check(bool(np.isfinite(numbers).all()), "a constant or an input is not finite")
        written = [True] * first + [False] * self.registers
        for i, (operation, target, *operands) in enumerate(self.instructions.tolist()):
            _check(operation < len(OPERATIONS), f"instruction {i} has the unknown operation {operation}")
            for cell in operands:
                _check(cell < size and written[cell], f"instruction {i} reads cell {cell}, which nothing has written")
            _check(first <= target < size, f"instruction {i} writes cell {target}, which is no register")
            written[target] = True
        for cell in self.results.tolist():
            _check(cell < size and written[cell], f"an output reads cell {cell}, which nothing has written")
        _check(len(self.tests) > 0, "it has no self-test")
        for given, expected in zip(self.tests[:, :inputs], self.tests[:, inputs:]):
            sizes = [math.prod(shape) for shape in self.outputs.values()]
            for name, ours, theirs in zip(self.outputs, _split(self._run(given), sizes), _split(expected, sizes)):
                error, largest = (np.abs(each).max(initial=0.0) for each in (ours - theirs, theirs))
                near = np.isfinite(error) and error <= TOLERANCE * (1.0 + largest)
                _check(bool(near), f"output '{name}' is not what its self-test says")


def description_hash(xml: str) -> int:
    """Return the FNV-1a hash, of 64 bits, of a description without white space and comments; C++ computes the same.

    A comment may say where xacro made it from.
    """
    value = 0xCBF29CE484222325
    for byte in b"".join(re.sub(b"<!--.*?-->", b"", xml.encode(), flags=re.DOTALL).split()):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def _read(data: bytes) -> Tape:
    """Return what the bytes say; each is read once, and none is missing or left."""
    _check(len(data) >= PREFIX.size + HEADER.size and data.startswith(MAGIC), "it does not begin as one does")
    _, version, checksum = PREFIX.unpack_from(data)
    _check(version == VERSION, f"it has version {version}, and this is a reader of version {VERSION}")
    _check(zlib.crc32(data[PREFIX.size :]) == checksum, "its checksum is wrong")
    description, *counts = HEADER.unpack_from(data, PREFIX.size)
    _check(max(counts) <= MAX_COUNT, "a number of its header is too large")
    return _Bytes(data, PREFIX.size + HEADER.size).tape(description, counts)


class _Bytes:
    """What follows a header, read once from its beginning to its end."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place

    def tape(self, description: int, counts: list[int]) -> Tape:
        joints, n, inputs, outputs, constants, registers, instructions, results, tests, text = counts
        sizes = self._take("<u4", inputs).tolist()
        dimensions = self._take("<u4", outputs, 3).tolist()
        _check(all(ndim <= 2 for ndim, *_ in dimensions), "an output has more than two dimensions")
        shapes = [tuple(shape[:ndim]) for ndim, *shape in dimensions]
        _check(sum(sizes) <= MAX_COUNT, "its inputs are too many")
        _check(sum(map(math.prod, shapes)) == results, "the shapes of its outputs are not those of its results")
        limits, numbers = self._take("<f8", n, 4), self._take("<f8", constants)
        defaults = _split(self._take("<f8", sum(sizes)), sizes)
        rows = self._take("<f8", tests, sum(sizes) + results)
        program, cells = self._take("<u2", instructions, 4), self._take("<u2", results)
        lines = self._data[self._place :].decode(errors="backslashreplace").split("\n")
        right = len(self._data) - self._place == text and len(lines) == 2 + joints + inputs + outputs
        robot, link, *names = lines if right else ["", ""]
        unique = [len(set(each)) for each in (names[joints : joints + inputs], names[joints + inputs :])]
        _check(right and unique == [inputs, outputs] and all(names[joints:]), "its names are wrong")
        return Tape(
            robot=robot,
            link=link,
            joints=tuple(names[:joints]),
            limits=limits,
            inputs=dict(zip(names[joints:], defaults)),
            outputs=dict(zip(names[joints + inputs :], shapes)),
            constants=numbers,
            registers=registers,
            instructions=program,
            results=cells,
            tests=rows,
            description=description,
        )

    def _take(self, kind: str, *shape: int) -> Array:
        number = math.prod(shape)
        begin, self._place = self._place, self._place + number * int(kind[-1])
        _check(self._place <= len(self._data), "it is cut off")
        return np.frombuffer(self._data, kind, number, begin).reshape(shape)


def _split(numbers: Array, sizes: Iterable[int]) -> list[Array]:
    """Return the parts of a row of numbers."""
    ends = [0, *accumulate(sizes)]
    return [numbers[begin:end] for begin, end in pairwise(ends)]


def _check(right: bool, problem: str) -> None:
    if not right:
        raise InputError("tape", f"{problem}; write it again by `ros2_dyn export --tape`")
