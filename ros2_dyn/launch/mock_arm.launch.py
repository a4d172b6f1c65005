# SPDX-License-Identifier: Apache-2.0
"""Launch the mock arm and the node `dynamics`."""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("ros2_dyn")
ARGUMENTS = [
    DeclareLaunchArgument("namespace", default_value="", description="Namespace of both nodes."),
    DeclareLaunchArgument("urdf_file", default_value="", description="URDF of the arm. Empty: the mock arm's."),
    DeclareLaunchArgument(
        "mock_arm_params_file",
        default_value="",
        description="Parameter file of the mock arm. Empty: config/mock_arm.yaml, or the defaults with a urdf_file.",
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value=PathJoinSubstitution([SHARE, "config", "dynamics.yaml"]),
        description="Parameter file of the node dynamics.",
    ),
    DeclareLaunchArgument(
        "rviz",
        default_value="false",
        choices=["true", "false"],
        description="Start RViz.",
    ),
    DeclareLaunchArgument(
        "robot_state_publisher",
        default_value=LaunchConfiguration("rviz"),
        description="Start robot_state_publisher, which RViz and other viewers need.",
    ),
]


def mock_arm(context: LaunchContext) -> list[Node]:
    """Return the mock arm. The positions in its parameter file are those of the mock arm, and of no other."""
    urdf, file = (LaunchConfiguration(name).perform(context) for name in ("urdf_file", "mock_arm_params_file"))
    if not urdf and not file:
        file = PathJoinSubstitution([SHARE, "config", "mock_arm.yaml"]).perform(context)
    return [
        Node(
            package="ros2_dyn",
            executable="mock_arm_node",
            name="mock_arm",
            namespace=LaunchConfiguration("namespace"),
            parameters=[
                *([ParameterFile(file)] if file else []),
                *([{"urdf_file": ParameterValue(urdf, value_type=str)}] if urdf else []),
            ],
            output="screen",
        )
    ]


def dynamics(context: LaunchContext) -> list[IncludeLaunchDescription]:
    """Return the node `dynamics` with the topics of the mock arm."""
    urdf = LaunchConfiguration("urdf_file").perform(context)
    return [
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution([SHARE, "launch", "dynamics.launch.py"])),
            launch_arguments={
                "namespace": LaunchConfiguration("namespace"),
                "urdf_file": urdf or PathJoinSubstitution([SHARE, "config", "mock_arm.urdf"]),
                "params_file": LaunchConfiguration("params_file"),
                "desired": "mock_arm/reference",
                "command": "effort_controller/commands",
                "trajectory_with_effort": "trajectory_controller/joint_trajectory",
                "rviz": LaunchConfiguration("rviz"),
                "robot_state_publisher": LaunchConfiguration("robot_state_publisher"),
            }.items(),
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=mock_arm), OpaqueFunction(function=dynamics)])
