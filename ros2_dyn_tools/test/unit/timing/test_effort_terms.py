# SPDX-License-Identifier: Apache-2.0
"""Friction along a path where a drive turns with two joints."""

import numpy as np
from numpy.testing import assert_allclose

from robots import coupled, mock_arm
from ros2_dyn.model import JointDynamics
from ros2_dyn_tools.timing.effort_terms import effort_terms
from ros2_dyn_tools.timing.geometric_path import PathPoints

FRICTION = JointDynamics(coulomb=2.0, transition_velocity=0.01)


def test_drive_that_hardly_turns_may_break_away_although_its_joints_turn():
    """The last drive stands on a path on which both joints turn; on another one it turns."""
    arm = mock_arm().with_joint_dynamics(dict.fromkeys(mock_arm().joint_names, FRICTION))
    arm = coupled(arm, wrist_3_joint={"wrist_2_joint": 0.5})
    dq = np.array([[0.0, 0, 0, 0, 2.0, -0.999], [0.0, 0, 0, 0, 2.0, 1.0]])
    terms = effort_terms(
        arm, PathPoints(np.zeros(2), np.zeros_like(dq), dq, np.zeros_like(dq), np.zeros_like(dq)), None
    )
    sd = np.array([1.0, 1.0])
    standing, turning = 2 * np.tanh(0.1), 2.0
    low, high = (terms.opposing(sd, extreme)[:, 4:] for extreme in (np.minimum, np.maximum))
    assert_allclose(low, [[2 + standing / 2, standing], [2 + turning / 2, turning]], rtol=1e-6)
    broken = 2 * np.tanh(3.0)
    assert_allclose(high, [[2 + broken / 2, broken], [2 + turning / 2, turning]], rtol=1e-6)
