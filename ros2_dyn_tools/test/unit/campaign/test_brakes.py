# SPDX-License-Identifier: Apache-2.0
"""Brakes of a simulated arm, against the closed forms of a mass that slides, and of a weight that hangs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MASS, cart, joint, link, robot
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm
from ros2_dyn_tools.campaign.brakes import Brakes


def braked(model: RobotModel, speed: float, force: float) -> SimulatedArm:
    """Return an arm of one joint that moves, m/s, and whose brake, N, has closed."""
    arm = SimulatedArm(model, HeldEffort([0.0], [1.0]), [0.0], [speed])
    arm.law = Brakes(arm, np.array([force]))
    return arm


@pytest.mark.parametrize("speed", [0.8, -0.8])
def test_a_mass_is_slowed_by_the_force_of_its_brake_until_it_rests(speed):
    arm, force = braked(cart(MASS), speed, 10.0), 10.0
    half = MASS * abs(speed) / force / 2
    for _ in range(round(half / arm.step)):
        arm.advance()
    assert_allclose(arm.qd, speed / 2, rtol=0.02)
    for _ in range(round(half / arm.step) + 100):
        arm.advance()
    assert_allclose(arm.q, np.sign(speed) * MASS * speed**2 / (2 * force), rtol=0.02)
    assert abs(arm.qd[0]) < 1e-4


def test_a_weight_hangs_in_its_brake_and_slips_through_one_that_is_too_weak():
    lift = RobotModel.from_urdf(
        robot(link("base"), link("load", MASS), joint("z", "prismatic", "base", "load", axis=(0, 0, 1)))
    )
    for force, moved in ((1.5, 1e-3), (0.5, -0.5 * 9.81 / 2)):
        arm = braked(lift, 0.0, force * MASS * 9.81)
        for _ in range(1000):
            arm.advance()
        assert abs(arm.q[0]) < moved if moved > 0 else np.isclose(arm.q[0], moved, rtol=0.02)
