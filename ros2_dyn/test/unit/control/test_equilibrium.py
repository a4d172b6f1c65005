# SPDX-License-Identifier: Apache-2.0
"""Where the spring of mode impedance is at rest, and what its stiffness costs, against geometry and energy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from ros2_dyn.control.cartesian_impedance import displacement, stiffness_matrix
from ros2_dyn.control.equilibrium import EquilibriumLimits, approach, drag
from ros2_dyn.control.stiffness_tank import StiffnessTank

LIMITS = EquilibriumLimits(speed=0.1, turn_rate=0.5, force=30.0, moment=4.0)
STIFFNESS = np.diag([500.0, 200.0, 800.0, 30.0, 10.0, 20.0])


def pose(position=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)) -> np.ndarray:
    """Return a pose of a position, m, and a rotation vector, rad."""
    made = np.eye(4)
    made[:3, 3], made[:3, :3] = position, Rotation.from_rotvec(turn).as_matrix()
    return made


def turned(a: np.ndarray, b: np.ndarray) -> float:
    """Return the angle between two poses, rad."""
    return float(Rotation.from_matrix(a[:3, :3] @ b[:3, :3].T).magnitude())


@pytest.mark.parametrize("turn", [(0.3, -0.2, 2.9), (np.pi, 0.0, 0.0), (1e-9, 0.0, 0.0)])
def test_far_target_is_approached_at_the_speed_and_the_turn_rate_and_reached_exactly(turn):
    rest, target, dt = pose(), pose((0.3, -0.4, 1.2), turn), 0.01
    ways, angles = [], []
    for _ in range(1400):
        before, rest = rest, approach(rest, target, LIMITS, dt)
        ways.append(np.linalg.norm(rest[:3, 3] - before[:3, 3]))
        angles.append(turned(rest, before))
    assert max(ways) <= LIMITS.speed * dt * (1 + 1e-9)
    assert sum(ways) == pytest.approx(1.3, rel=1e-9)  # on a straight line
    assert max(angles) <= LIMITS.turn_rate * dt * (1 + 1e-6)
    assert sum(angles) == pytest.approx(np.linalg.norm(turn), rel=1e-6, abs=1e-12)
    assert_allclose(rest, target, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_spring_of_a_tip_that_is_pushed_away_pulls_with_the_largest_force_and_no_more(seed):
    rng = np.random.default_rng(seed)
    K = stiffness_matrix(np.diag(STIFFNESS), Rotation.random(random_state=seed).as_matrix())
    tip, rest = pose(rng.normal(size=3), rng.normal(size=3)), pose()
    dragged = drag(rest, tip, K, LIMITS)
    load = K @ displacement(tip, dragged).x
    assert np.linalg.norm(load[:3]) == pytest.approx(LIMITS.force)
    assert np.linalg.norm(load[3:]) <= LIMITS.moment * (1 + 1e-9)
    assert_array_equal(drag(dragged, tip, K, LIMITS)[:3, 3], dragged[:3, 3])
    way = rest[:3, 3] - tip[:3, 3]  # it stays on the way back
    assert_allclose(np.cross(dragged[:3, 3] - tip[:3, 3], way), 0, atol=1e-12)


def test_tip_that_is_near_enough_drags_nothing():
    tip = pose((0.01, 0.0, 0.0), (0.0, 0.1, 0.0))
    rest = pose()
    assert drag(rest, tip, STIFFNESS, LIMITS) is rest


def test_stiffness_grows_by_what_the_tank_pays_for_and_a_softer_spring_pays_back():
    """Half of ``k x^2``: 1 J is 200 N/m at 10 cm."""
    at = displacement(pose((0.1, 0.0, 0.0)), pose())
    tank = StiffnessTank(0 * STIFFNESS, capacity=1.0)
    target = np.diag([400.0, 0, 0, 0, 0, 0])
    assert tank.advance(target, at, 0.0)[0, 0] == pytest.approx(200.0)
    assert tank.energy == 0.0
    assert tank.advance(target, at, 0.25)[0, 0] == pytest.approx(250.0)
    assert tank.advance(0 * target, at, 0.0)[0, 0] == 0.0
    assert tank.energy == pytest.approx(1.0)  # no more than it holds
    assert tank.advance(target, displacement(pose(), pose()), 0.0)[0, 0] == 400.0  # at rest it costs nothing
    assert tank.energy == pytest.approx(1.0)
