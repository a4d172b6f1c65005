"""Recording of measured states and efforts of a robot as arrays, from a rosbag2 file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array


class Recording(NamedTuple):
    """Measured states of some joints at increasing times."""

    t: Array
    """Time since the first state, s, shape (m,)."""
    q: Array
    """Joint positions, rad or m, shape (m, n)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (m, n)."""
    effort: Array
    """Measured efforts in the driver's unit, shape (m, n)."""

    def between(self, start: float, end: float) -> Recording:
        """Return the part between two fractions (0 to 1) of the duration."""
        T = self.t[-1]
        part = (self.t >= start * T) & (self.t <= end * T)
        return Recording(*(values[part] for values in self))


def read_recording(path: str | Path, joint_names: Sequence[str], topic: str = "/joint_states") -> Recording:
    """Read the states of some joints from a bag; states that are not later than the one before are skipped.

    Args:
        path: folder, .db3 file or .mcap file.
        joint_names: the joints, matched by name.
        topic: topic of type sensor_msgs/JointState.

    Raises:
        InputError: rosbags is not installed, the bag cannot be read, or no message has a complete state of the joints.
    """
    rows: list[tuple[float, list[float]]] = []
    seen: set[str] = set()
    for message in _messages(Path(path), topic):
        names = list(message.name)
        seen.update(names)
        t = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if not set(joint_names) <= set(names) or (rows and t <= rows[-1][0]):
            continue
        where = [names.index(joint) for joint in joint_names]
        if all(len(values) == len(names) for values in (message.position, message.velocity, message.effort)):
            rows.append((t, [v[i] for v in (message.position, message.velocity, message.effort) for i in where]))
    if not rows:
        known = f"its joints are {', '.join(sorted(seen))}" if seen else f"it has no messages on {topic}"
        raise InputError("bag", f"'{path}' has no complete states of {', '.join(joint_names)}: {known}")
    table = np.array([row for _, row in rows])
    if not np.all(np.isfinite(table)):
        raise InputError("bag", f"'{path}' has numbers that are not finite")
    q, qd, effort = np.split(table, 3, axis=1)
    t = np.array([t for t, _ in rows])
    return Recording(t - t[0], q, qd, effort)


def _messages(path: Path, topic: str):  # type: ignore[no-untyped-def]
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise InputError("bag", "rosbags, which reads it, is not installed: pip install rosbags") from error
    if not path.exists():
        raise InputError("bag", f"there is no '{path}'")
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            chosen = [c for c in reader.connections if c.topic.lstrip("/") == topic.lstrip("/")]
            for connection, _, data in reader.messages(connections=chosen) if chosen else ():
                yield reader.deserialize(data, connection.msgtype)
    except Exception as error:
        if isinstance(error, InputError):
            raise
        raise InputError("bag", f"'{path}' cannot be read: {error}") from error
