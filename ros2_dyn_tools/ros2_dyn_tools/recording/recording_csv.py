# SPDX-License-Identifier: Apache-2.0
"""States of joints from a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from ros2_dyn.errors import InputError
from ros2_dyn_tools.recording.recording_bag import State

FIELDS = ("position", "velocity", "effort")


def states(path: Path, joint_names: Sequence[str]) -> Iterator[State]:
    """Yield the states of the joints; what has no column, or an empty cell, is missing in a state.

    Args:
        path: the file; its first line names the columns ``time`` and ``<joint>.position``, ``<joint>.velocity`` and
            ``<joint>.effort``, in any order and beside others.
        joint_names: the joints.

    Raises:
        InputError: the file cannot be read, a column is missing, or a cell is not a number.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            header = [name.strip() for name in next(lines, [])]
            time, *columns = _columns(path, header, joint_names)
            for cells in lines:
                if not cells:
                    continue
                try:
                    if len(cells) != len(header):
                        raise ValueError(f"expected {len(header)} cells, got {len(cells)}")
                    q, qd, effort = (_numbers(cells, column) for column in columns)
                    (t,) = _numbers(cells, time) or [float("nan")]
                except ValueError as error:
                    raise InputError("recording", f"'{path}', line {lines.line_num}: {error}") from error
                if q is None:
                    continue
                yield t, q, qd, effort
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError("recording", f"'{path}' cannot be read: {error}") from error


def _columns(path: Path, header: list[str], joint_names: Sequence[str]) -> list[list[int]]:
    """Return where the time, the positions, the velocities and the efforts are; empty for those that are nowhere."""
    names = [["time"], *([f"{joint}.{field}" for joint in joint_names] for field in FIELDS)]
    for name in names[0] + names[1]:
        if name not in header:
            raise InputError("recording", f"'{path}' has no column '{name}'; it has {', '.join(header)}")
    return [[header.index(name) for name in some] if set(some) <= set(header) else [] for some in names]


def _numbers(cells: list[str], columns: list[int]) -> list[float] | None:
    """Return the numbers in some cells; None where there are no columns, or a cell is empty."""
    texts = [cells[column] for column in columns]
    return [float(text) for text in texts] if texts and all(text.strip() for text in texts) else None
