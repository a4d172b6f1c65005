# SPDX-License-Identifier: Apache-2.0
"""Launch the node `dynamics` beside the driver of any arm; optionally robot_state_publisher and RViz."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare

from ros2_dyn.ros.description import expand

ARGUMENTS = [
    DeclareLaunchArgument("namespace", default_value="", description="Namespace of the node."),
    DeclareLaunchArgument(
        "params_file",
        default_value=PathJoinSubstitution([FindPackageShare("ros2_dyn"), "config", "dynamics.yaml"]),
        description="Parameter file of the node.",
    ),
    DeclareLaunchArgument(
        "robot_description", default_value="", description="Robot as URDF text, instead of the topic of that name."
    ),
    DeclareLaunchArgument(
        "urdf_file", default_value="", description="Robot as a URDF or xacro file, instead of the topic."
    ),
    DeclareLaunchArgument(
        "joint_states", default_value="joint_states", description="Topic of the measured joint states."
    ),
    DeclareLaunchArgument("desired", default_value="~/desired", description="Topic of the desired states."),
    DeclareLaunchArgument(
        "desired_wrench", default_value="~/desired_wrench", description="Topic of the wrench for mode force."
    ),
    DeclareLaunchArgument(
        "command",
        default_value="~/command",
        description="Command topic of an effort controller: <controller>/commands.",
    ),
    DeclareLaunchArgument(
        "trajectory_with_effort",
        default_value="~/trajectory_with_effort",
        description="Topic of trajectories with efforts: <controller>/joint_trajectory.",
    ),
    DeclareLaunchArgument(
        "use_sim_time", default_value="false", choices=["true", "false"], description="Use the time of /clock."
    ),
    DeclareLaunchArgument(
        "robot_state_publisher",
        default_value="false",
        choices=["true", "false"],
        description="Start robot_state_publisher; needs robot_description or urdf_file.",
    ),
    DeclareLaunchArgument(
        "rviz",
        default_value="false",
        choices=["true", "false"],
        description="Start RViz with the robot and its wrenches.",
    ),
    DeclareLaunchArgument(
        "rviz_config",
        default_value=PathJoinSubstitution([FindPackageShare("ros2_dyn"), "config", "dynamics.rviz"]),
        description="Configuration of RViz; `ros2_dyn layouts` writes that of your arm.",
    ),
    DeclareLaunchArgument(
        "fixed_frame", default_value="", description="Fixed frame of RViz, instead of rviz_config's."
    ),
]
RVIZ_TOPICS = [
    "robot_description",
    "joint_states",
    *(f"dynamics/{name}" for name in ("wrench_markers", "external_effort")),
    *(f"dynamics/{name}" for name in ("inverse_dynamics", "gravity", "coriolis", "friction")),
]
"""Topics with absolute names in the RViz configuration; they are remapped so that a namespace applies."""
REMAPPED = ("desired", "desired_wrench", "command", "trajectory_with_effort")
"""Topics of the node that launch arguments connect."""


def nodes(context: LaunchContext) -> list[Node]:
    """Return the requested nodes. A robot description that is no launch argument is left to the parameter file."""
    names = ("robot_description", "urdf_file")
    texts = {name: LaunchConfiguration(name).perform(context) for name in names}
    sim_time = {"use_sim_time": ParameterValue(LaunchConfiguration("use_sim_time"), value_type=bool)}
    namespace, joint_states = LaunchConfiguration("namespace"), ("joint_states", LaunchConfiguration("joint_states"))
    started = [
        Node(
            package="ros2_dyn",
            executable="dynamics_node",
            name="dynamics",
            namespace=namespace,
            parameters=[
                ParameterFile(LaunchConfiguration("params_file")),
                {name: ParameterValue(text, value_type=str) for name, text in texts.items() if text},
                sim_time,
            ],
            remappings=[
                joint_states,
                *((f"~/{name}", LaunchConfiguration(name)) for name in REMAPPED),
            ],
            output="screen",
        )
    ]
    if is_true(context, "robot_state_publisher"):
        xml = ParameterValue(texts["robot_description"] or read(texts["urdf_file"]), value_type=str)
        started.append(
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                namespace=namespace,
                parameters=[{"robot_description": xml}, sim_time],
                remappings=[joint_states],
            )
        )
    if is_true(context, "rviz"):
        frame = LaunchConfiguration("fixed_frame").perform(context)
        remappings = {f"/{topic}": topic for topic in RVIZ_TOPICS} | {"/joint_states": joint_states[1]}
        started.append(
            Node(
                package="rviz2",
                executable="rviz2",
                namespace=namespace,
                arguments=["-d", LaunchConfiguration("rviz_config"), *(["-f", frame] if frame else [])],
                parameters=[sim_time],
                remappings=list(remappings.items()),
            )
        )
    return started


def is_true(context: LaunchContext, name: str) -> bool:
    """Return whether a launch argument is `true`."""
    return LaunchConfiguration(name).perform(context) == "true"


def read(path: str) -> str:
    """Return the URDF text of a URDF or xacro file."""
    if not path:
        raise RuntimeError("robot_state_publisher:=true needs robot_description:=... or urdf_file:=...")
    return expand(path) if path.endswith(".xacro") else Path(path).read_text(encoding="utf-8")


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=nodes)])
