# SPDX-License-Identifier: Apache-2.0
"""Whether an arm can carry a payload where it stands, and a little way from there, within its effort limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.robot_dynamics import RobotDynamics

MIN_RAMP_TIME = 0.5
"""Shortest ramp of a payload that is changed while a mode commands, s."""
NEARBY = 0.3
"""Distance of one joint, rad or m, within which a payload has to be carried that is taken while a mode commands.

A stop may take this way. A payload above a joint's axis would otherwise weigh nothing until the joint moves.
"""


def check_payload(
    robot: RobotDynamics, q: Sequence[float], parameters: Sequence[float], nearby: float = NEARBY
) -> None:
    """Check that the limits carry a payload at joint positions, and with each joint moved by `nearby` to either side.

    Args:
        robot: the robot, whose payload link carries it.
        q: joint positions, rad or m, shape (n,).
        parameters: its inertial parameters, shape (10,).
        nearby: distance of one joint, rad or m; 0: only where it stands.

    Raises:
        InputError: a joint needs more effort against gravity than `effort_scale` allows.
    """
    command_limit = robot.limits.effort
    rest = [0.0] * robot.model.n
    for posture in _postures(np.array(q), nearby):
        (tau,) = robot.kernels.effort(posture.tolist(), rest, rest, robot.settings.robot.gravity, parameters)
        needed = np.abs(tau)
        if not np.all(needed <= command_limit):
            i = int(np.argmax(~(needed <= command_limit)))
            allowed = command_limit[i]
            where = f"within {nearby:g} rad or m of where the arm is" if nearby else "where the arm is"
            raise InputError(
                "mass",
                f"with a payload of {parameters[0]:.4g} kg joint '{robot.model.joint_names[i]}' would need "
                f"{needed[i]:.4g} N m or N against gravity {where}, commands.effort_scale allows {allowed:.4g}",
            )


def _postures(q: Array, nearby: float) -> Iterator[Array]:
    yield q
    if nearby:
        for offset in nearby * np.eye(len(q)):
            yield q + offset
            yield q - offset
