# SPDX-License-Identifier: Apache-2.0
"""What a controller is sent for an effort: the effort itself, a position of a servo, or a current."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.effort_convention import NUMBERS_NEEDED
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
            InputError: the interface needs a number of each joint that is not set, or is zero.
        """
        self._interface = settings.commands.interface
        self._factor = np.ones(model.n)
        name = NUMBERS_NEEDED.get(self._interface)
        if name is not None:
            numbers = np.array(settings.in_order(getattr(settings.commands, name), model, 0.0))
            for joint, number in zip(model.joint_names, numbers):
                if number == 0:
                    needs = f"commands.interface '{self._interface}' needs it of each joint; '{joint}' has none"
                    raise InputError(f"commands.{name}", needs)
            self._factor = 1 / numbers

    def data(self, effort: Array, q: Sequence[float] | None) -> Array | None:
        """Return what the controller is sent, shape (n,).

        Args:
            effort: N m or N, shape (n,).
            q: newest measured positions that are believed, rad or m, shape (n,); None: there are none, and a servo
                stays where it is.
        """
        converted = effort * self._factor
        if self._interface != "position_offset":
            return converted
        return None if q is None else np.array(q) + converted
