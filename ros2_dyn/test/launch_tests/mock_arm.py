# SPDX-License-Identifier: Apache-2.0
"""mock_arm.launch.py as it is: both processes up, efforts on the topics, the command remapped, a clean end."""

import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from launch import LaunchDescription

from launched import launch_file
from ros_harness import Listener

TOPICS = [f"dynamics/{name}" for name in ("inverse_dynamics", "gravity", "coriolis")]


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    """The launch file under test, as a user includes it."""
    return LaunchDescription([launch_file("mock_arm"), launch_testing.actions.ReadyToTest()])


class TestRunning(unittest.TestCase):
    """While both are up."""

    def setUp(self) -> None:
        """A node to listen with."""
        self.listener = Listener()
        self.addCleanup(self.listener.close)

    def test_efforts_of_all_joints_arrive_and_the_shoulder_carries_the_arm(
        self, proc_info: launch_testing.ActiveProcInfoHandler
    ) -> None:
        """From two processes, and no more."""
        self.listener.listen(*TOPICS)
        received = self.listener.received
        self.listener.until(lambda: all(received.values()), "no efforts")
        for messages in received.values():
            self.assertEqual((len(messages[0].name), len(messages[0].effort)), (6, 6))
        self.assertGreater(abs(received["dynamics/gravity"][0].effort[1]), 1.0)
        self.assertEqual(len(proc_info.process_names()), 2)

    def test_command_topic_is_that_of_the_effort_controller(self) -> None:
        """From the node to the arm."""
        node, topic = self.listener.node, "/effort_controller/commands"

        def names(found: list) -> set[str]:
            return {info.node_name for info in found}

        for found, name in (
            (node.get_publishers_info_by_topic, "dynamics"),
            (node.get_subscriptions_info_by_topic, "mock_arm"),
        ):
            self.listener.until(lambda found=found, name=name: names(found(topic)) == {name}, f"no {name}")


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    """After SIGINT."""

    def test_exit_codes(self, proc_info: launch_testing.ActiveProcInfoHandler) -> None:
        """Both ended by themselves, without an error."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0])
