"""Launch the mock arm and the node `dynamics`."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    share = FindPackageShare("ros2_dyn")
    return LaunchDescription(
        [
            DeclareLaunchArgument("namespace", default_value="", description="Namespace of both nodes."),
            DeclareLaunchArgument(
                "mock_arm_params_file",
                default_value=PathJoinSubstitution([share, "config", "mock_arm.yaml"]),
                description="Parameter file of the mock arm.",
            ),
            DeclareLaunchArgument(
                "urdf_file",
                default_value=PathJoinSubstitution([share, "config", "mock_arm.urdf"]),
                description="URDF of the arm.",
            ),
            DeclareLaunchArgument(
                "rviz",
                default_value="false",
                choices=["true", "false"],
                description="Start RViz, and robot_state_publisher.",
            ),
            Node(
                package="ros2_dyn",
                executable="mock_arm_node",
                name="mock_arm",
                namespace=LaunchConfiguration("namespace"),
                parameters=[
                    ParameterFile(LaunchConfiguration("mock_arm_params_file")),
                    {"urdf_file": ParameterValue(LaunchConfiguration("urdf_file"), value_type=str)},
                ],
                output="screen",
            ),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(PathJoinSubstitution([share, "launch", "dynamics.launch.py"])),
                launch_arguments={
                    "namespace": LaunchConfiguration("namespace"),
                    "urdf_file": LaunchConfiguration("urdf_file"),
                    "desired": "mock_arm/reference",
                    "command": "effort_controller/commands",
                    "rviz": LaunchConfiguration("rviz"),
                    "robot_state_publisher": LaunchConfiguration("rviz"),
                }.items(),
            ),
        ]
    )
