# SPDX-License-Identifier: Apache-2.0
"""What the settings mean for control: limits of commands and positions, and when commands end."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.control.command_supervisor import SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.mode_conditions import ModeConditions
from ros2_dyn.control.mode_settings import FeedForwardSettings
from ros2_dyn.control.position_limits import PositionLimits
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.settings import Settings


def command_limits(model: RobotModel, settings: Settings) -> CommandLimits:
    """Return what commands may be: fractions of the URDF's limits."""
    effort = settings.commands.effort_scale * model.effort_limit
    velocity = settings.commands.velocity_scale * model.velocity_limit
    torque_rate = np.array(settings.in_order(settings.commands.torque_rate, model, inf))
    return CommandLimits(
        model.joint_names, effort, np.minimum(settings.commands.slew_rate * effort, torque_rate), velocity
    )


def position_limits(robot: RobotDynamics) -> PositionLimits:
    """Return the URDF's position limits; a braking effort is reached after the time that the slew rate needs."""
    return PositionLimits(robot.model.joint_names, robot.lower, robot.upper, 1 / robot.settings.commands.slew_rate)


def supervisor_policy(settings: Settings) -> SupervisorPolicy:
    """Return when commands end, and how."""
    conditions = ModeConditions(
        settings.commands.target_timeout,
        settings.mode(FeedForwardSettings).tolerance,
        settings.commands.collision_stop_modes,
        settings.states.timeout,
        settings.outputs.singularity_threshold,
        settings.commands.max_tip_speed,
        settings.commands.max_tip_travel,
        settings.commands.require_enable,
        settings.commands.enable_timeout,
        settings.commands.energy_budget,
    )
    return SupervisorPolicy(
        settings.commands.ramp_time, settings.states.timeout, settings.commands.stop_behaviour, conditions
    )
