# SPDX-License-Identifier: Apache-2.0
"""Where the fields of a serialised message are, found by walking through one (CDR, the encoding of DDS)."""

from __future__ import annotations

from collections.abc import Sequence
from struct import error, unpack_from
from typing import Literal, NamedTuple

LITTLE_ENDIAN = b"\0\1"
"""First bytes of plain little-endian CDR, the only representation that is read here."""
ENCAPSULATION = 4
"""Size of what precedes the message, bytes. Alignment counts from its end."""
STAMP_END = ENCAPSULATION + 8
"""Where the fields behind the stamp begin."""

Field = Literal["string", "strings", "length", "doubles"] | int
"""A field behind the stamp; an integer: so many numbers of double precision, as an array of fixed length has them."""
JOINT_STATE: tuple[Field, ...] = ("string", "strings", "doubles", "doubles", "doubles")
"""The fields of sensor_msgs/JointState: frame, names, positions, velocities, efforts."""


class Part(NamedTuple):
    """Some bytes of a message. Between parts lies padding, in which middlewares leave what was in their memory."""

    kind: Literal["length", "string", "numbers"]
    start: int
    size: int

    @property
    def bytes(self) -> slice:
        """Where they are."""
        return slice(self.start, self.start + self.size)


def scan(raw: bytes, fields: Sequence[Field]) -> list[Part]:
    """Return the parts of a message behind its stamp.

    Args:
        raw: the message, which begins with a stamp, as one with a std_msgs/Header does.
        fields: what follows; what lies behind the last of them is left out.

    Raises:
        struct.error: the message is shorter than it should be.
    """
    parts: list[Part] = []
    at = STAMP_END

    def add(kind: Literal["length", "string", "numbers"], size: int, alignment: int = 1) -> None:
        nonlocal at
        start = at + -(at - ENCAPSULATION) % alignment
        at = start + size
        if at > len(raw):
            raise error("the message is too short")
        parts.append(Part(kind, start, size))

    def length() -> int:
        add("length", 4, 4)
        return int(unpack_from("<I", raw, parts[-1].start)[0])

    for field in fields:
        if field == "string":
            add("string", length())
        elif field == "strings":
            for _ in range(length()):
                add("string", length())
        elif field == "length":
            length()
        else:
            count = length() if field == "doubles" else field
            add("numbers", 8 * count, 8 if count else 1)
    return parts
