# SPDX-License-Identifier: Apache-2.0
"""The node and the mock arm in two processes, which find each other and agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from ros2_dyn_interfaces.srv import SwitchController
from std_msgs.msg import Float64MultiArray

from driver import stamp_of
from ros_harness import words

PREDICTED = "dynamics/inverse_dynamics"


def test_predicted_effort_is_the_applied_effort(listener, start):
    """Along the arm's motion and under an effort command, to 1e-6 N m; the robot comes from the arm's topic.

    The arm outruns the node. A state whose desired state is lost on the way is computed with the one before.
    """
    home = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
    start("ros2_dyn.ros.mock_arm_node", *words(home=home, publish_clock=True, pace=0.0))
    start("ros2_dyn.ros.dynamics_node", *words(use_sim_time=True), "-r", "~/desired:=/mock_arm/reference")
    states, efforts = listener.listen("joint_states"), listener.listen(PREDICTED)

    def common(after: int) -> list[tuple]:
        """Return what the arm applied and what the node predicted, of the same stamps."""
        applied, predicted = ({stamp_of(m): m.effort for m in messages} for messages in (states, efforts))
        return [(applied[stamp], predicted[stamp]) for stamp in applied if stamp in predicted and stamp > after]

    listener.until(lambda: efforts, "no efforts")
    discovered = stamp_of(efforts[-1]) + 10**9  # by then each state finds its desired state
    listener.until(lambda: len(common(discovered)) > 200, "no common stamps")
    applied, predicted = np.swapaxes(common(discovered), 0, 1)
    agree = np.isclose(predicted, applied, rtol=0, atol=1e-6).all(axis=1)
    assert agree.mean() > 0.5
    assert np.ptp(applied, axis=0)[1] > 0.1  # the arm does move

    request = {"controller": SwitchController.Request.EFFORT}
    assert listener.call(SwitchController, "mock_arm/switch_controller", **request).success
    command = listener.publisher(Float64MultiArray, "effort_controller/commands")
    wanted = [2.0, -40.0, -10.0, -1.0, 0.2, 0.1]
    command.publish(Float64MultiArray(data=wanted))
    listener.until(lambda: np.allclose(states[-1].effort, wanted), "the command is not taken")
    taken = stamp_of(states[-1])
    listener.until(lambda: common(taken), "no efforts after the command")
    assert_allclose(common(taken)[0][1], wanted, rtol=0, atol=1e-6)
