# SPDX-License-Identifier: Apache-2.0
"""Files of a trajectory: trajectory_msgs/JointTrajectory as YAML, and CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.timing.joint_trajectory import QUANTITIES, JointTrajectory

DIGITS = 9
"""Decimals of the numbers."""
COLUMNS = {"positions": "position", "velocities": "velocity", "accelerations": "acceleration", "effort": "effort"}
"""What the columns of a CSV file call the quantities of a point: `<joint>.position`."""


def read_trajectory(path: Path) -> JointTrajectory:
    """Read a trajectory: CSV from names that end in .csv, YAML from others.

    Raises:
        InputError: the file cannot be read, or is no trajectory.
    """
    try:
        if path.suffix == ".csv":
            return _read_csv(path)
        return _read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError("trajectory", f"'{path}' cannot be read: {error}") from error
    except InputError as error:
        raise InputError("trajectory", f"'{path}': {error}") from error


def write_trajectory(trajectory: JointTrajectory, path: Path) -> None:
    """Write a trajectory: CSV to names that end in .csv, YAML to others.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        (write_csv if path.suffix == ".csv" else write_yaml)(trajectory, path)
    except OSError as error:
        raise InputError("output", f"'{path}' cannot be written: {error}") from error


def write_yaml(trajectory: JointTrajectory, path: Path) -> None:
    """Write the points as a message in YAML: `ros2 topic pub --yaml-file` takes it."""
    lines = ["header:", "  stamp: {sec: 0, nanosec: 0}", '  frame_id: ""', "joint_names:"]
    lines += [f'- "{name}"' for name in trajectory.joint_names]
    lines.append("points:")
    given = _given(trajectory)
    for i, t in enumerate(trajectory.times):
        sec, nanosec = divmod(round(1e9 * t), 10**9)
        rows = [f"{name}: {_row(table[i])}" for name, table in given.items()]
        lines += [f"{'  ' if k else '- '}{row}" for k, row in enumerate(rows)]
        lines.append(f"  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_csv(trajectory: JointTrajectory, path: Path) -> None:
    """Write the points in the columns time and, for each joint, what the points have of it."""
    given = _given(trajectory)
    table = np.stack(list(given.values()), axis=-1).reshape(len(trajectory.times), -1)
    header = ",".join(["time", *(f"{name}.{COLUMNS[kind]}" for name in trajectory.joint_names for kind in given)])
    rows = np.column_stack([trajectory.times, table])
    np.savetxt(path, rows, fmt=f"%.{DIGITS}f", delimiter=",", header=header, comments="")


def _given(trajectory: JointTrajectory) -> dict[str, Array]:
    """Return the quantities that the points have, by name."""
    tables = {name: getattr(trajectory, name) for name in QUANTITIES}
    return {name: table for name, table in tables.items() if table is not None}


def _row(values: Array) -> str:
    return "[" + ", ".join(_number(value) for value in values) + "]"


def _number(value: float) -> str:
    """Return a number with a decimal point, as YAML's floats need it."""
    return f"{value + 0.0:.{DIGITS}f}"


def _read_yaml(text: str) -> JointTrajectory:
    """Return the first document's trajectory; that of a goal or of a RobotTrajectory, where it is inside of one."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # thirty times faster, where it is installed
    try:
        data = next((each for each in yaml.load_all(text, loader) if each is not None), None)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError("text", f"it cannot be read as YAML: {' '.join(str(error).split())}") from error
    for outer in ("trajectory", "joint_trajectory"):
        if isinstance(data, dict) and isinstance(data.get(outer), dict):
            data = data[outer]
    if not (isinstance(data, dict) and isinstance(data.get("joint_names"), list) and data.get("points")):
        raise InputError("text", "expected joint_names and points, as in trajectory_msgs/JointTrajectory")
    points = data["points"]
    if not (isinstance(points, list) and all(isinstance(point, dict) for point in points)):
        raise InputError("points", "expected a list of points")
    tables = {name: _table(points, name) for name in QUANTITIES}
    if tables["positions"] is None:
        raise InputError("points", "expected positions in every point")
    times = np.array([_seconds(point.get("time_from_start"), i) for i, point in enumerate(points)])
    return JointTrajectory(tuple(map(str, data["joint_names"])), times, **tables)  # type: ignore[arg-type]


def _table(points: list[dict[str, Any]], name: str) -> Array | None:
    """Return one quantity of all points, a row each; None where no point gives it."""
    rows = [point.get(name) or [] for point in points]
    if not any(rows):
        return None
    if len({len(row) if isinstance(row, list) else -1 for row in rows}) > 1:
        raise InputError(name, "expected lists of the same length in all points")
    try:
        return np.array(rows, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(name, f"expected numbers: {error}") from error


def _seconds(given: Any, i: int) -> float:
    """Return the time of point i, s, from a Duration: {sec, nanosec}, {secs, nsecs}, or a number."""
    try:
        if isinstance(given, dict):
            sec: Any = given.get("sec", given.get("secs", 0))
            nanosec: Any = given.get("nanosec", given.get("nsecs", 0))
            return float(sec) + 1e-9 * float(nanosec)
        return float(given)
    except (TypeError, ValueError) as error:
        raise InputError("time_from_start", f"point {i}: expected {{sec, nanosec}}, got {given}") from error


def _read_csv(path: Path) -> JointTrajectory:
    """Return the trajectory of the columns `time` and `<joint>.position`, and of others of them."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, *lines = [[cell.strip() for cell in line] for line in csv.reader(file) if line] or [[]]
    names = tuple(cell.removesuffix(".position") for cell in header if cell.endswith(".position"))
    if "time" not in header or not names or not lines:
        raise InputError("columns", f"expected time and <joint>.position, and rows; got {', '.join(header)}")
    for number, line in enumerate(lines, start=2):
        if len(line) != len(header):
            raise InputError(f"row {number}", f"expected {len(header)} cells, got {len(line)}")
    try:
        table = np.array(lines, dtype=float)
    except ValueError as error:
        raise InputError("cells", f"expected numbers: {error}") from error
    tables: dict[str, Any] = {}
    for name, column in COLUMNS.items():
        wanted = [f"{joint}.{column}" for joint in names]
        tables[name] = table[:, [header.index(each) for each in wanted]] if set(wanted) <= set(header) else None
    return JointTrajectory(names, table[:, header.index("time")], **tables)
