"""The parameters of the node `dynamics`: declared with their meaning, and checked before anything else is made."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.node import Node

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY, gravity_vector
from ros2_dyn.node_base import declare


@dataclass(frozen=True)
class Parameters:
    """The values, in SI units; config/dynamics.yaml says what each is for."""

    robot_description: str
    urdf_file: str
    tip_link: str
    gravity: tuple[float, ...]
    desired_timeout: float
    singularity_threshold: float


def declare_parameters(node: Node) -> Parameters:
    """Declare every parameter and read its value.

    Raises:
        InputError: gravity is not three finite numbers.
    """
    robot_description = declare(
        node, "robot_description", "", "The robot as URDF text. Empty: urdf_file, or else the topic robot_description."
    )
    urdf_file = declare(node, "urdf_file", "", "Path of a URDF file, used where robot_description is empty.")
    tip_link = declare(
        node, "tip_link", "", "Link that services mean when they name none. Empty: that with the most joints behind it."
    )
    gravity = declare(node, "gravity", list(STANDARD_GRAVITY), "Free-fall acceleration in the base frame, m/s^2.")
    desired_timeout = declare(
        node, "desired_timeout", 0.1, "Age up to which a desired state serves states of other stamps, s.", high=10.0
    )
    singularity_threshold = declare(
        node,
        "singularity_threshold",
        0.02,
        "Smallest singular value of the Jacobian below which get_jacobian reports near_singularity.",
        high=10.0,
    )
    a_g = tuple(gravity_vector(gravity).tolist())
    return Parameters(robot_description, urdf_file, tip_link, a_g, desired_timeout, singularity_threshold)
