# SPDX-License-Identifier: Apache-2.0
"""Physics of the simulated arm: closed forms, conserved energy, and consistency with inverse dynamics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import HOME, joint, link, mock_arm, robot
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm


@pytest.fixture(scope="module")
def arm_model() -> RobotModel:
    """Return the six-axis arm."""
    return mock_arm()


def free(model: RobotModel) -> HeldEffort:
    return HeldEffort(np.zeros(model.n), model.effort_limit)


def test_pendulum_swings_with_its_closed_form_period():
    """Small swings of a point mass on a rod: T = 2 pi sqrt(l/g), longer by A^2/16 for amplitude A."""
    model = RobotModel.from_urdf(
        robot(link("base"), link("bob", 1.5, (0, 0, -0.8)), joint("hinge", "continuous", "base", "bob", axis=(0, 1, 0)))
    )
    amplitude = 0.1
    arm = SimulatedArm(model, free(model), [amplitude])
    period = 2 * np.pi * np.sqrt(0.8 / 9.81) * (1 + amplitude**2 / 16)
    arm.advance(round(period / arm.step))
    # Near the turning point the velocity measures the time better than the position does.
    late = arm.t - period
    assert_allclose(arm.qd[0], -amplitude * (2 * np.pi / period) ** 2 * late, rtol=0, atol=2e-5)
    assert_allclose(arm.q[0], amplitude, rtol=1e-4)


def test_demo_trajectory_is_smooth_and_stays_inside_all_limits(arm_model):
    """Velocity and acceleration are derivatives of the position; the arm starts at rest."""
    trajectory = DemoTrajectory(arm_model, HOME)
    lower, upper, fastest = np.array([(j.lower, j.upper, j.velocity_limit) for j in arm_model.joints]).T
    step = 1e-5
    for t in np.linspace(0, 30, 301):
        q, qd, qdd = trajectory.at(t)
        assert np.all((lower <= q) & (q <= upper) & (abs(qd) <= fastest))
        before, after = trajectory.at(t - step), trajectory.at(t + step)
        assert_allclose((after[0] - before[0]) / (2 * step), qd, rtol=0, atol=1e-8)
        assert_allclose((after[1] - before[1]) / (2 * step), qdd, rtol=0, atol=1e-8)
    assert_allclose(trajectory.at(0)[1], 0)
    assert np.all(np.ptp([trajectory.at(t)[0] for t in np.linspace(0, 10, 101)], axis=0) > 0.3)  # every joint moves


def test_invalid_home_or_step_is_rejected_by_name(arm_model):
    with pytest.raises(InputError, match="home: expected 6 positions within"):
        DemoTrajectory(arm_model, [0, 0, 4, 0, 0, 0])  # the elbow stops at pi
    with pytest.raises(InputError, match="home"):
        DemoTrajectory(arm_model, [0, 0])
    with pytest.raises(InputError, match="step: expected a positive number of seconds, got 0"):
        SimulatedArm(arm_model, free(arm_model), HOME, step=0)
