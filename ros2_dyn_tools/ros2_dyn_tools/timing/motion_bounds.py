# SPDX-License-Identifier: Apache-2.0
"""Limits that a timing keeps: velocity, acceleration, jerk and effort of each joint."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.plain_yaml import read_yaml
from ros2_dyn.model.spatial import Array


@dataclass(frozen=True, eq=False)
class MotionBounds:
    """Largest absolute values of each joint; arrays of shape (n,). Infinite where there is no limit."""

    velocity: Array
    """rad/s or m/s."""
    acceleration: Array
    """rad/s^2 or m/s^2."""
    jerk: Array
    """rad/s^3 or m/s^3."""
    effort: Array
    """N m or N."""

    @classmethod
    def of(
        cls,
        model: RobotModel,
        acceleration: ArrayLike = np.inf,
        jerk: ArrayLike = np.inf,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
    ) -> MotionBounds:
        """Return the limits of a robot.

        Args:
            model: the robot.
            acceleration: rad/s^2 or m/s^2, shape (n,) or one for all joints; infinite for none.
            jerk: the same, rad/s^3 or m/s^3.
            velocity: the same, rad/s or m/s; those of the robot description for None.
            effort: the same, N m or N; those of the robot description for None.

        Raises:
            InputError: a limit is not positive, or there are more or fewer than joints.
        """
        given = {
            "velocity": model.velocity_limit if velocity is None else velocity,
            "acceleration": acceleration,
            "jerk": jerk,
            "effort": model.effort_limit if effort is None else effort,
        }
        return cls(**{name: _limits(name, model, values) for name, values in given.items()})

    def scaled(self, share: float, effort_share: float) -> MotionBounds:
        """Return shares of these limits: one of velocities, accelerations and jerks, and one of efforts.

        Raises:
            InputError: a share is not above 0 and at most 1.
        """
        for name, value in (("share", share), ("effort_share", effort_share)):
            if not 0 < value <= 1:
                raise InputError(name, f"expected a number above 0, at most 1, got {value}")
        shares = {field.name: effort_share if field.name == "effort" else share for field in fields(self)}
        return replace(self, **{name: value * getattr(self, name) for name, value in shares.items()})

    def with_file(self, path: Path, model: RobotModel) -> MotionBounds:
        """Return these limits with those that a joint_limits.yaml, as of MoveIt, gives instead.

        The file has ``joint_limits: {JOINT: {has_velocity_limits: true, max_velocity: 2.0, ...}}`` with velocity,
        acceleration, jerk and effort. A limit whose ``has_`` is false is none; other keys are ignored.

        Raises:
            InputError: the file cannot be read, names an unknown joint, or a limit is no positive number.
        """
        data = read_yaml(path, "limits")
        joints = data.get("joint_limits") if isinstance(data, dict) else None
        if not isinstance(joints, dict):
            raise InputError("limits", f"'{path}': expected a mapping joint_limits, as MoveIt has it")
        tables = {field.name: getattr(self, field.name).copy() for field in fields(self)}
        for joint, given in joints.items():
            if joint not in model.joint_names:
                raise InputError("limits", f"the robot has no joint '{joint}'; it has {', '.join(model.joint_names)}")
            if not isinstance(given, dict):
                raise InputError("limits", f"expected a mapping for joint '{joint}', got {given!r}")
            for name, table in tables.items():
                _change(table, model.joint_names.index(joint), given, joint, name)
        return MotionBounds(**{name: _limits(name, model, table) for name, table in tables.items()})


def _change(table: Array, i: int, limits: dict[str, Any], joint: str, name: str) -> None:
    """Take a joint's limit from the keys has_NAME_limits and max_NAME, where they are given."""
    value = limits.get(f"max_{name}")
    if limits.get(f"has_{name}_limits", True) is False:
        table[i] = np.inf
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value):
        table[i] = value
    elif value is not None:
        raise InputError(f"joint '{joint}'", f"max_{name}: expected a finite number, got {value!r}")


def _limits(name: str, model: RobotModel, given: ArrayLike) -> Array:
    """Return the numbers of n joints, shape (n,), given as such or as one for all."""
    numbers = np.asarray(given, dtype=float)
    if numbers.shape not in ((), (model.n,)):
        raise InputError(name, f"expected one limit or {model.n}, got {numbers.tolist()}")
    numbers = np.broadcast_to(numbers, (model.n,))
    for joint, value in zip(model.joint_names, numbers):
        if not value > 0:
            raise InputError(f"joint '{joint}'", f"its {name} limit is {value:g}: give a positive one")
    return numbers
