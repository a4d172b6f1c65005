"""The parameters of the node `dynamics`: declared with their meaning, and checked before anything else is made."""

from __future__ import annotations

from dataclasses import dataclass

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY, gravity_vector


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
    """Declare every parameter, set once at the start, and read its value.

    Raises:
        InputError: gravity is not three finite numbers.
    """

    def declare(name, default, description, low=None, high=None):  # type: ignore[no-untyped-def]
        descriptor = ParameterDescriptor(description=description, read_only=True)
        if low is not None:
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        return node.declare_parameter(name, default, descriptor).value

    return Parameters(
        robot_description=declare(
            "robot_description", "", "The robot as URDF text. Empty: urdf_file, or else the topic robot_description."
        ),
        urdf_file=declare("urdf_file", "", "Path of a URDF file, used where robot_description is empty."),
        tip_link=declare(
            "tip_link", "", "Link that services mean when they name none. Empty: the link with most joints behind it."
        ),
        gravity=tuple(
            gravity_vector(
                declare("gravity", list(STANDARD_GRAVITY), "Acceleration of free fall in the base frame, m/s^2.")
            ).tolist()
        ),
        desired_timeout=declare(
            "desired_timeout",
            0.1,
            "Age up to which a desired state is used with a measured state of another stamp, s.",
            0.0,
            10.0,
        ),
        singularity_threshold=declare(
            "singularity_threshold",
            0.02,
            "Smallest singular value of the Jacobian below which get_jacobian reports near_singularity.",
            0.0,
            10.0,
        ),
    )
