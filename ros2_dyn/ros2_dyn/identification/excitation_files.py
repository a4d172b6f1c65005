"""Files of a trajectory: trajectory_msgs/JointTrajectory as YAML, and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ros2_dyn.identification.excitation import FourierTrajectory
from ros2_dyn.model.spatial import Array

DIGITS = 9
"""Decimals of the numbers."""


def write_trajectory(trajectory: FourierTrajectory, joint_names: Sequence[str], rate: float, path: Path) -> None:
    """Write the points of a trajectory at a rate, Hz, as a message in YAML: `ros2 topic pub --yaml-file` takes it.

    The last point is at the end; all velocities and accelerations are zero there.
    """
    lines = ["header:", "  stamp: {sec: 0, nanosec: 0}", '  frame_id: ""', "joint_names:"]
    lines += [f'- "{name}"' for name in joint_names]
    lines.append("points:")
    times = trajectory.times(rate)
    for t, q, qd, qdd in zip(times, *trajectory.at(times)):
        sec, nanosec = divmod(round(1e9 * t), 10**9)
        lines += [f"- positions: {_row(q)}", f"  velocities: {_row(qd)}", f"  accelerations: {_row(qdd)}"]
        lines.append(f"  time_from_start: {{sec: {sec}, nanosec: {nanosec}}}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(values: Array) -> str:
    return "[" + ", ".join(_number(value) for value in values) + "]"


def _number(value: float) -> str:
    """Return a number with a decimal point, as YAML's floats need it."""
    return f"{value + 0.0:.{DIGITS}f}"


def write_csv(trajectory: FourierTrajectory, joint_names: Sequence[str], rate: float, path: Path) -> None:
    """Write the points at a rate, Hz, in the columns time and, for each joint, position, velocity and acceleration."""
    times = trajectory.times(rate)
    motion = np.stack(trajectory.at(times), axis=-1).reshape(len(times), -1)
    kinds = ("position", "velocity", "acceleration")
    header = ",".join(["time", *(f"{name}.{kind}" for name in joint_names for kind in kinds)])
    table = np.column_stack([times, motion])
    np.savetxt(path, table, fmt=f"%.{DIGITS}f", delimiter=",", header=header, comments="")
