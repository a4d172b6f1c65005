# SPDX-License-Identifier: Apache-2.0
"""Two arms in one graph, by namespaces: wildcards in their parameter file, and commands that stay apart."""

import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from launch import LaunchDescription
from ros2_dyn_interfaces.srv import SetMode
from std_msgs.msg import Float64MultiArray

from launched import launch_file, parameter_file, parameters_of
from ros_harness import Listener

ARMS = "left", "right"
EARTH, MOON = [0.0, 0.0, -9.81], [0.0, 0.0, -1.62]
AT_REST = """
/**:
  ros__parameters:
    controller: effort_controller
    home: [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
"""
"""Both arms hold the efforts that carry them."""
PARAMETERS = """
/**:
  ros__parameters:
    robot.tip_link: wrist_3_link
/*/dynamics:
  ros__parameters:
    states:
      timeout: 0.33
/right/dynamics:
  ros__parameters:
    robot: {gravity: [0.0, 0.0, -1.62]}
"""


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    """The same launch file and the same parameter files twice."""
    files = {"params_file": parameter_file(PARAMETERS), "mock_arm_params_file": parameter_file(AT_REST)}
    arms = [launch_file("mock_arm", namespace=arm, **files) for arm in ARMS]
    return LaunchDescription([*arms, launch_testing.actions.ReadyToTest()])


class TestTwoArms(unittest.TestCase):
    """While four nodes are up."""

    def setUp(self) -> None:
        """A node to listen with."""
        self.listener = Listener()
        self.addCleanup(self.listener.close)

    def test_wildcards_reach_both_arms_and_a_full_name_only_its_own(self) -> None:
        """As the nodes themselves say."""
        for arm in ARMS:
            tip, timeout, gravity = parameters_of(
                self.listener, f"{arm}/dynamics", "robot.tip_link", "states.timeout", "robot.gravity"
            )
            self.assertEqual((tip, timeout), ("wrist_3_link", 0.33))
            self.assertEqual(gravity, MOON if arm == "right" else EARTH)

    def test_each_arm_has_the_efforts_of_its_own_gravity(self) -> None:
        """Both arms stand alike, to the little that the left one moves when it is commanded."""
        self.listener.listen(*(f"{arm}/dynamics/gravity" for arm in ARMS))
        received = self.listener.received
        self.listener.until(lambda: all(received.values()), "no efforts")
        left, right = (received[f"{arm}/dynamics/gravity"][-1].effort[1] for arm in ARMS)
        self.assertLess(left, -20.0)
        self.assertAlmostEqual(right / left, MOON[2] / EARTH[2], places=3)

    def test_an_arm_that_is_commanded_leaves_the_other_alone(self) -> None:
        """Modes and commands are those of one namespace."""
        commands = {
            arm: self.listener.listen(f"{arm}/effort_controller/commands", type=Float64MultiArray) for arm in ARMS
        }

        def enters(mode: str) -> bool:
            self.response = self.listener.call(SetMode, "left/dynamics/set_mode", mode=mode)
            return self.response.success

        self.listener.until(lambda: enters(SetMode.Request.GRAVITY), "the mode is refused")
        self.listener.until(lambda: len(commands["left"]) > 20, f"no commands: {self.response.message}")
        self.assertEqual(commands["right"], [])
        self.listener.until(lambda: enters(SetMode.Request.MONITOR), "the mode is not left")


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):
    """After SIGINT."""

    def test_exit_codes(self, proc_info: launch_testing.ActiveProcInfoHandler) -> None:
        """All four ended by themselves, without an error."""
        self.assertEqual(len(proc_info.process_names()), 4)
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0])
