# SPDX-License-Identifier: Apache-2.0
"""States of joints from serialised messages that are all alike, as one array: thirty times as fast as one by one.

A driver's messages differ in their stamps and numbers alone. Where they do not, they are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import error, unpack_from

import numpy as np

from ros2_dyn.model.spatial import Array

LITTLE_ENDIAN = b"\0\1"
"""First bytes of plain little-endian CDR."""
HEADER = 4
"""Bytes before the message. Alignment counts from its end."""
STAMP = slice(HEADER, HEADER + 8)


def state_columns(messages: Sequence[bytes], received: Sequence[int], joint_names: Sequence[str]) -> Array | None:
    """Return a row with time, s, positions, velocities and efforts for each sensor_msgs/JointState.

    Args:
        messages: serialised, in CDR.
        received: when each was received, ns; the time of those that have no stamp.
        joint_names: the joints, which give the order.

    Returns:
        Shape (m, 1 + 3 n); None where the messages are not alike, or lack a joint or one of the three.
    """
    if not messages or not messages[0].startswith(LITTLE_ENDIAN) or len(set(map(len, messages))) > 1:
        return None
    try:
        names, numbers, constant = _layout(messages[0])
    except (error, UnicodeDecodeError):
        return None
    if not set(joint_names) <= set(names) or len(set(names)) < len(names):
        return None
    block = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
    if not all(
        np.array_equal(block[:, part], np.broadcast_to(block[0, part], block[:, part].shape)) for part in constant
    ):
        return None
    sec, nanosec = np.ascontiguousarray(block[:, STAMP]).view("<i4").T
    stamp = sec + 1e-9 * nanosec.astype(np.uint32)
    t = np.where(stamp == 0.0, 1e-9 * np.asarray(received), stamp)
    where = [names.index(joint) for joint in joint_names]
    values = [np.ascontiguousarray(block[:, part]).view("<f8")[:, where] for part in numbers]
    return np.concatenate([t[:, None], *values], axis=1)


def _layout(raw: bytes) -> tuple[list[str], list[slice], list[slice]]:
    """Return the joints of a message, where its three arrays are, and where what messages have in common is."""
    at = STAMP.stop
    names: list[str] = []
    constant: list[slice] = []

    def number() -> int:
        """Pass a length."""
        nonlocal at
        at += -(at - HEADER) % 4
        (value,) = unpack_from("<I", raw, at)
        constant.append(slice(at, at + 4))
        at += 4
        return int(value)

    def string() -> bytes:
        nonlocal at
        size = number()
        constant.append(slice(at, at + size))
        at += size
        if at > len(raw):
            raise error("a string is longer than the message")
        return raw[at - size : at]

    string()
    names += [string().rstrip(b"\0").decode() for _ in range(min(number(), len(raw)))]
    numbers = []
    for _ in range(3):
        if number() != len(names):
            raise error("as many numbers as joints are needed")
        at += -(at - HEADER) % 8
        numbers.append(slice(at, at + 8 * len(names)))
        at += 8 * len(names)
    if at > len(raw):
        raise error("the numbers are longer than the message")
    return names, numbers, constant
