# SPDX-License-Identifier: Apache-2.0
"""The parameters that all modes share: what is commanded, within which limits, and what ends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ros2_dyn.control.parameter import Group, parameter

Convention = Literal["raw", "gravity_compensated", "gravity_and_friction_compensated"]
"""What an effort command is to be: all that the joint exerts, or that without what the robot adds itself."""
CommandEffort = Literal["raw", "gravity_compensated", "gravity_and_friction_compensated", "position_offset", "current"]
"""What a command is: efforts of a `Convention`, or what servos or motors make the raw effort of."""
StopBehaviour = Literal["hold_gravity", "zero_effort", "none"]
"""Command after a stop: damped gravity compensation, which goes on; zero, then none; or none at once."""
LEVER = 0.2
"""Moments and rotations of the tip may be as large and as fast as a force and a motion at this lever, m."""


def robot_adds_friction(kind: Convention) -> bool:
    """Return whether the robot itself compensates the friction of its joints."""
    return kind == "gravity_and_friction_compensated"


@dataclass(frozen=True)
class CommandSettings(Group, name="commands", title="Commands: limits, ramps and stops"):
    """What is commanded, within which limits, and what ends it."""

    command_effort: CommandEffort = parameter(
        "raw",
        "What ~/command gives: raw (the whole joint effort, N m or N), gravity_compensated where the robot adds "
        "gravity itself, gravity_and_friction_compensated where it adds both, as Franka's does, position_offset "
        "(positions of servos that exert the effort), or current (A). hand_guiding adds friction but where the robot "
        "adds gravity.",
        locked=True,
    )
    effort_per_unit: tuple[float, ...] = parameter(
        (),
        "Effort of each joint per unit of ~/command: of position_offset the stiffness of its servo, N m/rad or N/m; of "
        "current the constant of its motor, N m/A or N/A.",
        per_joint=True,
        signed=True,
        locked=True,
        example=[20.0, 20.0],
    )
    effort_scale: float = parameter(
        0.8, "Fraction of the URDF's effort limits that commands may use.", low=0.01, high=1.0, locked=True
    )
    slew_rate: float = parameter(
        10.0,
        "Maximum rate of change of a command, as a multiple of its limit, 1/s. One command uses at most 20 ms of it.",
        low=0.1,
        high=1000.0,
        locked=True,
    )
    velocity_scale: float = parameter(
        1.0, "Fraction of the URDF's velocity limits above which a mode stops.", low=0.01, high=1.0, locked=True
    )
    require_enable: bool = parameter(
        True,
        "Whether modes in which people or things are touched need an enabling signal on ~/enable: hand_guiding, force "
        "and impedance.",
        locked=True,
    )
    target_timeout: float = parameter(
        0.1,
        "Maximum age of what feed_forward and force follow, and of a desired state of another stamp, s. The enabling "
        "signal may be twice as old.",
        low=0.001,
        high=10.0,
        locked=True,
    )
    max_tip_speed: float = parameter(
        0.25,
        "Speed of the tip above which all modes but feed_forward stop, m/s; or of a joint, on a lever of 0.2 m. "
        "Both are braked from 0.8 times it. Impedance approaches a desired pose with 0.4 times it.",
        low=0.01,
        high=10.0,
        locked=True,
    )
    ramp_time: float = parameter(
        0.5, "Duration of the ramp when a mode is entered, or ends in zero effort, s.", low=0.0, high=10.0, locked=True
    )
    delay: float = parameter(
        0.0,
        "Delay of the commands until the joints exert them, s, as far as it is known. Measured efforts that follow the "
        "commands later replace it. Gains follow it, and the age of the states.",
        low=0.0,
        high=0.2,
        locked=True,
    )
    model_tolerance: float = parameter(
        0.1,
        "Difference between the efforts of the arm and of its model that friction does not explain, as a fraction of "
        "the URDF's effort limit, or of 4 times what the arm weighs: above it a mode is refused, or stops. 10.0: the "
        "model is never doubted.",
        low=0.001,
        high=10.0,
        locked=True,
    )
    stop_behaviour: StopBehaviour = parameter(
        "hold_gravity",
        "Command after a stop: hold_gravity (damped gravity compensation, which goes on), zero_effort "
        "(zero, then none), or none, for a controller that holds the arm when commands end. A "
        "forward_command_controller holds the last command for ever.",
        locked=True,
    )
    stop_service: str = parameter(
        "",
        "Service of type std_srvs/Trigger that is called when a stop does not stop the arm: brakes, or a switch of the "
        "controller. Empty: none.",
    )
    max_force: float = parameter(
        50.0,
        "Force above which ~/desired_wrench is rejected, and largest force of the spring of impedance, N; of moments "
        "that on a lever of 0.2 m. A wrench takes 1 s at least to grow to it.",
        low=0.1,
        high=10000.0,
        locked=True,
    )
    max_tip_travel: float = parameter(
        0.3,
        "Distance of the tip above which it stops, m: in force from where the mode began, in impedance from the "
        "desired pose along axes without stiffness.",
        low=1e-3,
        high=10.0,
        locked=True,
    )

    @property
    def converts(self) -> bool:
        """Whether commands are no efforts, but what servos or motors make efforts of."""
        return self.command_effort in ("position_offset", "current")

    @property
    def convention(self) -> Convention:
        """What the efforts are of which the commands are made."""
        effort = self.command_effort
        return "raw" if effort == "position_offset" or effort == "current" else effort

    @property
    def enable_timeout(self) -> float:
        """Maximum age of the enabling signal, s."""
        return 2 * self.target_timeout

    @property
    def approach_speed(self) -> float:
        """Speed at which a desired pose is approached, m/s: the tip may lag behind, and catch up."""
        return 0.4 * self.max_tip_speed

    @property
    def max_moment(self) -> float:
        """Largest moment, N m."""
        return LEVER * self.max_force
