# SPDX-License-Identifier: Apache-2.0
"""Recording of measured states and efforts of a robot as arrays, from a rosbag2 or CSV file, without ROS."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording import recording_bag, recording_csv
from ros2_dyn_tools.recording.recording_bag import State


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


def read_recording(
    path: str | Path, joint_names: Sequence[str], topic: str = "/joint_states", partial: bool = False
) -> Recording:
    """Read the states of some joints from a rosbag2 or CSV file; an hour at 1 kHz takes some 0.6 GB for six joints.

    A state that is not later than the one before is skipped, and so is one that lacks velocities or efforts. Where none
    has velocities, they are the derivatives of the positions. Where a bag's states have no stamp, the time at which
    they were recorded counts.

    Args:
        path: folder, .db3 file or .mcap file of a bag, or a .csv file. The header of a CSV file is
            ``time,<joint>.position,<joint>.velocity,<joint>.effort,...`` in any order; times are in s.
        joint_names: the joints, matched by name.
        topic: topic of type sensor_msgs/JointState in a bag.
        partial: whether a state without velocities or efforts has NaN there, and states with the stamp of the one
            before, or an earlier one, are kept.

    Raises:
        InputError: rosbags is not installed, the file cannot be read, or it has no state of the joints.
    """
    path = Path(path)
    if not path.exists():
        raise InputError("recording", f"there is no '{path}'")
    seen: set[str] = set()
    is_csv = path.suffix.lower() == ".csv"
    columns = None if is_csv or partial else recording_bag.columns(path, joint_names, topic)
    if columns is not None:
        table = columns[columns[:, 0] > np.append(-np.inf, np.maximum.accumulate(columns[:-1, 0]))]
    else:
        rows = (
            recording_csv.states(path, joint_names) if is_csv else recording_bag.states(path, joint_names, topic, seen)
        )
        table = _table(rows, 1 + 3 * len(joint_names), partial)
        table = table if partial else _with_velocities(table)
    if not len(table):
        known = f"its joints are {', '.join(sorted(seen))}" if seen else f"it has no messages on {topic}"
        known = "no line has all their values" if is_csv else known
        raise InputError("recording", f"'{path}' has no complete states of {', '.join(joint_names)}: {known}")
    table[:, 0] -= table[0, 0]
    q, qd, effort = np.split(table[:, 1:], 3, axis=1)
    needed = (table[:, 0], q) if partial else (table,)
    if not all(np.all(np.isfinite(part)) for part in needed):
        raise InputError("recording", f"'{path}' has numbers that are not finite")
    return Recording(table[:, 0], q, qd, effort)


def _table(states: Iterable[State], width: int, partial: bool) -> Array:
    """Return a row for each state that counts, shape (m, width).

    Rows are kept as plain doubles: a list of numbers would take four times the memory.
    """
    values, last = array("d"), -np.inf
    missing = [np.nan] * (width // 3)
    for t, q, qd, effort in states:
        if partial or (t > last and effort is not None):
            values.append(t)
            for part in (q, qd, effort):
                values.extend(missing if part is None else part)
            last = t
    return np.frombuffer(values).reshape(-1, width)


def _with_velocities(table: Array) -> Array:
    """Return the rows that have velocities; where none has, all of them, with the derivatives of the positions."""
    n = table.shape[1] // 3
    lacks = np.any(np.isnan(table[:, 1 + n : 1 + 2 * n]), axis=1)
    if not np.all(lacks) or len(table) < 2:
        return table[~lacks]
    for i in range(1, 1 + n):  # joint by joint: an hour at 1 kHz is half a gigabyte
        table[:, n + i] = np.gradient(table[:, i], table[:, 0])
    return table
