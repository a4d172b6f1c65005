# SPDX-License-Identifier: Apache-2.0
"""The parameters that all modes share: what is commanded, within which limits, and what ends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ros2_dyn.control.parameter import Group, parameter

CommandEffort = Literal["raw", "gravity_compensated", "gravity_and_friction_compensated"]
"""What an effort command is to be: all that the joint exerts, or that without what the robot adds itself."""
StopBehaviour = Literal["hold_gravity", "zero_effort", "none"]
"""Command after a stop: damped gravity compensation, which goes on; zero, then none; or none at once."""
MIN_TORQUE_RATE = 1.0
"""Smallest `commands.torque_rate`, N m/s or N/s: with 0 a stop would change no command."""


@dataclass(frozen=True)
class CommandSettings(Group, name="commands", title="Commands: limits, ramps and stops"):
    """What is commanded, within which limits, and what ends it."""

    command_effort: CommandEffort = parameter(
        "raw",
        "What the controllers expect: raw (the whole joint effort), gravity_compensated where the robot adds gravity "
        "itself, or gravity_and_friction_compensated where it adds both, as Franka's does. hand_guiding adds friction "
        "with raw only.",
        locked=True,
    )
    interface: str = parameter(
        "effort",
        "What ~/command gives: effort (N m or N), position_offset (positions of servos that exert these efforts, by "
        "`commands.servo_stiffness`), or current (A, by `commands.torque_constant`).",
        locked=True,
    )
    servo_stiffness: tuple[float, ...] = parameter(
        (),
        "Effort of the position servo of each joint per deviation, N m/rad or N/m.",
        per_joint=True,
        locked=True,
        example=[20.0, 20.0],
    )
    torque_constant: tuple[float, ...] = parameter(
        (),
        "Effort of each joint per current of its motor, N m/A or N/A.",
        per_joint=True,
        signed=True,
        locked=True,
        example=[1.8, 1.8],
    )
    joints: tuple[str, ...] = parameter(
        (),
        "Order of the controller's joints on ~/command. Not set: the robot's order.",
        locked=True,
        example=["shoulder_pan_joint", "shoulder_lift_joint"],
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
    torque_rate: tuple[float, ...] = parameter(
        (),
        "Maximum rate of change of the command of each joint, N m/s or N/s, where `commands.slew_rate` allows more. "
        "Not set: `commands.slew_rate` alone.",
        per_joint=True,
        low=MIN_TORQUE_RATE,
        locked=True,
        example=[1000.0, 1000.0],
    )
    velocity_scale: float = parameter(
        1.0, "Fraction of the URDF's velocity limits above which a mode stops.", low=0.01, high=1.0, locked=True
    )
    require_enable: tuple[str, ...] = parameter(
        (),
        "Modes that need an enabling signal on ~/enable. Not set: hand_guiding, force and impedance. [none]: no mode.",
        example=["hand_guiding"],
        locked=True,
    )
    enable_timeout: float = parameter(
        0.2,
        "Maximum age of the enabling signal, s. Publish it at least twice within this time.",
        low=0.02,
        high=2.0,
        locked=True,
    )
    max_tip_speed: float = parameter(
        0.25,
        "Speed of the tip above which hand_guiding, force and impedance stop, m/s. A hand is braked from 0.8 times it.",
        low=0.01,
        high=10.0,
        locked=True,
    )
    ramp_time: float = parameter(
        0.5, "Duration of the ramp when a mode is entered or left, s.", low=0.0, high=10.0, locked=True
    )
    delay: float = parameter(
        0.0,
        "Delay of the commands until the joints exert them, s, as far as it is known. Measured efforts that follow the "
        "commands later replace it. Gains follow it, and the age of the states.",
        low=0.0,
        high=0.2,
        locked=True,
    )
    energy_budget: float = parameter(
        0.02,
        "Energy that late commands may feed into the arm, J. From a tenth of it on damping is reduced; beyond it the "
        "mode ends.",
        low=0.001,
        high=1e12,
        locked=True,
    )
    target_timeout: float = parameter(
        0.1,
        "Maximum age of what feed_forward and force follow, and of a desired state of another stamp, s.",
        low=0.001,
        high=10.0,
        locked=True,
    )
    clock_timeout: float = parameter(
        2.0,
        "With use_sim_time: real time without /clock, s, after which time passes all the same, so that commands end.",
        low=0.01,
        high=3600.0,
        locked=True,
    )
    controller_node: str = parameter(
        "",
        "Node name of the controller that subscribes to ~/command, with its namespace or without. Empty: any "
        "subscriber that is not a tool such as ros2 topic echo or ros2 bag record.",
        locked=True,
    )
    controller_manager: str = parameter(
        "controller_manager",
        "Node that lists and switches the arm's controllers for ~/take_over and ~/give_back: ros2_control's "
        "controller_manager, or the mock arm.",
    )
    effort_controller: str = parameter(
        "",
        "Name of the controller that gets ~/command, for ~/take_over and ~/give_back. Empty: that of the topic "
        "<controller>/commands to which ~/command is remapped.",
    )
    handover_timeout: float = parameter(
        5.0,
        "Time within which the controller_manager has to list or switch controllers, s.",
        low=0.1,
        high=60.0,
    )
    model_tolerance: float = parameter(
        0.1,
        "Difference between the efforts of the arm and of its model that friction does not explain, as a fraction of "
        "the URDF's effort limit: above it a mode is refused, or stops. 10.0: the model is never doubted.",
        low=0.001,
        high=10.0,
        locked=True,
    )
    contact_force: float = parameter(
        60.0,
        "Largest force of contact at the tip, N, in modes that expect contact: those not in `collision_stop_modes`. "
        "Above it, and above the force that mode force exerts besides, the model is doubted.",
        low=0.0,
        high=10000.0,
        locked=True,
    )
    stop_behaviour: StopBehaviour = parameter(
        "hold_gravity",
        "Command after a stop: hold_gravity (damped gravity compensation, which goes on), zero_effort "
        "(zero, then none), or none. A forward_command_controller holds the last command for ever.",
        locked=True,
    )
    stop_damping: float = parameter(
        15.0,
        "Rate at which a stopped arm comes to rest, 1/s; less where states are slow. A stop takes 4 / stop_damping s.",
        low=5.0,
        high=50.0,
    )
    stop_service: str = parameter(
        "",
        "Service of type std_srvs/Trigger that is called when a stop does not stop the arm: brakes, or a switch of the "
        "controller. Empty: none.",
    )
    collision_stop_modes: tuple[str, ...] = parameter(
        (),
        "Modes that a collision stops. Not set: gravity and feed_forward, since contact is expected in hand_guiding, "
        "force and impedance. [none]: no mode.",
        example=["feed_forward"],
        locked=True,
    )
    soft_limit_margin: float = parameter(
        0.2,
        "Distance before the joint limits at which soft walls begin, in all modes but feed_forward and force.",
        low=1e-3,
        high=1.0,
    )
    soft_limit_bandwidth: float = parameter(30.0, "Bandwidth of the soft walls, rad/s.", low=1.0, high=200.0)
    max_force: float = parameter(
        50.0,
        "Force above which ~/desired_wrench is rejected, and largest force of the spring of impedance, N.",
        low=0.1,
        high=10000.0,
        locked=True,
    )
    max_moment: float = parameter(
        10.0,
        "Moment above which ~/desired_wrench is rejected, and largest moment of that spring, N m.",
        low=0.01,
        high=1000.0,
        locked=True,
    )
    force_rate: float = parameter(
        50.0,
        "Maximum change of the force that force and impedance exert, N/s; of moments a fifth of it, N m/s.",
        low=0.1,
        high=10000.0,
    )
    max_tip_travel: float = parameter(
        0.3,
        "Distance of the tip above which it stops, m: in force from where the mode began, in impedance from the "
        "desired pose along axes without stiffness.",
        low=1e-3,
        high=10.0,
        locked=True,
    )
