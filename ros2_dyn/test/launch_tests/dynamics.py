# SPDX-License-Identifier: Apache-2.0
"""dynamics.launch.py beside a driver with other topics and a clock of its own, started after it and before it."""

import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from launch import LaunchDescription
from launch.actions import RegisterEventHandler, TimerAction
from launch.event_handlers import OnProcessIO, OnProcessStart
from launch.events.process import ProcessIO
from launch_ros.actions import Node

from launched import launch_file, parameter_file, parameters_of
from ros_harness import Listener

WAITING = b"waiting for the topic robot_description"
PARAMETERS = """
/**/dynamics:
  ros__parameters:
    states:
      timeout: 0.33
"""


@pytest.mark.launch_test
@launch_testing.parametrize("first", ["driver", "node"])
def generate_test_description(first: str) -> LaunchDescription:
    """A driver with /clock, whose joint states and controller have names of their own; and the node."""
    driver = Node(
        package="ros2_dyn",
        executable="mock_arm_node",
        name="driver",
        parameters=[{"publish_clock": True, "home": [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]}],
        remappings=[("joint_states", "arm/measured"), ("effort_controller/commands", "arm/efforts")],
    )
    node = launch_file(
        "dynamics",
        params_file=parameter_file(PARAMETERS),
        joint_states="arm/measured",
        desired="driver/reference",
        desired_wrench="planner/wrench",
        command="arm/efforts",
        use_sim_time="true",
    )
    if first == "driver":
        later = RegisterEventHandler(
            OnProcessStart(target_action=driver, on_start=[TimerAction(period=2.0, actions=[node])])
        )
        start = [later, driver]
    else:
        started: list[bool] = []

        def on_output(event: ProcessIO) -> "list[Node] | None":
            if WAITING not in event.text or started:
                return None
            started.append(True)
            return [driver]

        start = [RegisterEventHandler(OnProcessIO(on_stderr=on_output, on_stdout=on_output)), node]
    return LaunchDescription([*start, launch_testing.actions.ReadyToTest()])


class TestBesideADriver(unittest.TestCase):
    """While both are up."""

    def setUp(self) -> None:
        """A node to listen with."""
        self.listener = Listener()
        self.addCleanup(self.listener.close)

    def test_efforts_of_the_remapped_states_arrive_in_the_time_of_the_clock(self, first: str) -> None:
        """Of the stamps, and of the node's own clock."""
        efforts = self.listener.listen("dynamics/inverse_dynamics")
        diagnostics = self.listener.listen("/diagnostics", type=DiagnosticArray)
        self.listener.until(lambda: len(efforts) > 20 and diagnostics, f"no efforts, {first} first")
        self.assertEqual(len(efforts[-1].effort), 6)
        day = 86400  # the driver's clock starts at 0, that of the machine did long ago
        self.assertLess(efforts[-1].header.stamp.sec, day)
        self.assertLess(diagnostics[-1].header.stamp.sec, day)

    def test_every_topic_has_the_name_that_was_given(self) -> None:
        """Which is read from the graph."""
        node = self.listener.node

        def reads(topic: str) -> bool:
            return "dynamics" in {info.node_name for info in node.get_subscriptions_info_by_topic(topic)}

        for topic in ("/arm/measured", "/driver/reference", "/planner/wrench", "/robot_description"):
            self.listener.until(lambda topic=topic: reads(topic), f"{topic} is not read")
        self.listener.until(lambda: node.count_publishers("/arm/efforts"), "nobody commands")
        for topic in ("/joint_states", "/dynamics/desired", "/dynamics/desired_wrench", "/dynamics/command"):
            self.assertEqual(node.count_publishers(topic) + node.count_subscribers(topic), 0, topic)

    def test_parameters_are_those_of_the_file_and_of_the_arguments(self) -> None:
        """With a wildcard for the namespace."""
        found = parameters_of(self.listener, "dynamics", "states.timeout", "use_sim_time")
        self.assertEqual(found, [0.33, True])


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    """After SIGINT."""

    def test_exit_codes(self, proc_info: launch_testing.ActiveProcInfoHandler) -> None:
        """Both ended by themselves, without an error."""
        self.assertEqual(len(proc_info.process_names()), 2)
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0])
