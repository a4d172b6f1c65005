# SPDX-License-Identifier: Apache-2.0
"""What the settings mean for control: limits of commands and positions, and when commands end."""

from __future__ import annotations

from ros2_dyn.control.command_supervisor import SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.settings import Settings


def command_limits(model: RobotModel, settings: Settings) -> CommandLimits:
    """Return what commands may be: a fraction of the URDF's efforts, and its velocities."""
    effort = settings.commands.effort_scale * model.effort_limit
    return CommandLimits(model.joint_names, effort, settings.commands.slew_rate * effort, model.velocity_limit)


def supervisor_policy(settings: Settings) -> SupervisorPolicy:
    """Return when commands end, and how."""
    commands = settings.commands
    return SupervisorPolicy(commands.ramp_time, settings.states.timeout, commands.stop_behaviour)
