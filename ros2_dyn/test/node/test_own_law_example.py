# SPDX-License-Identifier: Apache-2.0
"""The law of `examples/node/own_law.py` on a simulated arm: it carries, gives way, and yields when it is hit."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from robots import HOME, mock_arm
from ros2_dyn.dynamics import gravity, jacobian, mass_matrix
from ros2_dyn.simulation import AppliedForce, HeldEffort, SimulatedArm

EXAMPLE = Path(__file__).parents[3] / "examples" / "node" / "own_law.py"
pytestmark = pytest.mark.skipif(not EXAMPLE.is_file(), reason="the package is tested outside of a checkout")
PERIOD = 0.002


def pushed(force):
    """Push an arm that the law carries from 0.5 to 1.5 s at its tip, along z; return the law, and 3 s of positions."""
    model, effort = mock_arm(), gravity(mock_arm(), HOME)
    push = AppliedForce(model.default_tip, (0.0, 0.0, force), profile="step", start=0.5, duration=1.0)
    arm = SimulatedArm(model, HeldEffort(effort, model.effort_limit), HOME, contacts=[push])
    law, positions = run_path(str(EXAMPLE))["OwnLaw"](model, arm.q.copy(), effort, 0.0), []
    for k in range(1500):
        effort, _ = law(arm.q.copy(), arm.qd.copy(), effort, k * PERIOD)
        arm.law = HeldEffort(effort, model.effort_limit)
        arm.advance(round(PERIOD / arm.step))
        positions.append(arm.q.copy())
    return law, np.array(positions)


def test_arm_is_carried_gives_way_as_its_stiffness_says_and_comes_back():
    model, force = mock_arm(), -0.1
    law, q = pushed(force)
    assert not law.detector.collision
    assert_allclose(q[:250], np.tile(HOME, (250, 1)), atol=1e-4)
    stiffness = 5.0**2 * mass_matrix(model, HOME)
    expected = np.linalg.solve(stiffness, jacobian(model, HOME).T @ [0, 0, force, 0, 0, 0])
    assert_allclose((q[749] - HOME) / np.abs(expected).max(), expected / np.abs(expected).max(), atol=0.1)
    assert_allclose(q[-1], HOME, atol=2e-3)


def test_a_hard_push_is_a_collision_after_which_the_arm_stays_where_it_was_pushed():
    law, q = pushed(-120.0)
    assert law.detector.collision
    assert np.abs(q[-1] - HOME).max() > 0.05
    assert np.abs(q[-1] - q[-250]).max() < 0.01
