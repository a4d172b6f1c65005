"""The parameters of the node `dynamics`: declared with meaning, unit and range; a change is checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from math import isfinite
from typing import Any, get_args

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros2_dyn.control.effort_guard import StopBehaviour
from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY, gravity_vector
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.control_parameters import CONTROL_DECLARATIONS, GUARDED, ControlSettings, Tracking
from ros2_dyn.ros.declaration import DOUBLES, STRINGS, Declaration
from ros2_dyn.ros.effort_convention import CommandEffort, MeasuredEffort
from ros2_dyn.ros.node_base import declare
from ros2_dyn.ros.state_intake import IntakePolicy

ACCELERATIONS = ("zero", "estimated")
OBSERVERS = ("momentum", "direct")
LISTS = (
    "viscous_friction",
    "coulomb_friction",
    "armature",
    "effort_gain",
    "collision_threshold",
    "collision_threshold_velocity",
    "collision_threshold_acceleration",
    "tracking_stiffness",
    "tracking_damping",
)
"""Parameters with a number for each joint in `joints`."""
GUARDED_TOO = ("joints", "command_effort", "singularity_threshold")
"""What a mode that commands relies on besides the parameters of the guard."""


DECLARATIONS = {
    "robot_description": Declaration("", "Robot as URDF text. Empty: urdf_file, or the topic.", read_only=True),
    "urdf_file": Declaration("", "Path of a URDF or xacro file. Empty: the topic robot_description.", read_only=True),
    "joints": Declaration(STRINGS, "Joints that belong to the arm, others are locked at 0. Not set: all."),
    "tip_link": Declaration("", "Link that services and payload mean when they name none. Empty: the outermost."),
    "gravity": Declaration(list(STANDARD_GRAVITY), "Acceleration of free fall in the base frame, m/s^2, 3 numbers."),
    "viscous_friction": Declaration(DOUBLES, "Of each joint in `joints`, N m s/rad or N s/m. Not set: the URDF's."),
    "coulomb_friction": Declaration(DOUBLES, "Of each joint in `joints`, N m or N. Not set: the URDF's."),
    "transition_velocity": Declaration(
        0.01, "Over which dry friction changes its sign, rad/s or m/s: more than the noise.", 1e-6, 10.0
    ),
    "armature": Declaration(
        DOUBLES, "Rotor inertia times gear ratio squared, of each joint in `joints`, kg m^2 or kg."
    ),
    "desired_timeout": Declaration(0.1, "Age up to which a desired state serves states of other stamps, s.", 0, 10.0),
    "acceleration": Declaration("zero", f"Where no desired state is young enough: {' or '.join(ACCELERATIONS)}."),
    "acceleration_cutoff": Declaration(10.0, "Of the filter that estimates accelerations, Hz.", 0.1, 1000.0),
    "merge_timeout": Declaration(
        0.1, "Age up to which joints that a state lacks are taken from earlier ones, s.", 0, 10.0
    ),
    "estimate_velocity": Declaration(False, "Replace velocities that are missing or NaN by filtered differences."),
    "velocity_cutoff": Declaration(20.0, "Of the filter that estimates velocities, Hz.", 0.1, 1000.0),
    "measured_effort": Declaration("raw", f"What drivers call effort: {', '.join(get_args(MeasuredEffort))}."),
    "effort_gain": Declaration(DOUBLES, "Measured effort to N m or N, of each joint in `joints`. Not set: 1."),
    "detect_collisions": Declaration(True, "Whether external efforts are observed and collisions detected."),
    "observer": Declaration("momentum", f"How external efforts are observed: {' or '.join(OBSERVERS)}."),
    "observer_bandwidth": Declaration(25.0, "Of the observer, 1/s: quick and noisy, or slow and quiet.", 0.1, 1000.0),
    "collision_threshold": Declaration(
        DOUBLES, "External effort that is a collision, of each joint in `joints`, N m or N. Not set: none is."
    ),
    "collision_threshold_velocity": Declaration(
        DOUBLES, "What is added to it per rad/s or m/s, of each joint in `joints`, N m s or N s. Not set: 0."
    ),
    "collision_threshold_acceleration": Declaration(
        DOUBLES, "What is added per rad/s^2 or m/s^2, of each joint in `joints`, N m s^2 or N s^2. Not set: 0."
    ),
    "collision_samples": Declaration(1, "States in a row above the threshold that make a collision, 1 or more."),
    "collision_hysteresis": Declaration(0.8, "Share of the threshold below which a joint stands out no more.", 0, 1.0),
    "collision_service": Declaration("", "Service (std_srvs/Trigger) to call when a collision begins. Empty: none."),
    "calibration_time": Declaration(30.0, "For which ~/calibrate_collision listens, s.", 1.0, 3600.0),
    "false_alarms_per_hour": Declaration(0.01, "For which ~/calibrate_collision sets thresholds.", 1e-6, 3600.0),
    "wrench_damping": Declaration(0.01, "Of singular values, where the wrench at the tip is estimated.", 0, 1.0),
    "command_effort": Declaration("raw", f"What controllers want: {', '.join(get_args(CommandEffort))}."),
    "singularity_threshold": Declaration(0.02, "Smallest singular value that counts as near a singularity.", 0, 10.0),
    "marker_scale": Declaration(0.002, "Length of an arrow of ~/wrench_markers, m/N, and per N m fivefold.", 0, 10.0),
    "marker_rate": Declaration(20.0, "Greatest rate of ~/wrench_markers, Hz.", 0.1, 1000.0),
    **CONTROL_DECLARATIONS,
}


@dataclass(frozen=True)
class Settings:
    """Valid values of all parameters, in SI units."""

    robot_description: str
    urdf_file: str
    joints: tuple[str, ...]
    tip_link: str
    gravity: tuple[float, ...]
    viscous_friction: tuple[float, ...]
    coulomb_friction: tuple[float, ...]
    transition_velocity: float
    armature: tuple[float, ...]
    desired_timeout: float
    acceleration: str
    acceleration_cutoff: float
    merge_timeout: float
    estimate_velocity: bool
    velocity_cutoff: float
    measured_effort: MeasuredEffort
    effort_gain: tuple[float, ...]
    detect_collisions: bool
    observer: str
    observer_bandwidth: float
    collision_threshold: tuple[float, ...]
    collision_threshold_velocity: tuple[float, ...]
    collision_threshold_acceleration: tuple[float, ...]
    collision_samples: int
    collision_hysteresis: float
    collision_service: str
    calibration_time: float
    false_alarms_per_hour: float
    wrench_damping: float
    command_effort: CommandEffort
    singularity_threshold: float
    marker_scale: float
    marker_rate: float
    control: ControlSettings

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> Settings:
        """From values of all parameters, None for those that are not set.

        Raises:
            InputError: a value is none of those allowed, not finite, or a list has another length than `joints`.
        """
        plain = {name: _frozen(values[name]) for name in DECLARATIONS}
        plain["gravity"] = tuple(gravity_vector(plain["gravity"]).tolist())
        choices = {
            "acceleration": ACCELERATIONS,
            "observer": OBSERVERS,
            "measured_effort": get_args(MeasuredEffort),
            "command_effort": get_args(CommandEffort),
            "stop_behaviour": get_args(StopBehaviour),
            "tracking": get_args(Tracking),
        }
        for name, allowed in choices.items():
            if plain[name] not in allowed:
                raise InputError(name, f"expected one of {', '.join(allowed)}; got '{plain[name]}'")
        if plain["collision_samples"] < 1:
            raise InputError("collision_samples", f"expected 1 or more, got {plain['collision_samples']}")
        for name in LISTS:
            numbers = plain[name]
            if numbers and len(numbers) != len(plain["joints"]):
                raise InputError(name, f"expected {len(plain['joints'])} numbers as `joints` has, got {len(numbers)}")
            if not all(map(isfinite, numbers)) or (name != "effort_gain" and any(x < 0 for x in numbers)):
                raise InputError(name, f"expected finite numbers, not negative, got {list(numbers)}")
        own = {name: value for name, value in plain.items() if name not in CONTROL_DECLARATIONS}
        return cls(**own, control=ControlSettings.checked(plain))

    def policy(self, model: RobotModel) -> IntakePolicy:
        """What is done about incomplete messages, and with efforts."""
        gain = tuple(self.in_order(self.effort_gain, model, 1.0))
        return IntakePolicy(self.merge_timeout, self.estimate_velocity, self.velocity_cutoff, gain)

    def apply(self, model: RobotModel) -> RobotModel:
        """The model with the joints, and their friction and rotors, that the parameters name.

        Raises:
            InputError: the robot has no such joint, or no such tip link.
        """
        if self.joints:
            model = model.reduced(self.joints)
        model.link_frame(self.tip_link or None)
        lists = {"viscous": self.viscous_friction, "coulomb": self.coulomb_friction, "armature": self.armature}
        given = {key: dict(zip(self.joints, numbers)) for key, numbers in lists.items() if numbers}
        drives = {}
        for joint in model.joints:
            if joint.mimics is None and joint.dof == 1:
                own = {key: by_name[joint.name] for key, by_name in given.items() if joint.name in by_name}
                drives[joint.name] = replace(joint.dynamics, transition_velocity=self.transition_velocity, **own)
        return model.with_joint_dynamics(drives)

    def in_order(self, numbers: Sequence[float], model: RobotModel, default: float) -> list[float]:
        """Numbers that are given in the order of `joints`, in the model's; the default for those not given."""
        by_name = dict(zip(self.joints, numbers))
        return [by_name.get(name, default) for name in model.joint_names]


def _frozen(value: Any) -> Any:
    """A list as a tuple, an empty one where it is not set."""
    if value is None:
        return ()
    return value if isinstance(value, (str, int, float)) else tuple(value)


def declare_settings(node: Node) -> Settings:
    """Declare every parameter and read its value.

    Raises:
        InputError: what `Settings.checked` raises.
    """
    for name, about in DECLARATIONS.items():
        declare(node, name, *astuple(about))
    return changed_settings(node, ())


def changed_settings(node: Node, changes: Sequence[Parameter]) -> Settings:
    """What the settings would be with some changes.

    Raises:
        InputError: what `Settings.checked` raises.
    """
    values = {name: node.get_parameter_or(name, Parameter(name)).value for name in DECLARATIONS}
    return Settings.checked(values | {change.name: change.value for change in changes if change.name in DECLARATIONS})


def check_guarded(before: Settings, after: Settings, mode: str) -> None:
    """See that parameters of the guard, and of what commands mean, stay as they are while a mode commands.

    Raises:
        InputError: one does not.
    """
    own = {name: (getattr(before, name), getattr(after, name)) for name in GUARDED_TOO}
    own |= {name: (getattr(before.control, name), getattr(after.control, name)) for name in GUARDED}
    for name, (old, new) in own.items():
        if old != new:
            raise InputError(name, f"cannot be changed while {mode} commands: enter monitor first")


def verdict(reason: str = "") -> SetParametersResult:
    """The answer to a change of parameters: refused for a reason, or taken."""
    return SetParametersResult(successful=not reason, reason=reason)
