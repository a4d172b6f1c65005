# SPDX-License-Identifier: Apache-2.0
"""What the settings mean for control: limits of commands and positions, and when commands end."""

from __future__ import annotations

from math import inf

import numpy as np

from ros2_dyn.control.command_supervisor import SupervisorPolicy
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.mode_conditions import ModeConditions
from ros2_dyn.control.position_limits import PositionLimits
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.settings import Settings


def command_limits(model: RobotModel, settings: Settings) -> CommandLimits:
    """Return what commands may be: fractions of the URDF's limits."""
    effort = settings.effort_scale * model.effort_limit
    velocity = settings.velocity_scale * model.velocity_limit
    torque_rate = np.array(settings.in_order(settings.torque_rate, model, inf))
    return CommandLimits(model.joint_names, effort, np.minimum(settings.slew_rate * effort, torque_rate), velocity)


def position_limits(robot: RobotDynamics) -> PositionLimits:
    """Return the URDF's position limits; a braking effort is reached after the time that the slew rate needs."""
    return PositionLimits(robot.model.joint_names, robot.lower, robot.upper, 1 / robot.settings.slew_rate)


def supervisor_policy(settings: Settings) -> SupervisorPolicy:
    """Return when commands end, and how."""
    conditions = ModeConditions(
        settings.target_timeout,
        settings.tracking_tolerance,
        settings.collision_stop_modes,
        settings.state_timeout,
        settings.singularity_threshold,
        settings.max_tip_speed,
        settings.force_travel_limit,
        settings.require_enable,
        settings.enable_timeout,
        settings.energy_budget,
    )
    return SupervisorPolicy(settings.ramp_time, settings.state_timeout, settings.stop_behaviour, conditions)
