# SPDX-License-Identifier: Apache-2.0
"""The control laws closed around the simulated arm as a robot closes them: sampled, a period late, and saturated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from control_states import arm_at
from robots import HOME, mock_arm
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.force_control import force_control
from ros2_dyn.control.joint_pd import joint_pd
from ros2_dyn.control.modes.hand_guiding import HandGuiding, HandGuidingSettings
from ros2_dyn.control.soft_limits import WALL_WIDTH
from ros2_dyn.dynamics import forward_kinematics, jacobian, mass_matrix
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.perturbed import perturbed, with_armature
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm
from ros2_dyn.simulation.wall import Wall
from tiers import FULL, part

ARMATURE = (0.5, 0.5, 0.4, 0.1, 0.1, 0.1)
PERIOD = 2e-3
"""Period of the loop, s."""
EFFORT_SCALE = 0.8
Law = Callable[[ArmState, float], np.ndarray]


class Record(NamedTuple):
    """Time series with one row for each period, shape (periods, ...)."""

    t: np.ndarray
    """End of the period, s."""
    q: np.ndarray
    qd: np.ndarray
    position: np.ndarray
    """Position of the tip at the beginning of the period, m."""
    velocity: np.ndarray
    """Velocity of the tip at the beginning of the period, m/s."""
    force: np.ndarray
    """Force of the surroundings on the tip at the end of the period, N."""


class Rig:
    """An arm, and the terms of the model that its laws see; the kernels of both are made once."""

    def __init__(self, model: RobotModel, actual: RobotModel | None = None, step: float = PERIOD) -> None:
        """Control `actual`, or the model itself for None, integrated with a step, s."""
        self.limit = EFFORT_SCALE * model.effort_limit
        self._terms = compile_kernel(
            model, ("gravity", "friction", "mass_matrix", "jacobian", "pose"), "python", ("q", "qd")
        )
        self.arm = SimulatedArm(actual or model, HeldEffort(np.zeros(model.n), self.limit), HOME, step=step)
        self._steps = round(PERIOD / step)

    def state(self) -> ArmState:
        """Return the state with the terms of the model."""
        q, qd = self.arm.q, self.arm.qd
        return ArmState(q, qd, *map(np.array, self._terms(q.tolist(), qd.tolist())))

    def run(self, law: Law, seconds: float, q=HOME, qd=None, contacts: Iterable[Contact] = ()) -> Record:
        """Run the loop from a state; each effort acts one period later, for one period."""
        arm = self.arm
        arm.place(q, qd)
        arm.contacts[:] = contacts
        effort, rows = self.state().gravity, []
        for _ in range(round(seconds / PERIOD)):
            state = self.state()
            arm.law, effort = HeldEffort(effort, self.limit), law(state, arm.t)
            arm.advance(self._steps)
            force = arm.contact_wrench()[:3]
            rows.append((arm.t, arm.q, arm.qd, state.pose[:3, 3], state.tip_velocity[:3], force))
        return Record(*map(np.array, zip(*rows)))


@pytest.fixture(scope="module")
def model() -> RobotModel:
    """Return the six-axis arm with rotors."""
    return with_armature(mock_arm(), ARMATURE)


@pytest.fixture(scope="module")
def rig(model) -> Rig:
    """Return an arm that the model describes exactly."""
    return Rig(model)


# --- feed-forward -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", part(range(3), 0))
def test_feed_forward_reduces_the_tracking_error_of_a_pd_to_a_fifth(model, seed):
    """The inertias of the model are wrong by up to 5 %; at twice the speed the PD has gravity compensation."""
    rig = Rig(model, perturbed(model, np.random.default_rng(seed), inertia_error=0.05))
    effort = compile_kernel(model, ("effort",), "python", ("q", "qd", "qdd"))
    trajectory, bandwidth = DemoTrajectory(model, HOME), 10.0
    inertia = np.diag(mass_matrix(model, HOME))
    stiffness, damping = bandwidth**2 * inertia, 2 * bandwidth * inertia

    def error(feed_forward, speed):
        """Return the root mean square over joints and time, rad, after the transient of the start."""

        def desired(t):
            q, qd, qdd = trajectory.at(speed * t)
            return q, speed * qd, speed**2 * qdd

        def law(state, t):
            q_d, qd_d, qdd_d = desired(t)
            pd = joint_pd(state.q, state.qd, q_d, qd_d, stiffness=stiffness, damping=damping)
            return pd + feed_forward(state, q_d, qd_d, qdd_d)

        record = rig.run(law, 5.0)
        errors = record.q - [desired(t)[0] for t in record.t]
        return np.sqrt(np.mean(errors[record.t > 1.5] ** 2))

    def model_effort(state, *motion):
        return np.array(effort(*(x.tolist() for x in motion))[0])

    def gravity_only(state, *motion):
        return state.gravity

    def nothing(state, *motion):
        return 0.0

    ratios = error(model_effort, 1) / error(nothing, 1), error(model_effort, 2) / error(gravity_only, 2)
    assert max(ratios) <= 0.2


# --- force ------------------------------------------------------------------------------------------------------

PUSHES = {
    "down": (HOME, (0, 0, -1)),
    "aslant": (HOME, (0.6, 0, -0.8)),
    "sideways": (HOME, (0.3, 0.9, -0.3)),
    "elsewhere": (np.add(HOME, [0.5, 0.3, -0.4, 0.3, 0.4, 1.0]), (0.5, -0.4, -0.7)),
}
FORCE, SPEED = 20.0, 0.1
DAMPING, POSTURE_DAMPING = 120.0, 10.0
"""Defaults of the parameters, 1/s."""


def press(
    rig: Rig, q, direction, wrench: Callable[[ArmState], np.ndarray], stiffness: float
) -> tuple[float, float, float]:
    """Hit a wall; return the maximum force, the maximum speed backwards, and the final force along the direction."""
    direction = np.array(direction) / np.linalg.norm(direction)
    tip = forward_kinematics(rig.arm.model, q)[:3, 3]
    wall = Wall(rig.arm.model.default_tip, tip + 1e-4 * direction, -direction, stiffness=stiffness, damping=0.0)
    qd = np.linalg.solve(jacobian(rig.arm.model, q), [*SPEED * direction, 0, 0, 0])
    record = rig.run(lambda state, t: force_control(state, wrench(state), DAMPING, POSTURE_DAMPING), 1.0, q, qd, [wall])
    force, speed = -record.force @ direction, record.velocity @ direction
    touched = int(np.argmax(force > 0))
    assert_allclose(speed[max(touched - 1, 0)], SPEED, rtol=0.1)
    assert_allclose(force[-50:], force[-1], rtol=1e-4)
    return force.max(), -speed[touched:].min(), force[-1]


@pytest.fixture(scope="module")
def fine_rig(model) -> Rig:
    """Return an arm with steps that resolve the contact with a wall."""
    return Rig(model, step=5e-4)


@pytest.mark.parametrize(("stiffness", "greatest"), [(2e4, 1.2 * FORCE), (5e4, 1.6 * FORCE)])
@pytest.mark.parametrize("push", part(PUSHES, 1))
def test_force_on_an_elastic_wall_is_reached_without_a_bounce(fine_rig, push, stiffness, greatest):
    """The wall is hit at 0.1 m/s; the tip moves back with a fifth of that at most."""
    q, direction = PUSHES[push]
    wrench = np.array([*FORCE * np.array(direction) / np.linalg.norm(direction), 0, 0, 0])
    peak, back, last = press(fine_rig, q, direction, lambda state: wrench, stiffness)
    assert peak <= greatest
    assert back <= 0.2 * SPEED
    assert_allclose(last, FORCE, rtol=0.02)


# --- hand-guiding -----------------------------------------------------------------------------------------------


def guided(model: RobotModel, lower=None, upper=None) -> Law:
    """Return the law with its defaults, and with joint limits, the model's for None."""
    mode = HandGuiding(HandGuidingSettings(), 0.0)
    walls = model.lower if lower is None else lower, model.upper if upper is None else upper
    effort, velocity = EFFORT_SCALE * model.effort_limit, model.velocity_limit
    limits = CommandLimits(model.joint_names, effort, model.effort_limit, velocity)
    commands = CommandSettings(max_tip_speed=10.0)
    return lambda state, t: mode.step(arm_at(state, t, walls=walls, limits=limits, commands=commands)).effort


DIRECTIONS = [(1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (2, 2, -1)]
REST = 10.0 if FULL else 3.0
"""Time for which the tip is watched after the hand has let go, s."""


@pytest.mark.parametrize("direction", part(DIRECTIONS, 5))
def test_hand_leads_the_arm_lightly_and_the_tip_stays_where_it_is_left(rig, direction):
    """A hand at 0.2 m/s needs 5 N at most; the tip that is let go moves by 1 mm at most.

    Directions towards the stretched arm are left out: near there joints have to turn fast, and are heavy.
    """
    way, gripped, hold = 0.3 * np.array(direction) / np.linalg.norm(direction), 0.2, 1.0
    duration = np.linalg.norm(way) / 0.2 / 0.8  # it gathers speed for a fifth of the time, and slows down as long
    hand = Hand(rig.arm.model.default_tip, way, start=gripped, duration=duration, hold=hold)
    record = rig.run(guided(rig.arm.model), hand.end + REST, contacts=[hand])
    part = (record.t - gripped) / duration
    plateau = (part > 0.35) & (part < 0.75)
    assert_allclose(np.mean(record.velocity[plateau] @ way / np.linalg.norm(way)), 0.2, rtol=0.05)
    force = np.linalg.norm(record.force[plateau], axis=1)
    after = record.position[record.t > hand.end + PERIOD]
    moved = np.linalg.norm(after - after[0], axis=1).max()
    assert force.max() <= 5.0
    assert np.linalg.norm(after[0] - record.position[0] - way) < 0.01  # it came along
    assert moved <= 1e-3


@pytest.mark.parametrize("com", part([(0.0, 0.0, 0.05), (0.06, 0.0, 0.0)], 1))
def test_unknown_payload_moves_the_guided_tip_by_millimetres_only(model, com):
    """The model does not know 0.2 kg: the tip gives way by less than 5 mm, and then rests."""
    rig = Rig(model, model.carrying(Payload(0.2, com)))
    record = rig.run(guided(model), 20.0 if FULL else 12.0)
    moved = np.linalg.norm(record.position - record.position[0], axis=1)
    late = record.t > 10
    assert moved.max() < 5e-3
    assert np.ptp(moved[late]) < 1e-5
    assert np.ptp(record.q[late], axis=0).max() < 1e-4


class Pressed(NamedTuple):
    """Outcome of pulling at the tip until the walls held it."""

    nearest: float
    """Smallest distance of any joint from its limit, rad."""
    on_walls: np.ndarray
    """Joints that rest on a wall."""
    force: float
    """Final force of the hand, N."""
    swing: np.ndarray
    """Range of each joint in the last 2 s, rad."""
    reversals: np.ndarray
    """Number of reversals of each joint in the last 2 s."""


def pull(rig: Rig, way, duration: float, q=HOME, lower=None, upper=None) -> Pressed:
    """Lead the tip far beyond the limits, and hold it for 4 s."""
    model = rig.arm.model
    lower, upper = model.lower if lower is None else lower, model.upper if upper is None else upper
    hand = Hand(model.default_tip, way, start=0.2, duration=duration, hold=4.0)
    record = rig.run(guided(model, lower, upper), hand.end, q, contacts=[hand])
    left = np.minimum(upper - record.q, record.q - lower)
    late = (record.t > hand.end - 2.0) & (record.t < hand.end - PERIOD)
    force = np.linalg.norm(record.force[late], axis=1)
    assert_allclose(force, hand.max_force, rtol=1e-6)  # it does pull all the time
    turned_back = np.diff(np.sign(record.qd[late]), axis=0) != 0
    return Pressed(
        left.min(),
        np.flatnonzero(left[-1] < WALL_WIDTH),
        force[-1],
        np.ptp(record.q[late], axis=0),
        turned_back.sum(axis=0),
    )


def check_pressed(pressed: Pressed) -> None:
    """Check that no joint came nearer than half the margin to a hard stop, and that the arm rests on the walls."""
    assert pressed.on_walls.size
    assert pressed.nearest >= 0.1
    assert pressed.swing[pressed.on_walls].max() <= 2e-3
    assert pressed.reversals[pressed.on_walls].max() <= 4


@pytest.mark.parametrize("direction", part([*DIRECTIONS[:5], (-1, 0, 0), (1, -1, 1)], 6))
def test_soft_walls_of_several_joints_hold_against_a_hand(rig, direction):
    """Limits are 0.5 rad to both sides, so that several joints stop the hand."""
    way = np.array(direction) / np.linalg.norm(direction)
    pressed = pull(rig, way, 1.5, lower=np.subtract(HOME, 0.5), upper=np.add(HOME, 0.5))
    assert pressed.on_walls.size >= 2
    check_pressed(pressed)
