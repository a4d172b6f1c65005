# SPDX-License-Identifier: Apache-2.0
"""What a controller is sent for an effort: the effort itself, a position of a servo, or a current."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.settings import Settings


def command_limits(model: RobotModel, commands: CommandSettings) -> CommandLimits:
    """Return what commands may be: fractions of the URDF's limits."""
    effort, velocity = commands.effort_scale * model.effort_limit, commands.velocity_scale * model.velocity_limit
    return CommandLimits(model.joint_names, effort, commands.slew_rate * effort, velocity)


class Sent(NamedTuple):
    """What a controller was sent."""

    at: float
    """When, s."""
    data: Array
    """In the model's order, shape (n,)."""


class CommandConversion:
    """From the efforts of one robot to what its controller is sent.

    A position servo of stiffness k exerts ``k (q_command - q)``. So ``q_command = q + tau / k`` makes it exert tau at
    the measured q. Where it has moved on since, it is held back, as by a damper of k times the delay. Where commands
    end, it holds its place. A servo goes where it is sent, so its command moves no faster than the joint and its effort
    may, and is of no position beyond the joint's limits: measured positions that run away take no arm with them.
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
        limits = command_limits(model, commands)
        self._lower, self._upper = model.lower, model.upper
        self._speed = limits.velocity + limits.slew_rate * np.abs(self._factor)  # of what servos are sent

    def data(
        self, effort: Array, q: Sequence[float] | None, before: Sent | None = None, now: float = 0.0
    ) -> Array | None:
        """Return what the controller is sent, shape (n,).

        Args:
            effort: N m or N, shape (n,).
            q: newest measured positions that are believed, rad or m, shape (n,); None: there are none, and a servo
                stays where it is.
            before: what it was sent before; None: nothing that holds still.
            now: time, s.
        """
        converted = effort * self._factor
        if not self._of_servos:
            return converted
        if q is None:
            return None
        wanted = np.clip(q, self._lower, self._upper) + converted
        if before is None:
            return wanted
        reach = self._speed * (now - before.at)
        return before.data + np.clip(wanted - before.data, -reach, reach)

    def exerted(self, data: Array, q: Array) -> Array:
        """Return what the joints exert at positions, rad or m, (n,), while a controller holds what it was sent, (n,).

        Of a servo that is another effort wherever the joint is: it holds its place.
        """
        return (data - q if self._of_servos else data) / self._factor
