"""The launch file, run by the real launch system: both processes up, efforts on the topic, a clean end."""

import time
import unittest

import pytest

pytest.importorskip("launch_testing", reason="launch_testing is not installed (it comes with ROS 2)")
pytest.importorskip("launch_ros", reason="launch_ros is not installed (it comes with ROS 2)")

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import rclpy
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from sensor_msgs.msg import JointState

PATIENCE = 30.0
"""Seconds that discovery and start-up may take."""


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    """The launch file under test, as a user includes it."""
    launch_file = PathJoinSubstitution([FindPackageShare("ros2_dyn"), "launch", "mock_arm.launch.py"])
    return LaunchDescription(
        [
            IncludeLaunchDescription(PythonLaunchDescriptionSource(launch_file)),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestRunning(unittest.TestCase):
    """While both are up."""

    @classmethod
    def setUpClass(cls) -> None:
        """A node to listen with."""
        rclpy.init()
        cls.node = rclpy.create_node("launch_test")

    @classmethod
    def tearDownClass(cls) -> None:
        """Shut it down."""
        cls.node.destroy_node()
        rclpy.shutdown()

    def test_efforts_arrive(self, proc_info: launch_testing.ActiveProcInfoHandler) -> None:
        """Each topic brings an effort for every joint of the mock arm."""
        received: dict[str, JointState] = {}
        topics = [f"dynamics/{name}" for name in ("inverse_dynamics", "gravity", "coriolis")]
        for topic in topics:
            self.node.create_subscription(JointState, topic, lambda m, topic=topic: received.update({topic: m}), 10)
        deadline = time.monotonic() + PATIENCE
        while len(received) < len(topics) and time.monotonic() < deadline:
            rclpy.spin_once(self.node, timeout_sec=0.1)
        self.assertEqual(sorted(received), sorted(topics))
        for message in received.values():
            self.assertEqual(len(message.name), 6)
            self.assertEqual(len(message.effort), 6)
        self.assertGreater(abs(received["dynamics/gravity"].effort[1]), 1.0)  # the shoulder carries the arm
        self.assertEqual(len(proc_info.process_names()), 2)


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    """After SIGINT."""

    def test_exit_codes(self, proc_info: launch_testing.ActiveProcInfoHandler) -> None:
        """Both ended by themselves, without an error."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0])
