# SPDX-License-Identifier: Apache-2.0
"""What a controller is sent for an effort: the effort itself, a position of a servo, or a current."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.settings import Settings


class CommandConversion:
    """From the efforts of one robot to what its controller is sent.

    A position servo of stiffness k exerts ``k (q_command - q)``. So ``q_command = q + tau / k`` makes it exert tau at
    the measured q. Where it has moved on since, it is held back, as by a damper of k times the delay. Where commands
    end, it holds its place.
    """

    def __init__(self, model: RobotModel, settings: Settings) -> None:
        """Take the numbers of a robot.

        Raises:
            InputError: a command needs a number of each joint that is not set, is zero, or is negative for a servo.
        """
        commands, self._factor = settings.commands, np.ones(model.n)
        self._of_servos = commands.command_effort == "position_offset"
        if commands.converts:
            numbers = np.array(settings.in_order(commands.effort_per_unit, model, 0.0))
            for joint, number in zip(model.joint_names, numbers):
                if number == 0 or (self._of_servos and number < 0):
                    needs = f"command_effort '{commands.command_effort}' needs it of each joint"
                    raise InputError("commands.effort_per_unit", f"{needs}; that of '{joint}' is {number:g}")
            self._factor = 1 / numbers

    def data(self, effort: Array, q: Sequence[float] | None) -> Array | None:
        """Return what the controller is sent, shape (n,).

        Args:
            effort: N m or N, shape (n,).
            q: newest measured positions that are believed, rad or m, shape (n,); None: there are none, and a servo
                stays where it is.
        """
        converted = effort * self._factor
        if not self._of_servos:
            return converted
        return None if q is None else np.array(q) + converted
