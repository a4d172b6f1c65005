# SPDX-License-Identifier: Apache-2.0
"""States of joints from a rosbag2 file, by rosbags, so without ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from struct import error as StructError
from typing import Any

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.cdr_layout import ENCAPSULATION, JOINT_STATE, LITTLE_ENDIAN, STAMP_END, scan

TYPE = "sensor_msgs/msg/JointState"

State = tuple[float, Sequence[float], Sequence[float] | None, Sequence[float] | None]
"""Time, s, and positions, velocities and efforts of the joints; None for what the state lacks."""


def states(path: Path, joint_names: Sequence[str], topic: str, seen: set[str]) -> Iterator[State]:
    """Yield the states of the joints.

    Args:
        path: folder, .db3 file or .mcap file.
        joint_names: the joints; messages that lack one of them are skipped.
        topic: topic of type sensor_msgs/JointState.
        seen: receives the names of all joints in the messages.

    Raises:
        InputError: rosbags is not installed, or the bag cannot be read.
    """
    known: tuple[str, ...] = ()
    where: list[int] | None = None
    for message, received in _messages(path, topic):
        names = tuple(message.name)
        if names != known:
            known = names
            seen.update(names)
            where = [names.index(joint) for joint in joint_names] if set(joint_names) <= set(names) else None
        if where is None or len(message.position) != len(names):
            continue
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        qd, effort = (
            values[where] if len(values) == len(names) else None for values in (message.velocity, message.effort)
        )
        yield stamp or 1e-9 * received, message.position[where], qd, effort


def columns(path: Path, joint_names: Sequence[str], topic: str) -> Array | None:
    """Return the states of the joints as an array, where all messages of the topic are alike; see `state_columns`.

    Raises:
        InputError: rosbags is not installed, or the bag cannot be read.
    """
    with _open(path) as reader:
        found = [each for each in _of(reader, topic) if each[0].msgtype == TYPE]
        return state_columns([data for _, _, data in found], [received for _, received, _ in found], joint_names)


def state_columns(messages: Sequence[bytes], received: Sequence[int], joint_names: Sequence[str]) -> Array | None:
    """Return a row with time, s, positions, velocities and efforts for each sensor_msgs/JointState.

    A driver's messages differ in their stamps and numbers alone; as one array they are read thirty times as fast.

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
    except (StructError, UnicodeDecodeError):
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


def _messages(path: Path, topic: str) -> Iterator[tuple[Any, int]]:
    """Yield the messages of a topic, and when each was received, ns."""
    with _open(path) as reader:
        for connection, received, data in _of(reader, topic):
            yield reader.deserialize(data, connection.msgtype), received


def _of(reader: Any, topic: str) -> Iterator[tuple[Any, int, bytes]]:
    """Yield connection, time of receipt, ns, and bytes of the messages of a topic."""
    chosen = [c for c in reader.connections if c.topic.lstrip("/") == topic.lstrip("/")]
    if chosen:
        yield from reader.messages(connections=chosen)


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise InputError("recording", "rosbags, which reads bags, is not installed: pip install rosbags") from error
    if path.is_dir() and not (path / "metadata.yaml").is_file():
        problem = "is no folder of a bag: it has no metadata.yaml, which `ros2 bag reindex` makes anew"
        raise InputError("recording", f"'{path}' {problem}")
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            yield reader
    except Exception as error:
        if isinstance(error, InputError):
            raise
        raise InputError("recording", f"'{path}' cannot be read as a bag: {error}") from error
