# SPDX-License-Identifier: Apache-2.0
"""Handovers between real processes: the node, the mock arm with its controllers, and a manager that refuses."""

from __future__ import annotations

import numpy as np
import pytest

from robots import HOME, mock_arm

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from ros2_dyn_interfaces.srv import GiveBack, ListControllers, SwitchController, TakeOver

from ros2_dyn.dynamics import gravity
from ros2_dyn.simulation.controllers import gains_of_inertia
from ros_harness import words

REMAP = ("-r", "~/command:=/effort_controller/commands")
SERVICES = ("list_controllers", "switch_controller")
MOCK_ARM = [word for each in SERVICES for word in ("-r", f"controller_manager/{each}:=mock_arm/{each}")]
"""What makes the mock arm the manager of its controllers."""
TRAJECTORY = SwitchController.Request.TRAJECTORY
SMALL = 0.02
"""Largest motion in a handover, rad, however late a busy machine is; `test_handover.py` measures it in virtual time.

Until the trajectory comes that holds the arm, the trajectory controller lets it sag, by its weight over the springs.
"""
STIFF, DAMPED = gains_of_inertia(mock_arm(), HOME, bandwidth=80.0)


def test_arm_passes_to_the_node_and_back(listener, start):
    lockstep = words(publish_clock=True, lockstep=True, lockstep_timeout=60.0)
    assert np.max(np.abs(gravity(mock_arm(), HOME)) / STIFF) < SMALL
    springs = words(trajectory_p=STIFF.tolist(), trajectory_d=DAMPED.tolist())
    start("ros2_dyn.ros.mock_arm_node", *words(home=HOME, controller=TRAJECTORY), *lockstep, *springs)
    parameters = words(use_sim_time=True, **{"states.timeout": 1.0})
    start("ros2_dyn.ros.dynamics_node", *parameters, *REMAP, *MOCK_ARM)
    states, efforts = listener.listen("joint_states"), listener.listen("dynamics/gravity")
    listener.until(lambda: efforts, "no efforts")
    listener.until(lambda: len(states) > 200, "no states")  # the arm has sunk into its controller's springs

    def motion(begun: int) -> float:
        positions = np.array([state.position for state in states[begun:]])
        return float(np.max(np.abs(positions - positions[0])))

    begun = len(states)
    answer = listener.call(TakeOver, "dynamics/take_over")
    assert (answer.success, answer.held_by) == (True, "dynamics"), answer.message
    assert "the measured effort of every joint follows" in answer.message
    assert motion(begun) < SMALL
    active = [
        each.name for each in listener.call(ListControllers, "mock_arm/list_controllers").controllers if each.active
    ]
    assert active == ["effort_controller"]

    begun = len(states)
    answer = listener.call(GiveBack, "dynamics/give_back")
    assert (answer.success, answer.held_by) == (True, TRAJECTORY), answer.message
    listener.spin(0.2)
    assert motion(begun) < SMALL
