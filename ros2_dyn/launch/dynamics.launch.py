"""The node `dynamics`, to be started beside the driver of any arm."""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = [
    DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node."),
    DeclareLaunchArgument(
        "params_file",
        default_value=PathJoinSubstitution([FindPackageShare("ros2_dyn"), "config", "dynamics.yaml"]),
        description="Parameter file of the node.",
    ),
    DeclareLaunchArgument(
        "robot_description", default_value="", description="The robot as URDF text, instead of the topic of that name."
    ),
    DeclareLaunchArgument("urdf_file", default_value="", description="The robot as a URDF file, instead of the topic."),
    DeclareLaunchArgument(
        "joint_states", default_value="joint_states", description="Topic with the measured joint states."
    ),
    DeclareLaunchArgument("desired", default_value="~/desired", description="Topic with the desired accelerations."),
    DeclareLaunchArgument(
        "use_sim_time", default_value="false", choices=["true", "false"], description="Follow the topic /clock."
    ),
]


def dynamics_node(context: LaunchContext) -> list[Node]:
    """The node; a description that is not given here is left to the parameter file."""
    texts = {name: LaunchConfiguration(name).perform(context) for name in ("robot_description", "urdf_file")}
    return [
        Node(
            package="ros2_dyn",
            executable="dynamics_node",
            name="dynamics",
            namespace=LaunchConfiguration("namespace"),
            parameters=[
                ParameterFile(LaunchConfiguration("params_file")),
                {name: ParameterValue(text, value_type=str) for name, text in texts.items() if text},
                {"use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)},
            ],
            remappings=[
                ("joint_states", LaunchConfiguration("joint_states")),
                ("~/desired", LaunchConfiguration("desired")),
            ],
            output="screen",
        )
    ]


def generate_launch_description() -> LaunchDescription:
    """Called by `ros2 launch`."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=dynamics_node)])
