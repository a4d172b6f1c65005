# SPDX-License-Identifier: Apache-2.0
"""The parameters of the node `mock_arm`, each defined once, and the parts of the simulation that they describe."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from ament_index_python.packages import get_package_share_directory
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.node_base import declare
from ros2_dyn.runtime.parameter_files import read_parameter_file
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.controllers import DEMO, NAMES
from ros2_dyn.simulation.drives import Drive, drive_of
from ros2_dyn.simulation.perturbed import perturbed, with_armature, with_friction
from ros2_dyn.simulation.wall import Wall

INTERFACES = ("effort", "position_offset", "current")


def _parameter(default: Any, description: str, high: float | None = None, low: float = 0.0) -> Any:
    return field(default=default, metadata={"description": description, "low": low, "high": high})


@dataclass(frozen=True)
class MockArmSettings:
    """All parameters; `config/mock_arm.yaml` explains them."""

    urdf_file: str = _parameter("", "URDF of the arm to simulate; empty: the six-axis mock arm.")
    real_urdf: str = _parameter("", "URDF of the arm as it really is, which nobody else knows; empty: urdf_file.")
    real_parameters: str = _parameter("", "Parameter file of `dynamics` with the friction that the arm really has.")
    publish_rate: float = _parameter(250.0, "Rate of joint_states and ~/reference, Hz.", 1000.0, 1.0)
    home: tuple[float, ...] | None = _parameter(None, "Joint positions at the start, rad or m.")
    seed: int = _parameter(1, "Seed of all random numbers.")

    max_step: float = _parameter(1e-3, "Longest integration step, s.", 1e-2, 1e-5)
    publish_clock: bool = _parameter(False, "Publish /clock, and keep the simulated time independent of other clocks.")
    pace: float = _parameter(1.0, "Simulated time over wall time with publish_clock; 0: as fast as possible.", 1000.0)
    lockstep: bool = _parameter(False, "With publish_clock: wait after each state for the command that answers it.")
    lockstep_timeout: float = _parameter(1.0, "Longest wait for a command in lockstep, wall s.", 60.0, 1e-3)

    position_noise: float = _parameter(0.0, "Standard deviation of published positions, rad or m.", 100.0)
    velocity_noise: float = _parameter(0.0, "Standard deviation of published velocities, rad/s or m/s.", 100.0)
    effort_noise: float = _parameter(0.0, "Standard deviation of published efforts, N m or N.", 100.0)
    effort_resolution: float = _parameter(0.0, "Published efforts are multiples of it, N m or N; 0: any number.", 100.0)

    drop_rate: float = _parameter(0.0, "Probability that a joint_states message is lost.", 1.0)
    delay: float = _parameter(0.0, "Delay of joint_states, s.", 10.0)
    delay_jitter: float = _parameter(0.0, "Upper bound of a random further delay of each message, s.", 10.0)

    viscous_friction: tuple[float, ...] | None = _parameter(None, "Viscous friction, N m s/rad or N s/m.")
    coulomb_friction: tuple[float, ...] | None = _parameter(None, "Coulomb friction, N m or N.")
    armature: tuple[float, ...] | None = _parameter(None, "Rotor inertias, kg m^2 or kg.")
    inertia_error: float = _parameter(0.0, "Largest relative error of the URDF's inertias.", 0.9)
    friction_error: float = _parameter(0.0, "Largest relative error of the friction.", 0.9)

    controller: str = _parameter(DEMO, f"The controller that is active at the start: {', '.join(NAMES)}.")
    trajectory_p: tuple[float, ...] | None = _parameter(None, "Gains of trajectory_controller, N m/rad or N/m.")
    trajectory_d: tuple[float, ...] | None = _parameter(None, "Its damping, N m s/rad or N s/m.")

    command_interface: str = _parameter("effort", f"What commands are: {', '.join(INTERFACES)}.")
    effort_per_unit: tuple[float, ...] | None = _parameter(
        None, "Stiffness of the servos of position_offset, N m/rad or N/m; or effort per current, N m/A or N/A."
    )

    wall_point: tuple[float, ...] | None = _parameter(
        None, "A point of a wall in front of the tip, m, base frame; not set: no wall."
    )
    wall_normal: tuple[float, ...] | None = _parameter(None, "Its normal towards the free side, base frame.")
    wall_stiffness: float = _parameter(Wall.stiffness, "Stiffness of the wall, N/m.")
    wall_damping: float = _parameter(Wall.damping, "Damping of the wall (Hunt and Crossley), s/m.")

    @property
    def urdf_path(self) -> Path:
        """Path of the URDF."""
        return Path(self.urdf_file or Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.urdf"))

    def start(self, model: RobotModel) -> list[float]:
        """Return the joint positions at the start, rad or m, shape (n,)."""
        return list(self.home or np.clip(0.0, model.lower, model.upper).tolist())

    def known_model(self, model: RobotModel) -> RobotModel:
        """Return the robot of the URDF with the friction and the rotors of the parameters."""
        return with_armature(with_friction(model, self.viscous_friction, self.coulomb_friction), self.armature)

    def true_model(self, model: RobotModel) -> RobotModel:
        """Return the robot that is simulated: as it really is, with the parameters, and random errors.

        Raises:
            InputError: the parameter file cannot be read, or the joints are not those of the URDF.
            ModelError: the other URDF is wrong.
        """
        real = RobotModel.from_urdf_file(self.real_urdf) if self.real_urdf else model
        if self.real_parameters:
            real = read_parameter_file(self.real_parameters).apply(real)
        if real.joint_names != model.joint_names:
            expected = f"expected the joints of the URDF, {', '.join(model.joint_names)}"
            raise InputError("real_urdf, real_parameters", f"{expected}; got {', '.join(real.joint_names)}")
        rng = np.random.default_rng([self.seed, 2])
        return perturbed(self.known_model(real), rng, self.inertia_error, self.friction_error)

    def drive(self, model: RobotModel) -> Drive:
        """Return what the motors make of a command.

        Raises:
            InputError: the interface is unknown, or the number of each joint that it needs is missing.
        """
        if self.command_interface not in INTERFACES:
            allowed = ", ".join(INTERFACES)
            raise InputError("command_interface", f"expected one of {allowed}, got '{self.command_interface}'")
        numbers = self.effort_per_unit or ()
        if self.command_interface != "effort" and len(numbers) != model.n:
            raise InputError("effort_per_unit", f"command_interface '{self.command_interface}' needs {model.n} numbers")
        return drive_of(self.command_interface, numbers, model.effort_limit)

    def contacts(self, model: RobotModel) -> list[Contact]:
        """Return the wall, if there is one.

        Raises:
            InputError: a number of the wall makes no sense.
        """
        point, normal = self.wall_point, self.wall_normal
        if not point and not normal:
            return []
        tip, stiffness, damping = model.default_tip, self.wall_stiffness, self.wall_damping
        return [Wall(tip, point, normal, stiffness=stiffness, damping=damping)]  # type: ignore[arg-type]


def declare_settings(node: Node) -> MockArmSettings:
    """Declare all parameters on a node and return their values; all are read-only.

    Raises:
        ParameterException: a value has the wrong type or is out of its range.
    """
    values: dict[str, Any] = {}
    for item in fields(MockArmSettings):
        assert item.default is not MISSING
        default = Parameter.Type.DOUBLE_ARRAY if item.default is None else item.default
        value = declare(node, item.name, default, **item.metadata)
        values[item.name] = tuple(value) if item.default is None and value is not None else value
    return MockArmSettings(**values)
