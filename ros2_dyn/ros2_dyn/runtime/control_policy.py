# SPDX-License-Identifier: Apache-2.0
"""What the settings mean for control: limits of commands and positions, and when commands end."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.control.command_supervisor import SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.settings import Settings


def command_limits(model: RobotModel, settings: Settings) -> CommandLimits:
    """Return what commands may be: fractions of the URDF's limits."""
    effort = settings.commands.effort_scale * model.effort_limit
    velocity = settings.commands.velocity_scale * model.velocity_limit
    torque_rate = np.array(settings.in_order(settings.commands.torque_rate, model, inf))
    return CommandLimits(
        model.joint_names, effort, np.minimum(settings.commands.slew_rate * effort, torque_rate), velocity
    )


def supervisor_policy(settings: Settings) -> SupervisorPolicy:
    """Return when commands end, and how."""
    commands = settings.commands
    return SupervisorPolicy(commands.ramp_time, settings.states.timeout, commands.stop_behaviour)
