"""States of joints from a rosbag2 file, by rosbags, so without ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ros2_dyn.errors import InputError

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


def _messages(path: Path, topic: str) -> Iterator[tuple[Any, int]]:
    """Yield the messages of a topic, and when each was received, ns."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise InputError("recording", "rosbags, which reads bags, is not installed: pip install rosbags") from error
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            chosen = [c for c in reader.connections if c.topic.lstrip("/") == topic.lstrip("/")]
            for connection, received, data in reader.messages(connections=chosen) if chosen else ():
                yield reader.deserialize(data, connection.msgtype), received
    except Exception as error:
        if isinstance(error, InputError):
            raise
        raise InputError("recording", f"'{path}' cannot be read as a bag: {error}") from error
