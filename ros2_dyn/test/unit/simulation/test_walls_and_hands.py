# SPDX-License-Identifier: Apache-2.0
"""Walls (Hunt and Crossley) and hands, in closed form and on simulated arms."""

from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from robots import CART, HOME, MASS, mock_arm, random_tree
from ros2_dyn.dynamics import forward_kinematics, gravity, jacobian, static_torque
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.contact_efforts import ContactEfforts
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm
from ros2_dyn.simulation.wall import Wall

REST = np.zeros(3)


def pushed(model: RobotModel, q, qd, *contacts: Contact, step: float = 1e-3) -> SimulatedArm:
    """Return an arm whose motors compensate gravity at q only."""
    return SimulatedArm(model, HeldEffort(gravity(model, q), model.effort_limit), q, qd, step=step, contacts=contacts)


class Floating(HeldEffort):
    """Motors that compensate gravity at every position and damp the joints."""

    def __init__(self, model: RobotModel) -> None:
        super().__init__(np.zeros(model.n), model.effort_limit)
        self._gravity = compile_kernel(model, ("gravity",), "python", ("q",))
        self.damping = np.full(model.n, 0.5)

    def __call__(self, t, q, qd, M, h):
        """Return gravity compensation and damping."""
        return np.array(self._gravity(q.tolist())[0]) - self.damping * qd


class Probe(Contact):
    """A random force that records its arguments."""

    def __init__(self, link: str, point) -> None:
        self.link, self.point = link, point
        self.force = np.random.default_rng(0).normal(size=3)

    def force_at(self, t, position, velocity):
        """Record the arguments and return the force."""
        self.arguments = position, velocity
        return self.force


@pytest.mark.parametrize("seed", range(3))
def test_contact_receives_position_and_velocity_of_its_point_and_acts_there_on_random_trees(seed):
    model = RobotModel.from_urdf(random_tree(seed))
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-1, 1, (2, model.n))
    efforts = ContactEfforts(model)
    for name in model.link_names:
        probe = Probe(name, rng.normal(size=3))
        tau = efforts([probe], 0.0, q, qd)
        position, velocity = probe.arguments
        assert_allclose(position, (forward_kinematics(model, q, name) @ [*probe.point, 1])[:3], rtol=0, atol=1e-12)
        assert_allclose(velocity, (jacobian(model, q, name, probe.point) @ qd)[:3], rtol=0, atol=1e-12)
        assert_allclose(tau, static_torque(model, q, [*probe.force, 0, 0, 0], name, probe.point), rtol=0, atol=1e-11)
        assert_allclose(efforts([probe] * 2, 0.0, q, qd), 2 * tau)


def test_contact_wrench_of_several_forces_is_their_resultant_at_the_tip():
    """For contacts on the tip link ``J^T W`` is the sum of their joint efforts; other links add a moment arm."""
    model = mock_arm()
    rng = np.random.default_rng(1)
    on_tip = [AppliedForce("tool0", rng.normal(size=3), rng.normal(size=3)) for _ in range(3)]
    arm = pushed(model, HOME, None, *on_tip)
    W = arm.contact_wrench()
    assert_allclose(static_torque(model, HOME, W), arm.motion().external, rtol=0, atol=1e-12)

    F, tip, elbow = (
        np.array([1.0, 2.0, 3.0]),
        *(forward_kinematics(model, HOME, name)[:3, 3] for name in ("tool0", "forearm_link")),
    )
    arm.contacts[:] = [AppliedForce("forearm_link", F), AppliedForce("tool0", F, start=1.0)]
    assert_allclose(arm.contact_wrench(), [*F, *np.cross(elbow - tip, F)], rtol=0, atol=1e-12)
    arm.contacts.clear()
    assert not arm.contact_wrench().any()


# --- walls ------------------------------------------------------------------------------------------------------


def hit(v: float, damping: float) -> tuple[float, float]:
    """Return the largest depth and the return speed of a mass that hits a wall at v, in closed form.

    ``m v dv = -k x (1 + c v) dx``: with ``G(v) = v/c - ln(1 + c v)/c^2``, ``m (G(v0) - G(v)) = k x^2 / 2``.
    """

    def G(v):
        return v**2 / 2 if damping == 0 else v / damping - np.log1p(damping * v) / damping**2

    slow = brentq(lambda w: G(-w) - G(v), 0.0, min(v, 1 / damping - 1e-12) if damping else v)
    return np.sqrt(2 * MASS / 5e4 * G(v)), slow


@pytest.mark.parametrize("damping", [0.0, 1.0, 5.0])
def test_mass_hitting_a_wall_reaches_the_closed_form_depth_and_return_speed(damping):
    """The force only ever acts outwards; the tolerance is that of a step of 0.1 ms."""
    wall = Wall("cart", (0.1, 7.0, 8.0), (-2.0, 0, 0), damping=damping)
    cart = pushed(CART, [0.08], [0.5], wall, step=1e-4)
    depths, forces = [], []
    while cart.t < 0.12:
        cart.advance()
        depths.append(cart.q[0] - 0.1)
        forces.append(cart.motion().external[0])
    depth, speed = hit(0.5, damping)
    assert_allclose(max(depths), depth, rtol=1e-4)
    assert_allclose(cart.qd[0], -speed, rtol=1e-4)
    assert cart.q[0] < 0.1
    assert max(forces) == 0.0
    assert np.all((np.array(forces) < 0) == (np.array(depths) > 0))
    assert (speed < 0.499) == (damping > 0)


def test_wall_left_faster_than_it_recovers_does_not_pull():
    """The force is zero where ``1 + damping depth_rate`` would be negative."""
    wall = Wall("cart", (0, 0, 0), (0, 0, 1), damping=10.0)
    inside, up = np.array([0.3, -0.2, -0.001]), np.array([5.0, 0, 0.05])
    assert_allclose(wall.force_at(0.0, inside, up), [0, 0, 5e4 * 0.001 * 0.5], rtol=1e-12)
    assert not wall.force_at(0.0, inside, 4 * up).any()
    assert not wall.force_at(0.0, -inside, -up).any()
    assert_allclose(wall.force_at(0.0, inside, -up), [0, 0, 5e4 * 0.001 * 1.5], rtol=1e-12)


# --- hands ------------------------------------------------------------------------------------------------------


def test_hand_moves_from_rest_to_rest_with_constant_speed_between():
    """Positions, speeds, and a speed that is the derivative of the position."""
    hand = Hand("cart", (0.8, 0, 0), start=1.0, duration=2.0, stiffness=1.0, damping=0.0, max_force=1e9)
    hand.force_at(1.0, REST, REST)
    t = np.linspace(1.0, 4.0, 3001)
    way = np.array([hand.force_at(x, REST, REST)[0] for x in t])
    hand.stiffness, hand.damping = 0.0, 1.0
    speed = np.array([hand.force_at(x, REST, REST)[0] for x in t])
    assert_allclose(way[[0, 1000, 2000, 3000]], [0, 0.4, 0.8, 0.8], rtol=0, atol=1e-12)
    assert_allclose(speed[[0, 200, 400, 1000, 1600, 1800, 2000, 3000]], np.array([0, 1, 2, 2, 2, 1, 0, 0]) * 0.25)
    assert_allclose(np.gradient(way, t)[1:-1], speed[1:-1], rtol=0, atol=1e-5)
    assert np.abs(np.diff(speed)).max() < 0.005  # it gathers speed smoothly


def test_hand_leads_a_free_arm_to_its_goal_within_its_max_force_and_lets_go():
    model = mock_arm()
    way, held = np.array([0.1, 0.15, -0.1]), np.array([0.05, 0.02, 0.01])
    hand = Hand("tool0", way, held, start=0.1005, duration=1.0, hold=0.8, max_force=20.0)
    arm = SimulatedArm(model, Floating(model), HOME, contacts=[hand])
    force, where = [], []
    for _ in range(2000):
        arm.advance()
        force.append(np.linalg.norm(arm.contact_wrench()[:3]))
        where.append((forward_kinematics(model, arm.q) @ [*held, 1])[:3])
    assert max(force[:100]) == 0.0
    assert_allclose(where[1899] - where[99], way, rtol=0, atol=2e-3)
    assert 5.0 < max(force) <= 20.0 * (1 + 1e-12)
    assert max(force[1901:]) == 0.0
    assert arm.contacts == []
    assert not arm.motion().external.any()


def test_reading_the_motion_does_not_change_how_a_hand_leads():
    ends = []
    for reads in (0, 1):
        arm = pushed(CART, [0.3], [1.0], Hand("cart", (0.5, 0, 0), start=0.0105, duration=0.2))
        for _ in range(300):
            arm.advance()
            [arm.motion() for _ in range(reads)]
        ends.append((arm.q[0], arm.qd[0]))
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("kind", "fields", "problem"),
    [
        (Wall, {"normal": (0, 0, 0)}, r"normal of the wall on 'tool0': expected a direction, got \(0.0, 0.0, 0.0\)"),
        (Wall, {"normal": (1, 0)}, "normal of the wall on 'tool0': expected 3 finite numbers"),
        (Wall, {"stiffness": 0.0}, "stiffness of the wall .* a positive, finite number of N/m, got 0.0"),
        (Wall, {"damping": -1.0}, "damping of the wall .* not negative, got -1.0"),
        (Hand, {"displacement": (nan, 0, 0)}, "displacement of the hand on 'tool0': expected 3 finite numbers"),
        (Hand, {"duration": 0.0}, "duration of the hand .* a positive, finite number of seconds, got 0.0"),
        (Hand, {"hold": -1.0}, "hold of the hand .* not negative, got -1.0"),
        (Hand, {"max_force": -1.0}, "max_force of the hand .* not negative, got -1.0"),
    ],
)
def test_invalid_wall_or_hand_is_rejected_with_link_field_and_expectation(kind, fields, problem):
    good = {"origin": (0, 0, 0), "normal": (0, 0, 1)} if kind is Wall else {"displacement": (1, 0, 0)}
    with pytest.raises(InputError, match=problem):
        kind(**{"link": "tool0"} | good | fields)
