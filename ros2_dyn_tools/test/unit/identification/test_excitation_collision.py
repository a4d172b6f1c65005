# SPDX-License-Identifier: Apache-2.0
"""Self-collision: distances of spheres in closed form, and trajectories that keep away from themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import joint, robot
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.identification.excitation_collision import CLEARANCE, SelfCollision
from ros2_dyn_tools.identification.excitation_design import excite
from ros2_dyn_tools.identification.excitation_options import ExcitationOptions

pytest.importorskip("pinocchio", reason="Pinocchio, which computes distances, is not installed")
RADIUS = 0.1
TRIANGLE = np.array([2 * np.pi / 3, 2 * np.pi / 3])


def ball(name: str, x: float) -> str:
    """Return a <link> with a ball on its x axis, and the ball's inertia."""
    shape = f'<origin xyz="{x} 0 0"/><geometry><sphere radius="{RADIUS}"/></geometry>'
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><origin xyz="{x} 0 0"/><mass value="1"/>{inertia}</inertial>'
    return f'<link name="{name}"><collision>{shape}</collision>{body}</link>'


def write_balls(path, axis):
    """Write three links of 1 m, with balls at both ends, which touch where the links form a triangle."""
    xml = robot(
        ball("base", 0.0),
        ball("first", 0.5),
        ball("second", 1.0),
        joint("one", "continuous", "base", "first", xyz=(1, 0, 0), axis=axis),
        joint("two", "continuous", "first", "second", xyz=(1, 0, 0), axis=axis),
    )
    path.write_text(xml)
    return path, RobotModel.from_urdf(xml)


@pytest.fixture
def balls(tmp_path):
    """The file and the model of those links in a horizontal plane."""
    return write_balls(tmp_path / "balls.urdf", (0, 0, 1))


def gap(q) -> np.ndarray:
    """Return the gap between the balls of base and second."""
    one, both = q[..., 0], q[..., 0] + q[..., 1]
    x, y = 1 + np.cos(one) + np.cos(both), np.sin(one) + np.sin(both)
    return np.hypot(x, y) - 2 * RADIUS


def test_distances_are_those_of_balls_and_neighbours_are_left_out(balls):
    collision = SelfCollision(*balls, np.zeros(2))
    assert collision.pairs == (("base_0", "second_0"),)
    for q in np.random.default_rng(1).uniform(-3, 3, (20, 2)):
        assert_allclose(collision.distances(q), [gap(q)], atol=1e-6)


def test_closeness_has_the_gradient_of_differences(balls):
    collision = SelfCollision(*balls, np.zeros(2))
    q = np.array([0.94 * TRIANGLE, [0.0, 0.0]])  # near, and far
    assert 0 < gap(q)[0] < 2 * CLEARANCE
    values, gradient = collision.closeness(q)
    assert_allclose(values, [(1 - gap(q)[0] / (2 * CLEARANCE)) ** 2, 0.0], atol=1e-4)
    moves = 1e-5 * np.eye(2)
    slopes = [((1 - gap(q[0] + e) / (2 * CLEARANCE)) ** 2 - (1 - gap(q[0] - e) / (2 * CLEARANCE)) ** 2) for e in moves]
    assert_allclose(gradient[0], np.array(slopes) / 2e-5, rtol=1e-2)
    assert_allclose(gradient[1], 0.0)


def test_trajectory_keeps_away_from_itself(balls):
    path, model = balls
    options = ExcitationOptions(duration=10.0, starts=2, iterations=20, acceleration=10.0)
    free = excite(model, options).trajectory
    kept = excite(model, options, SelfCollision(path, model, np.zeros(2))).trajectory
    t = np.linspace(0, 10, 5000)
    assert np.min(gap(free.at(t)[0])) < 0, "the test is one only if it would collide"
    assert np.min(gap(kept.at(t)[0])) > 0.5 * CLEARANCE
    assert np.max(np.abs(kept.at(t)[0])) > 0.5


def test_last_ball_stays_above_a_floor(tmp_path):
    """In a vertical plane; the base and the first link are allowed to touch the floor."""
    path, model = write_balls(tmp_path / "upright.urdf", (0, 1, 0))
    collision = SelfCollision(path, model, np.zeros(2), floor=-0.5)
    assert collision.pairs == (("base_0", "second_0"), ("second_0", "floor"))
    for q in ([0.1, 0.0], [0.3, 0.2], [-1.0, 0.5]):
        height = -np.sin(q[0]) - np.sin(q[0] + q[1])
        assert_allclose(collision.distances(np.array(q))[1], height - RADIUS + 0.5, atol=1e-6)
    options = ExcitationOptions(duration=10.0, starts=1, iterations=15)
    lowest = []
    for each in (None, collision):
        q = excite(model, options, each).trajectory.at(np.linspace(0, 10, 5000))[0]
        lowest.append(np.min(-np.sin(q[:, 0]) - np.sin(q[:, 0] + q[:, 1])) - RADIUS)
    assert lowest[0] < -0.5 < lowest[1] - 0.5 * CLEARANCE


def test_links_that_touch_at_the_start_are_named(balls):
    collision = SelfCollision(*balls, TRIANGLE)
    assert collision.touching == (("base_0", "second_0"),)
    assert collision.pairs == ()
    assert collision.is_free(TRIANGLE[None])


def test_description_without_geometry_is_an_error(tmp_path):
    xml = robot('<link name="a"/>', '<link name="b"/>', joint("j", "continuous", "a", "b"))
    path = tmp_path / "bare.urdf"
    path.write_text(xml)
    with pytest.raises(InputError, match="self-collision: the description has no collision geometry"):
        SelfCollision(path, RobotModel.from_urdf(xml), np.zeros(1))
