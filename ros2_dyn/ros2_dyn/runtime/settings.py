# SPDX-License-Identifier: Apache-2.0
"""Every parameter of the runtime and of its node: default, meaning, unit, range and when it may change.

Those of a mode stand beside its law. The node declares its parameters from here, and `config/dynamics.yaml` and
`docs/parameters.md` are generated from here (`python -m ros2_dyn parameters`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np

from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.modes import MODES
from ros2_dyn.control.parameter import Group, Parameter, parameter
from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.effort_convention import MeasuredEffort

OF_EACH_JOINT = ("viscous", "coulomb", "load", "offset")
"""Parameters of the friction with one number for each joint."""
M = TypeVar("M", bound=Group)


@dataclass(frozen=True)
class DescriptionSettings(Group, name="", title="Description"):
    """Where the robot's description is from."""

    robot_description: str = parameter(
        "", "Robot as URDF text. Empty: from `urdf_file`, or else from the topic `robot_description`.", read_only=True
    )
    urdf_file: str = parameter("", "Path of a URDF file, or of a xacro file (.xacro). Empty: none.", read_only=True)


@dataclass(frozen=True)
class RobotSettings(Group, name="robot", title="Robot"):
    """The arm, its mounting and its joints."""

    joints: tuple[str, ...] = parameter(
        (),
        "Joints of the arm, in the order of ~/command; the others, as of a bigger robot, are locked at 0. Not set: all "
        "joints, in the robot's order.",
        locked=True,
        example=["shoulder_pan_joint", "shoulder_lift_joint"],
    )
    tip_link: str = parameter(
        "",
        "Link whose speed and force modes bound, and of services that name none. Empty: the farthest from the base.",
        locked=True,
    )
    gravity: tuple[float, ...] = parameter(
        STANDARD_GRAVITY,
        "Acceleration of free fall in the base frame, m/s^2. [0.0, 0.0, 9.81] for a robot that hangs from the ceiling.",
        size=3,
        locked=True,
    )
    armature: tuple[float, ...] = parameter(
        (),
        "Rotor inertia times the gear ratio squared of each joint, kg m^2 or kg. Not set: 0.",
        per_joint=True,
        example=[1.2, 1.2],
        locked=True,
    )


@dataclass(frozen=True)
class FrictionSettings(Group, name="friction", title="Friction of the joints"):
    """The friction of each joint, as `JointDynamics` has it."""

    viscous: tuple[float, ...] = parameter(
        (),
        "Viscous friction of each joint, N m s/rad or N s/m. Not set: the URDF's.",
        per_joint=True,
        example=[5.0, 5.0],
        locked=True,
    )
    coulomb: tuple[float, ...] = parameter(
        (),
        "Coulomb friction of each joint, N m or N. Not set: the URDF's.",
        per_joint=True,
        example=[2.0, 2.0],
        locked=True,
    )
    stribeck: tuple[float, ...] = parameter(
        (),
        "Friction of each joint at low speed, N m or N, and the velocity at which its excess over `friction.coulomb` "
        "has decayed, rad/s or m/s: two numbers for each joint. Not set: no excess.",
        low=0.0,
        high=1000.0,
        example=[2.5, 0.1, 2.0, 0.1],
        locked=True,
    )
    load: tuple[float, ...] = parameter(
        (),
        "Coulomb friction that the load adds in each joint, as a share of the effort of gravity. Not set: none.",
        per_joint=True,
        example=[0.0, 0.08],
        locked=True,
    )
    offset: tuple[float, ...] = parameter(
        (),
        "Effort of each joint that is always there, as of friction that differs by direction, N m or N. Not set: none.",
        per_joint=True,
        signed=True,
        example=[0.5, -0.5],
        locked=True,
    )
    presliding: tuple[float, ...] = parameter(
        (),
        "Springs that friction is before a joint slides: the displacement at which each slips, rad or m, and its "
        "effort, N m or N, joint after joint; as many for each joint. Observers follow them; commands do not include "
        "them. Not set: none.",
        low=0.0,
        high=1000.0,
        example=[0.01, 1.0, 0.03, 0.5, 0.01, 2.0, 0.03, 0.0],
        locked=True,
    )
    transition_velocity: float = parameter(
        0.01,
        "Velocity over which Coulomb friction changes its sign, rad/s or m/s. It should exceed the velocity noise.",
        low=1e-6,
        high=10.0,
        locked=True,
    )

    def of_joint(self, i: int, n: int) -> dict[str, Any]:
        """Return the numbers of `JointDynamics` that are given for a joint of the n in `robot.joints`, by name."""
        own = {key: numbers[i] for key in OF_EACH_JOINT if (numbers := getattr(self, key))}
        if self.stribeck:
            static, velocity = self.stribeck[2 * i : 2 * i + 2]
            if static != own.get("coulomb"):  # else there is no excess, and kernels are spared it
                own |= {"static": static, "stribeck_velocity": velocity}
        if self.presliding:
            numbers = np.reshape(self.presliding, (n, -1, 2))[i].tolist()
            own["presliding"] = tuple((distance, effort) for distance, effort in numbers if effort > 0)
        return own


@dataclass(frozen=True)
class StateSettings(Group, name="states", title="Measured and desired states"):
    """How measured and desired states are read, and which are believed."""

    estimate: tuple[str, ...] = parameter(
        (),
        "What filtered differences give: velocity, where it is missing or NaN; acceleration, "
        "where no desired state gives it (else it is zero). Not set: nothing.",
        choices=("velocity", "acceleration"),
        example=["velocity"],
        locked=True,
    )
    measured_effort: MeasuredEffort = parameter(
        "raw",
        "What the driver calls effort: raw (the whole joint effort), gravity_compensated (without gravity), or "
        "external (the effort of the surroundings).",
        locked=True,
    )
    effort_gain: tuple[float, ...] = parameter(
        (),
        "Factor from the driver's unit of effort to N m or N of each joint, for example N m/A. Not set: 1.",
        per_joint=True,
        signed=True,
        example=[10.3, 10.3],
        locked=True,
    )
    effort_filter_cutoff: float = parameter(
        0.0,
        "Cut-off, Hz, of the first-order low-pass that the driver puts on efforts before it publishes them. Observers "
        "of external effort put the same on the model. 0: none.",
        low=0.0,
        high=1000.0,
        locked=True,
    )
    timeout: float = parameter(
        0.1,
        "Maximum age of a joint state that a command may be based on, and of a joint that a message lacks, s. With "
        "use_sim_time, time passes all the same where /clock stands still for 20 times as long.",
        low=0.001,
        high=10.0,
        locked=True,
    )

    detect_frozen: bool = parameter(
        True,
        "Whether a state that repeats the numbers of the state before, with velocities other than zero, is ignored.",
        locked=True,
    )

    @property
    def clock_timeout(self) -> float:
        """Real time for which a simulation's clock may stand still, s."""
        return 20 * self.timeout


@dataclass(frozen=True)
class CollisionSettings(Group, name="collision", title="External efforts and collisions"):
    """How external efforts are observed, and what is a collision."""

    bandwidth: float = parameter(
        25.0,
        "Bandwidth of the observer, 1/s. A step of twice the threshold is detected after 0.7 / bandwidth s. 0: "
        "external efforts are not observed.",
        low=0.0,
        high=1000.0,
        locked=True,
    )
    threshold: tuple[float, ...] = parameter(
        (),
        "External effort that is a collision, of each joint, N m or N. Set by ~/calibrate_collision. Not "
        "set: no collision is detected.",
        per_joint=True,
        example=[20.0, 20.0],
    )
    calibration_time: float = parameter(30.0, "Duration of ~/calibrate_collision, s.", low=1.0, high=3600.0)
    service: str = parameter(
        "", "Service of type std_srvs/Trigger that is called when a collision begins. Empty: none."
    )

    @property
    def observes(self) -> bool:
        """Whether external efforts are observed."""
        return self.bandwidth > 0


@dataclass(frozen=True)
class OutputSettings(Group, name="outputs", title="Outputs"):
    """What is published besides commands."""

    black_box: str = parameter(
        "",
        "Folder of the MCAP files of the last minute of inputs and decisions before each stop; it keeps the newest 20, "
        "200 MB at most. Empty: `black_box` in the ROS log folder. none: no files are written.",
        read_only=True,
    )
    payload_service: str = parameter(
        "",
        "Service of the driver that is told each payload that is set, in monitor: franka_msgs/srv/SetLoad or "
        "ur_msgs/srv/SetPayload. Empty: none.",
    )


def declared() -> dict[str, Parameter]:
    """Return all parameters by name."""
    return {each.name: each for group in Settings().groups() for each in group.parameters().values()}


def check_parameter_names(names: Iterable[str]) -> None:
    """Check that there are parameters of these names.

    Raises:
        InputError: there is none of a name; it says which one has its last part, or where old names are listed.
    """
    known = declared()
    for name in sorted(set(names) - known.keys()):
        like = [each for each in known if each.rpartition(".")[2] == name.rpartition(".")[2]]
        advice = f"is it {' or '.join(like)}?" if like else "see `ros2_dyn parameters`, and CHANGELOG.rst for old ones"
        raise InputError(name, f"there is no such parameter: {advice}")


def _modes() -> tuple[Group, ...]:
    return tuple(mode.Parameters() for mode in MODES.values())


@dataclass(frozen=True)
class Settings:
    """Valid values of all parameters, in SI units.

    Raises:
        InputError: a list does not fit `robot.joints`.
    """

    description: DescriptionSettings = DescriptionSettings()
    robot: RobotSettings = RobotSettings()
    friction: FrictionSettings = FrictionSettings()
    states: StateSettings = StateSettings()
    collision: CollisionSettings = CollisionSettings()
    outputs: OutputSettings = OutputSettings()
    commands: CommandSettings = CommandSettings()
    modes: tuple[Group, ...] = field(default_factory=_modes)
    """The parameters of each mode."""

    def __post_init__(self) -> None:
        """Check that lists with a number for each joint have as many."""
        n = len(self.robot.joints)
        for group in self.groups():
            for key, each in group.parameters().items():
                numbers = getattr(group, key)
                if each.per_joint and numbers and len(numbers) != n:
                    expected = f"expected {n} numbers as `robot.joints` has"
                    expected = expected if n else "set `robot.joints`, too, which says whose numbers these are"
                    raise InputError(each.name, f"{expected}; got {len(numbers)}")
        if (given := len(self.friction.stribeck)) not in (0, 2 * n):
            raise InputError("friction.stribeck", f"expected two numbers for each of {n} joints, got {given} numbers")
        if (given := len(self.friction.presliding)) and (n == 0 or given % (2 * n)):
            expected = f"expected pairs of numbers, as many for each of {n} joints"
            raise InputError("friction.presliding", f"{expected}, got {given} numbers")

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Settings:
        """Make settings from some values by name; None stands for a list that is not set.

        Args:
            values: by names such as `hand_guiding.damping`, or nested as in a parameter file.

        Raises:
            InputError: as the class, a value is outside of its range, or a name is unknown.
        """
        return cls().with_values(values)

    def with_values(self, values: Mapping[str, Any]) -> Settings:
        """Return the settings with some other values; see `from_values`.

        Raises:
            InputError: as `from_values`.
        """
        given = flat(values)
        check_parameter_names(given)

        def changed(group: M) -> M:
            keys = {key: each.name for key, each in group.parameters().items() if each.name in given}
            return replace(group, **{key: given[name] for key, name in keys.items()}) if keys else group

        core: dict[str, Any] = {name: changed(getattr(self, name)) for name in self._core()}
        return Settings(**core, modes=tuple(map(changed, self.modes)))

    def groups(self) -> tuple[Group, ...]:
        """Return all groups."""
        return (*(getattr(self, name) for name in self._core()), *self.modes)

    @classmethod
    def _core(cls) -> list[str]:
        """Return the names of the groups that are no mode's."""
        return [each.name for each in fields(cls) if each.name != "modes"]

    def values(self) -> dict[str, Any]:
        """Return the value of each parameter by name."""
        return {each.name: getattr(group, key) for group in self.groups() for key, each in group.parameters().items()}

    def mode(self, kind: type[M]) -> M:
        """Return the parameters of a mode."""
        return next(each for each in self.modes if isinstance(each, kind))

    def apply(self, description: RobotModel) -> RobotModel:
        """Return the model with the joints, the friction and the rotors that the parameters give.

        Raises:
            InputError: the robot has no such joint, or no such link.
        """
        robot = self.robot
        model = description.reduced(robot.joints) if robot.joints else description
        model.link_frame(robot.tip_link or None)
        for link in (link for each in self.modes for link in each.links):
            model.link_frame(link or None)
        free = [joint for joint in model.joints if joint.mimics is None and joint.dof == 1]
        return model.with_joint_dynamics(
            {joint.name: replace(joint.dynamics, **self._own(joint.name)) for joint in free}
        )

    def _own(self, joint: str) -> dict[str, Any]:
        """Return the numbers of `JointDynamics` that the parameters give for a joint, by name."""
        own: dict[str, Any] = {"transition_velocity": self.friction.transition_velocity}
        if joint in self.robot.joints:
            i = self.robot.joints.index(joint)
            own |= self.friction.of_joint(i, len(self.robot.joints))
            if self.robot.armature:
                own["armature"] = self.robot.armature[i]
        return own

    def in_order(self, numbers: Sequence[float], model: RobotModel, default: float) -> list[float]:
        """Return numbers given in the order of `robot.joints` in the model's; the default for the other joints."""
        by_name = dict(zip(self.robot.joints, numbers))
        return [by_name.get(name, default) for name in model.joint_names]

    def of_a_stop(self) -> Settings:
        """Return the parameters of a process that only stops the arm: no mode's, no description, no observer's."""
        return replace(
            self, description=DescriptionSettings(), collision=CollisionSettings(bandwidth=0.0), modes=_modes()
        )

    def check_unlocked(self, new: Settings, mode: str) -> None:
        """Check that no parameter changes which is locked while a mode commands.

        Raises:
            InputError: one does.
        """
        before, after = self.values(), new.values()
        for name, each in declared().items():
            if each.locked and before[name] != after[name]:
                raise InputError(name, f"cannot be changed while mode {mode} commands: enter monitor first")


def flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the values of a mapping that may be nested, by their names with those of their groups."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return found
