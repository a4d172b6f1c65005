# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a serialised message are, found by walking through one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from struct import Struct, error, unpack_from
from typing import Any, NamedTuple

ENCAPSULATION = 4
"""Size of what precedes the message, bytes. Alignment counts from its end."""

Names = tuple[str, ...]
Arrays = Sequence[Sequence[float]]


class Layout(NamedTuple):
    """Where the parts of a message are, for all messages whose constants (lengths and names) are the same."""

    unpack: Callable[[bytes, int], tuple[Any, ...]]
    constants: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    """Picks the constants from what is unpacked."""
    expected: tuple[Any, ...]
    arrays: Callable[[tuple[Any, ...]], Arrays]
    """Picks the arrays of numbers from what is unpacked."""
    names: Names


class Scanner:
    """Walks through the bytes of one message, field by field, and notes their layout.

    The bytes between fields are skipped: middlewares leave what was in their memory there.
    """

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._format = "<iI"
        self._at = ENCAPSULATION + 8
        self._count = 2
        self._constants: list[int] = []
        self._slices: list[slice] = []

    def length(self) -> int:
        """Pass the length of a sequence, a constant; return it."""
        self._align(4)
        (length,) = unpack_from("<I", self._raw, self._at)
        self._constants.append(self._count)
        self._pass("I", 4)
        return length

    def string(self) -> None:
        """Pass a string, a constant."""
        size = self.length()
        if size > len(self._raw):
            raise error("a string is longer than the message")
        self._constants.append(self._count)
        self._pass(f"{size}s", size)

    def strings(self) -> None:
        """Pass a sequence of strings."""
        for _ in range(self.length()):
            self.string()

    def sequence(self) -> None:
        """Pass a sequence of numbers."""
        self.numbers(self.length())

    def numbers(self, count: int) -> None:
        """Pass some numbers."""
        if count:
            self._align(8)
        self._slices.append(slice(self._count, self._count + count))
        self._pass(f"{count}d", 8 * count, count)

    def layout(self, names: Names) -> Layout:
        """Return what was found."""
        unpack = Struct(self._format).unpack_from
        constants = _picker(self._constants)
        expected = constants(unpack(self._raw, ENCAPSULATION))
        return Layout(unpack, constants, expected, _picker(self._slices), names)

    def _align(self, size: int) -> None:
        skipped = -(self._at - ENCAPSULATION) % size
        self._format += f"{skipped}x"
        self._at += skipped

    def _pass(self, what: str, size: int, count: int = 1) -> None:
        self._format += what
        self._at += size
        self._count += count


def _picker(places: Sequence[Any]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return what picks the items at some places, always as a tuple."""
    pick: Any = itemgetter(*places)
    return pick if len(places) > 1 else lambda values: (pick(values),)
