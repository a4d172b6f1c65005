# SPDX-License-Identifier: Apache-2.0
"""Every parameter of the runtime and of its node, in one place: default, meaning, unit, range and when it may change.

The node declares its parameters from here, and `config/dynamics.yaml` and `docs/parameters.md` are generated from here
(`python -m ros2_dyn parameters`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, get_args, get_type_hints

from ros2_dyn.control.modes import ACTIVE_MODES, StopBehaviour
from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.effort_convention import CommandEffort, CommandInterface, MeasuredEffort
from ros2_dyn.runtime.parameter import LISTS, About, check_value, parameter

STOP_GROUPS = ("Robot", "Measured and desired states", "Outputs", "Commands: limits, ramps and stops")
"""Groups of the parameters that a stop depends on."""

_robot = partial(parameter, group="Robot")
_states = partial(parameter, group="Measured and desired states")
_collision = partial(parameter, group="External efforts and collisions")
_output = partial(parameter, group="Outputs")
_command = partial(parameter, group="Commands: limits, ramps and stops")
MODE_GROUP = "Modes"
"""Heading of the parameters of the control laws."""
_mode = partial(parameter, group=MODE_GROUP)
FRICTION = {
    "viscous": "viscous_friction",
    "coulomb": "coulomb_friction",
    "static": "static_friction",
    "stribeck_velocity": "stribeck_velocity",
    "load": "load_friction",
    "offset": "friction_offset",
    "armature": "armature",
}
"""Parameters with one number for each joint, by the name in `JointDynamics`."""
MIN_TORQUE_RATE = 1.0
"""Smallest `torque_rate`, N m/s or N/s: with 0 a stop would change no command."""


@dataclass(frozen=True)
class Settings:
    """Valid values of all parameters, in SI units.

    Raises:
        InputError: a value is outside of its range, is none of those allowed, or a list does not fit `joints`.
    """

    robot_description: str = _robot(
        "", "Robot as URDF text. Empty: from `urdf_file`, or else from the topic `robot_description`.", read_only=True
    )
    urdf_file: str = _robot(
        "",
        "Path of a URDF file, or of a xacro file (.xacro). Empty: none.",
        read_only=True,
    )
    joints: tuple[str, ...] = _robot(
        (),
        "Joints of the arm, where it is part of a bigger robot; the others are locked at 0. Not set: all joints.",
        locked=True,
        example=["shoulder_pan_joint", "shoulder_lift_joint"],
    )
    tip_link: str = _robot(
        "",
        "Link that services and the payload refer to where they name none. Empty: the link farthest from the base.",
        locked=True,
    )
    gravity: tuple[float, ...] = _robot(
        STANDARD_GRAVITY,
        "Acceleration of free fall in the base frame, m/s^2. [0.0, 0.0, 9.81] for a robot that hangs from the ceiling.",
        locked=True,
    )
    viscous_friction: tuple[float, ...] = _robot(
        (),
        "Viscous friction of each joint in `joints`, N m s/rad or N s/m. Not set: the URDF's.",
        per_joint=True,
        example=[5.0, 5.0],
        locked=True,
    )
    coulomb_friction: tuple[float, ...] = _robot(
        (),
        "Coulomb friction of each joint in `joints`, N m or N. Not set: the URDF's.",
        per_joint=True,
        example=[2.0, 2.0],
        locked=True,
    )
    static_friction: tuple[float, ...] = _robot(
        (),
        "Friction of each joint in `joints` at low speed, N m or N. Not set: as `coulomb_friction`.",
        per_joint=True,
        example=[2.5, 2.0],
        locked=True,
    )
    stribeck_velocity: tuple[float, ...] = _robot(
        (),
        "Velocity at which the excess of static friction has decayed, of each joint in `joints`, rad/s or m/s. Not "
        "set: 0.1.",
        per_joint=True,
        low=1e-6,
        high=10.0,
        example=[0.1, 0.1],
        locked=True,
    )
    load_friction: tuple[float, ...] = _robot(
        (),
        "Coulomb friction that the load adds in each joint in `joints`, as a share of the effort of gravity. Not set: "
        "none.",
        per_joint=True,
        example=[0.0, 0.08],
        locked=True,
    )
    friction_offset: tuple[float, ...] = _robot(
        (),
        "Effort of each joint in `joints` that is always there, as of friction that differs by direction, N m or N. "
        "Not set: none.",
        per_joint=True,
        signed=True,
        example=[0.5, -0.5],
        locked=True,
    )
    presliding_distance: tuple[float, ...] = _robot(
        (),
        "Displacements at which the springs slip that friction is before a joint slides, rad or m. Not set: none.",
        low=1e-6,
        high=1.0,
        example=[0.01, 0.03],
        locked=True,
    )
    presliding_effort: tuple[float, ...] = _robot(
        (),
        "Efforts of these springs when they slip, N m or N: one for each of `presliding_distance`, joint after joint "
        "in `joints`. Observers follow them; commands do not include them.",
        low=0.0,
        high=1000.0,
        example=[1.0, 0.5, 2.0, 0.0],
        locked=True,
    )
    armature: tuple[float, ...] = _robot(
        (),
        "Rotor inertia times the gear ratio squared of each joint in `joints`, kg m^2 or kg. Not set: 0.",
        per_joint=True,
        example=[1.2, 1.2],
        locked=True,
    )
    transition_velocity: float = _robot(
        0.01,
        "Velocity over which Coulomb friction changes its sign, rad/s or m/s. It should exceed the velocity noise.",
        low=1e-6,
        high=10.0,
        locked=True,
    )

    merge_timeout: float = _states(
        0.1,
        "Maximum age, s, at which joints that a message lacks are taken from earlier messages.",
        low=0.0,
        high=10.0,
        locked=True,
    )
    estimate_velocity: bool = _states(
        False,
        "Whether velocities that are missing or NaN are replaced by filtered differences of the positions.",
        locked=True,
    )
    velocity_cutoff: float = _states(
        20.0, "Cut-off of the filter that estimates velocities, Hz.", low=0.1, high=1000.0, locked=True
    )
    measured_effort: MeasuredEffort = _states(
        "raw",
        "What the driver calls effort: raw (the whole joint effort), gravity_compensated (without gravity), or "
        "external (the effort of the surroundings).",
        choices=get_args(MeasuredEffort),
        locked=True,
    )
    effort_gain: tuple[float, ...] = _states(
        (),
        "Factor from the driver's unit of effort to N m or N of each joint in `joints`, for example N m/A. Not set: 1.",
        per_joint=True,
        signed=True,
        example=[10.3, 10.3],
        locked=True,
    )
    effort_filter_cutoff: float = _states(
        0.0,
        "Cut-off, Hz, of the first-order low-pass that the driver puts on efforts before it publishes them. Observers "
        "of external effort put the same on the model. 0: none.",
        low=0.0,
        high=1000.0,
        locked=True,
    )
    desired_timeout: float = _states(
        0.1,
        "Maximum age, s, at which a desired state is used with a measured state of another stamp.",
        low=0.0,
        high=10.0,
        locked=True,
    )
    default_acceleration: str = _states(
        "zero",
        "Acceleration without a usable desired state: zero, or estimated from the measured velocities.",
        choices=("zero", "estimated"),
        locked=True,
    )
    acceleration_cutoff: float = _states(
        10.0,
        "Cut-off of the filter that estimates accelerations, Hz.",
        low=0.1,
        high=1000.0,
        locked=True,
    )

    detect_collisions: bool = _collision(
        True, "Whether external efforts are observed and collisions detected.", locked=True
    )
    observer: str = _collision(
        "momentum",
        "Observer of external efforts: momentum, or direct (inverse dynamics at estimated accelerations).",
        choices=("momentum", "direct"),
        locked=True,
    )
    observer_bandwidth: float = _collision(
        25.0,
        "Bandwidth of the observer, 1/s. A step of twice the threshold is detected after 0.7 / observer_bandwidth s.",
        low=0.1,
        high=1000.0,
        locked=True,
    )
    collision_threshold: tuple[float, ...] = _collision(
        (),
        "External effort that is a collision, of each joint in `joints`, N m or N. Set by ~/calibrate_collision. Not "
        "set: no collision is detected.",
        per_joint=True,
        example=[20.0, 20.0],
    )
    collision_threshold_velocity: tuple[float, ...] = _collision(
        (),
        "Increase of the threshold with the speed of each joint in `joints`, N m s or N s. Not set: 0.",
        per_joint=True,
        example=[5.0, 5.0],
    )
    collision_threshold_acceleration: tuple[float, ...] = _collision(
        (),
        "Increase of the threshold with the acceleration of each joint in `joints`, N m s^2 or N s^2. Not set: 0.",
        per_joint=True,
        example=[1.0, 1.0],
    )
    collision_samples: int = _collision(
        1, "Number of consecutive states above the threshold that make a collision.", low=1, high=1000
    )
    collision_hysteresis: float = _collision(
        0.8, "Fraction of the threshold below which a joint no longer exceeds it.", low=0.0, high=1.0
    )
    collision_service: str = _collision(
        "", "Service of type std_srvs/Trigger that is called when a collision begins. Empty: none."
    )
    calibration_time: float = _collision(30.0, "Duration of ~/calibrate_collision, s.", low=1.0, high=3600.0)
    false_alarms_per_hour: float = _collision(
        0.01, "False alarms that the thresholds of ~/calibrate_collision allow, 1/h.", low=1e-6, high=3600.0
    )
    wrench_damping: float = _collision(
        0.01,
        "Damping of the least squares that give the external wrench at the tip.",
        low=0.0,
        high=1.0,
        locked=True,
    )

    command_effort: CommandEffort = _output(
        "raw",
        "What the controllers expect: raw (the whole joint effort), gravity_compensated where the robot adds gravity "
        "itself, or gravity_and_friction_compensated where it adds both, as Franka's does. hand_guiding adds friction "
        "with raw only.",
        choices=get_args(CommandEffort),
        locked=True,
    )
    singularity_threshold: float = _output(
        0.02,
        "Singular value of the tip's Jacobian below which a state is near a singularity; rows in m and rad.",
        low=0.0,
        high=10.0,
        locked=True,
    )
    black_box: bool = _output(
        True, "Whether each stop writes the newest inputs and decisions to an MCAP file.", read_only=True
    )
    black_box_dir: str = _output(
        "",
        "Folder of these files, which keeps the newest 20, 200 MB at most. Empty: `black_box` in the ROS log folder.",
        read_only=True,
    )
    marker_scale: float = _output(
        0.002, "Length of the arrows of ~/wrench_markers, m/N; five times as long per N m.", low=0.0, high=10.0
    )
    marker_rate: float = _output(20.0, "Maximum rate of ~/wrench_markers, Hz.", low=0.1, high=1000.0)

    command_interface: str = _command(
        "effort",
        "What ~/command gives: effort (N m or N), position_offset (positions of servos that exert these efforts, by "
        "`servo_stiffness`), or current (A, by `torque_constant`).",
        choices=get_args(CommandInterface),
        locked=True,
    )
    servo_stiffness: tuple[float, ...] = _command(
        (),
        "Effort of the position servo of each joint in `joints` per deviation, N m/rad or N/m.",
        per_joint=True,
        locked=True,
        example=[20.0, 20.0],
    )
    torque_constant: tuple[float, ...] = _command(
        (),
        "Effort of each joint in `joints` per current of its motor, N m/A or N/A.",
        per_joint=True,
        signed=True,
        locked=True,
        example=[1.8, 1.8],
    )
    command_joints: tuple[str, ...] = _command(
        (),
        "Order of the controller's joints on ~/command. Not set: the robot's order.",
        locked=True,
        example=["shoulder_pan_joint", "shoulder_lift_joint"],
    )
    effort_scale: float = _command(
        0.8, "Fraction of the URDF's effort limits that commands may use.", low=0.01, high=1.0, locked=True
    )
    slew_rate: float = _command(
        10.0,
        "Maximum rate of change of a command, as a multiple of its limit, 1/s. One command uses at most 20 ms of it.",
        low=0.1,
        high=1000.0,
        locked=True,
    )
    torque_rate: tuple[float, ...] = _command(
        (),
        "Maximum rate of change of the command of each joint in `joints`, N m/s or N/s, where `slew_rate` allows more. "
        "Not set: `slew_rate` alone.",
        per_joint=True,
        locked=True,
        example=[1000.0, 1000.0],
    )
    velocity_scale: float = _command(
        1.0, "Fraction of the URDF's velocity limits above which a mode stops.", low=0.01, high=1.0, locked=True
    )
    require_enable: tuple[str, ...] = _command(
        ("hand_guiding", "force", "impedance"),
        "Modes that need an enabling signal on ~/enable. [none]: no mode does.",
        choices=(*ACTIVE_MODES, "none"),
        locked=True,
    )
    enable_timeout: float = _command(
        0.2,
        "Maximum age of the enabling signal, s. Publish it at least twice within this time.",
        low=0.02,
        high=2.0,
        locked=True,
    )
    max_tip_speed: float = _command(
        0.25,
        "Speed of the tip above which hand_guiding, force and impedance stop, m/s. A hand is braked from 0.8 times it.",
        low=0.01,
        high=10.0,
        locked=True,
    )
    ramp_time: float = _command(
        0.5, "Duration of the ramp when a mode is entered or left, s.", low=0.0, high=10.0, locked=True
    )
    state_timeout: float = _command(
        0.1, "Maximum age of a joint state that a command may be based on, s.", low=0.001, high=10.0, locked=True
    )
    command_delay: float = _command(
        0.0,
        "Delay of the commands until the joints exert them, s, as far as it is known. Measured efforts that follow the "
        "commands later replace it. Gains follow it, and the age of the states.",
        low=0.0,
        high=0.2,
        locked=True,
    )
    energy_budget: float = _command(
        0.02,
        "Energy that late commands may feed into the arm, J. From a tenth of it on damping is reduced; beyond it the "
        "mode ends.",
        low=0.001,
        high=1e12,
        locked=True,
    )
    target_timeout: float = _command(
        0.1, "Maximum age of the target of feed_forward and force, s.", low=0.001, high=10.0, locked=True
    )
    clock_timeout: float = _command(
        2.0,
        "With use_sim_time: real time without /clock, s, after which time passes all the same, so that commands end.",
        low=0.01,
        high=3600.0,
        locked=True,
    )
    controller_node: str = _command(
        "",
        "Node name of the controller that subscribes to ~/command, with its namespace or without. Empty: any "
        "subscriber that is not a tool such as ros2 topic echo or ros2 bag record.",
        locked=True,
    )
    controller_manager: str = _command(
        "controller_manager",
        "Node that lists and switches the arm's controllers for ~/take_over and ~/give_back: ros2_control's "
        "controller_manager, or the mock arm.",
    )
    effort_controller: str = _command(
        "",
        "Name of the controller that gets ~/command, for ~/take_over and ~/give_back. Empty: that of the topic "
        "<controller>/commands to which ~/command is remapped.",
    )
    handover_timeout: float = _command(
        5.0,
        "Time within which the controller_manager has to list or switch controllers, s.",
        low=0.1,
        high=60.0,
    )
    detect_frozen: bool = _command(
        True,
        "Whether a state that repeats the numbers of the state before, with velocities other than zero, is ignored.",
        locked=True,
    )
    position_tolerance: float = _command(
        0.05,
        "Disagreement of a joint's positions with its velocities within some 0.1 s, rad or m, above which a state is "
        "ignored.",
        low=1e-4,
        high=1e3,
        locked=True,
    )
    model_tolerance: float = _command(
        0.1,
        "Difference between the efforts of the arm and of its model that friction does not explain, as a fraction of "
        "the URDF's effort limit: above it a mode is refused, or stops. 10.0: the model is never doubted.",
        low=0.001,
        high=10.0,
        locked=True,
    )
    contact_force: float = _command(
        60.0,
        "Largest force of contact at the tip, N, in modes that expect contact: those not in `collision_stop_modes`. "
        "Above it, and above the force that mode force exerts besides, the model is doubted.",
        low=0.0,
        high=10000.0,
        locked=True,
    )
    stop_behaviour: StopBehaviour = _command(
        "hold_gravity",
        "Command after a stop: hold_gravity (gravity compensation with `stop_damping`, which goes on), zero_effort "
        "(zero, then none), or none. A forward_command_controller holds the last command for ever.",
        choices=get_args(StopBehaviour),
        locked=True,
    )
    stop_damping: float = _command(
        15.0,
        "Rate at which a stopped arm comes to rest, 1/s; less where states are slow. A stop takes 4 / stop_damping s.",
        low=5.0,
        high=50.0,
    )
    stop_service: str = _command(
        "",
        "Service of type std_srvs/Trigger that is called when a stop does not stop the arm: brakes, or a switch of the "
        "controller. Empty: none.",
    )
    collision_stop_modes: tuple[str, ...] = _command(
        ("gravity", "feed_forward"),
        "Modes that a collision stops. Contact is expected in hand_guiding, force and impedance.",
        choices=ACTIVE_MODES,
        locked=True,
    )

    gravity_damping: float = _mode(0.5, "gravity: rate at which the arm comes to rest, 1/s.", low=0.0, high=50.0)
    feed_forward_gain: float = _mode(
        1.0, "feed_forward: fraction of the model's effort that is commanded.", low=0.0, high=1.0
    )
    tracking_law: str = _mode(
        "joint_pd",
        "feed_forward: joint_pd (gains in N m/rad and N m s/rad), or computed_torque (gains in 1/s^2 and 1/s).",
        choices=("joint_pd", "computed_torque"),
        locked=True,
    )
    tracking_stiffness: tuple[float, ...] = _mode(
        (),
        "feed_forward: stiffness of each joint in `joints`, in the unit of `tracking_law`. Not set: 0.",
        per_joint=True,
        example=[500.0, 500.0],
    )
    tracking_damping: tuple[float, ...] = _mode(
        (),
        "feed_forward: damping of each joint in `joints`, in the unit of `tracking_law`. Not set: 0.",
        per_joint=True,
        example=[50.0, 50.0],
    )
    tracking_tolerance: float = _mode(
        0.3,
        "feed_forward: distance from the desired positions above which the mode stops, rad or m.",
        low=1e-3,
        high=10.0,
        locked=True,
    )
    guiding_damping: float = _mode(1.0, "hand_guiding: rate at which the arm comes to rest, 1/s.", low=0.0, high=50.0)
    guiding_friction: float = _mode(
        0.8,
        "hand_guiding: fraction of the joints' friction that is compensated, with `command_effort: raw`.",
        low=0.0,
        high=1.0,
    )
    guiding_hold_force: float = _mode(
        2.2, "hand_guiding: maximum force that holds the tip where it was left, N.", low=0.0, high=100.0
    )
    guiding_hold_moment: float = _mode(
        0.2, "hand_guiding: maximum moment that holds the tip where it was left, N m.", low=0.0, high=20.0
    )
    guiding_assist_gain: float = _mode(
        0.0, "hand_guiding: multiple of the hand's estimated force that is added to it.", low=0.0, high=5.0
    )
    guiding_deadband: float = _mode(
        5.0, "hand_guiding: estimated force of the hand that is not assisted, N.", low=0.0, high=100.0
    )
    soft_limit_margin: float = _mode(
        0.2,
        "Distance before the joint limits at which soft walls begin, in all modes but feed_forward and force.",
        low=1e-3,
        high=1.0,
    )
    soft_limit_bandwidth: float = _mode(30.0, "Bandwidth of the soft walls, rad/s.", low=1.0, high=200.0)
    force_damping: float = _mode(
        120.0,
        "force: damping of motions of the tip, 1/s. A free tip of mass m moves with F / (m force_damping).",
        low=0.0,
        high=500.0,
    )
    posture_damping: float = _mode(
        10.0, "force, impedance: damping of motions that do not move the tip, 1/s.", low=0.0, high=100.0
    )
    max_force: float = _mode(
        50.0,
        "force, impedance: force above which ~/desired_wrench is rejected, and largest force of the spring, N.",
        low=0.1,
        high=10000.0,
        locked=True,
    )
    max_moment: float = _mode(
        10.0,
        "force, impedance: moment above which ~/desired_wrench is rejected, and largest moment of the spring, N m.",
        low=0.01,
        high=1000.0,
        locked=True,
    )
    force_travel_limit: float = _mode(
        0.3,
        "Distance of the tip above which it stops, m: in force from where the mode began, in impedance from the "
        "desired pose along axes without stiffness.",
        low=1e-3,
        high=10.0,
        locked=True,
    )
    approach_speed: float = _mode(
        0.1, "force, impedance: speed at which ~/desired_wrench grows no further, m/s.", low=0.001, high=1.0
    )
    force_rate: float = _mode(50.0, "force, impedance: maximum change of the force, N/s.", low=0.1, high=10000.0)
    moment_rate: float = _mode(10.0, "force, impedance: maximum change of the moment, N m/s.", low=0.01, high=1000.0)

    impedance_frame: str = _mode(
        "",
        "impedance: link along and about whose axes the stiffness acts. Empty: the base link.",
        locked=True,
    )
    impedance_stiffness: tuple[float, ...] = _mode(
        (500.0, 500.0, 500.0, 20.0, 20.0, 20.0),
        "impedance: stiffness along and about the axes of `impedance_frame`, N/m and N m/rad. 0 leaves an axis to "
        "~/desired_wrench. Changes feed no energy into the arm. Less where the loop is late.",
        low=0.0,
        high=1e5,
    )
    impedance_damping_ratio: tuple[float, ...] = _mode(
        (0.8, 0.8, 0.8, 0.8, 0.8, 0.8),
        "impedance: damping ratio along and about the same axes; 1 is critical.",
        low=0.1,
        high=2.0,
    )
    impedance_speed: float = _mode(
        0.1, "impedance: speed at which a desired pose is approached, m/s.", low=0.001, high=1.0, locked=True
    )
    impedance_turn_rate: float = _mode(
        0.5, "impedance: rate at which a desired rotation is approached, rad/s.", low=0.001, high=5.0, locked=True
    )
    stiffness_energy: float = _mode(
        0.5,
        "impedance: energy that a stiffness which grows may take at once, J. What the damping takes refills it.",
        low=0.0,
        high=10.0,
        locked=True,
    )
    posture_bandwidth: float = _mode(
        2.0,
        "impedance: bandwidth at which an arm with more joints than the tip needs returns to its posture, rad/s.",
        low=0.0,
        high=20.0,
    )

    def __post_init__(self) -> None:
        """Freeze lists, and check every value."""
        for name, kind in TYPES.items():
            value = getattr(self, name)
            if kind in LISTS:
                value = tuple(value)
            elif kind is float and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
            object.__setattr__(self, name, value)
            check_value(name, kind, value, ABOUT[name])
        self._check_lists()

    def _check_lists(self) -> None:
        for name, about in ABOUT.items():
            numbers = getattr(self, name)
            if about.per_joint and numbers and len(numbers) != len(self.joints):
                raise InputError(name, f"expected {len(self.joints)} numbers as `joints` has, got {len(numbers)}")
        elements = len(self.joints) * len(self.presliding_distance)
        if len(self.presliding_effort) != elements:
            problem = f"expected {elements} numbers, as many as `joints` times `presliding_distance`"
            raise InputError("presliding_effort", f"{problem}, got {len(self.presliding_effort)}")
        if len(self.gravity) != 3:
            raise InputError("gravity", f"expected 3 numbers, got {list(self.gravity)}")
        for name in ("impedance_stiffness", "impedance_damping_ratio"):
            if len(getattr(self, name)) != 6:
                raise InputError(name, f"expected 6 numbers, got {list(getattr(self, name))}")
        if any(rate < MIN_TORQUE_RATE for rate in self.torque_rate):
            raise InputError("torque_rate", f"expected at least {MIN_TORQUE_RATE} N m/s, got {list(self.torque_rate)}")
        for name in ("joints", "command_joints"):
            names = getattr(self, name)
            if len(set(names)) != len(names):
                raise InputError(name, f"expected each joint once, got {list(names)}")

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Settings:
        """Make settings from some values by name; None stands for a list that is not set.

        Raises:
            InputError: as the class, or a name is unknown.
        """
        if unknown := sorted(set(values) - set(ABOUT)):
            raise InputError(unknown[0], "there is no such parameter")
        given: dict[str, Any] = {name: () if value is None else value for name, value in values.items()}
        return cls(**given)

    def apply(self, description: RobotModel) -> RobotModel:
        """Return the model with the joints, the friction and the rotors that the parameters give.

        Raises:
            InputError: the robot has no such joint, or no such tip link.
        """
        model = description.reduced(self.joints) if self.joints else description
        model.link_frame(self.tip_link or None)
        model.link_frame(self.impedance_frame or None)
        free = [joint for joint in model.joints if joint.mimics is None and joint.dof == 1]
        return model.with_joint_dynamics(
            {
                joint.name: replace(
                    joint.dynamics, transition_velocity=self.transition_velocity, **self._friction(joint.name)
                )
                for joint in free
            }
        )

    def _friction(self, joint: str) -> dict[str, Any]:
        """Return the numbers of `JointDynamics` that the parameters give for a joint, by name."""
        if joint not in self.joints:
            return {}
        i = self.joints.index(joint)
        own: dict[str, Any] = {
            name: numbers[i] for name, parameter in FRICTION.items() if (numbers := getattr(self, parameter))
        }
        if own.get("static") is not None and own["static"] == own.get("coulomb"):
            own["static"] = None  # no excess: kernels are spared it
        if count := len(self.presliding_distance):
            efforts = self.presliding_effort[count * i : count * (i + 1)]
            own["presliding"] = tuple(each for each in zip(self.presliding_distance, efforts) if each[1] > 0)
        return own

    def in_order(self, numbers: Sequence[float], model: RobotModel, default: float) -> list[float]:
        """Return numbers given in the order of `joints` in the model's order; the default for the other joints."""
        by_name = dict(zip(self.joints, numbers))
        return [by_name.get(name, default) for name in model.joint_names]

    def of_a_stop(self) -> Settings:
        """Return the parameters that a stop depends on; the others have their defaults."""
        kept = {name: getattr(self, name) for name, about in ABOUT.items() if about.group in STOP_GROUPS}
        dropped = {"robot_description": "", "urdf_file": "", "detect_collisions": False}
        return Settings(**kept | dropped)

    def check_unlocked(self, new: Settings, mode: str) -> None:
        """Check that no parameter changes which is locked while a mode commands.

        Raises:
            InputError: one does.
        """
        for name, about in ABOUT.items():
            if about.locked and getattr(self, name) != getattr(new, name):
                raise InputError(name, f"cannot be changed while mode {mode} commands: enter monitor first")


TYPES: dict[str, Any] = {
    name: str if getattr(kind, "__origin__", None) not in (None, tuple) else kind
    for name, kind in get_type_hints(Settings).items()
}
"""The type of each parameter; one with named choices is a str."""
ABOUT: dict[str, About] = {each.name: each.metadata["about"] for each in fields(Settings)}
"""What is known of each parameter."""
