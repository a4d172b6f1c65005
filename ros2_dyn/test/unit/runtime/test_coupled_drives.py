# SPDX-License-Identifier: Apache-2.0
"""What the node allows the friction of a drive that turns with two joints."""

import numpy as np
from numpy.testing import assert_allclose

from robots import coupled, mock_arm
from ros2_dyn.control.command_history import CommandHistory
from ros2_dyn.control.model_doubt import allowance
from ros2_dyn.runtime.model_monitor import ModelMonitor
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.settings import Settings

NUMBERS = {"friction.viscous": [2.0] * 6, "friction.coulomb": [5.0] * 6}


def allowed(qd, **ratios):
    names = mock_arm().joint_names
    settings = Settings.from_values({"robot.joints": list(names), **NUMBERS})
    monitor = ModelMonitor(CommandHistory(1.0))
    monitor.use(RobotDynamics(coupled(mock_arm(), **ratios), settings))
    return np.array(monitor._allowed(qd))


def test_joint_may_differ_by_what_each_drive_that_loads_it_may():
    """The last drive stands where the last joint turns back as fast as the other one takes it along."""
    qd = [0.0, 0.0, 0.0, 0.0, 2.0, -1.0]
    drive = allowance(1e-9, 5.0, 2.0, 0.0)
    plain = allowed(qd)
    expected = plain + np.array([0, 0, 0, 0, 0.5 * drive.at(0.0), drive.at(0.0) - drive.at(1.0)])
    assert_allclose(allowed(qd, wrist_3_joint={"wrist_2_joint": 0.5}), expected)
    assert_allclose(allowed(qd, wrist_3_joint={"nowhere": 0.5}), plain)
