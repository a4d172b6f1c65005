# SPDX-License-Identifier: Apache-2.0
"""The leapfrog integrator: order, energy, stiff friction, contacts, and what it tends to with a finer step."""

from types import FunctionType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import HOME, coupled, mock_arm
from ros2_dyn.dynamics import forward_dynamics, friction, gravity, kinetic_energy, potential_energy
from ros2_dyn.kernels.compile_aside import compiling_aside
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.leapfrog import compile_leapfrog
from ros2_dyn.simulation.perturbed import with_armature, with_friction
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm

FREE = with_armature(mock_arm(), [0.3, 0.3, 0.2, 0.05, 0.05, 0.05])
FRICTIONAL = with_friction(FREE, [8.0, 8.0, 5.0, 1.0, 1.0, 1.0], [5.0, 5.0, 3.0, 1.0, 1.0, 1.0])


def held(model, efforts, q, qd=None, step=1e-3, contacts=()) -> SimulatedArm:
    return SimulatedArm(model, HeldEffort(efforts, model.effort_limit), q, qd, step=step, contacts=contacts)


def test_leapfrog_in_free_fall_conserves_energy_to_second_order_in_the_step():
    def error(step):
        arm = held(FREE, np.zeros(6), HOME, step=step)
        before = potential_energy(FREE, arm.q)
        arm.advance(round(0.8 / step))
        T = kinetic_energy(FREE, arm.q, arm.qd)
        assert T > 20.0  # it does fall
        return abs(T + potential_energy(FREE, arm.q) - before)

    assert error(1e-3) < 0.02
    assert error(1e-3) / error(0.5e-3) > 0.8 * 2**2


@pytest.mark.parametrize("model", [FREE, with_friction(FREE, [8.0] * 3 + [1.0] * 3)], ids=["free", "viscous"])
def test_leapfrog_on_a_smooth_motion_converges_with_second_order(model):
    reference = held(model, gravity(model, HOME) + 5.0, HOME, step=3.125e-5)
    reference.advance(16000)

    def error(step):
        arm = held(model, gravity(model, HOME) + 5.0, HOME, step=step)
        arm.advance(round(0.5 / step))
        return np.abs(np.concatenate([arm.q - reference.q, arm.qd - reference.qd])).max()

    assert np.abs(reference.q - HOME).max() > 0.1  # it does move
    assert error(2e-3) < 3e-3
    assert error(2e-3) / error(1e-3) > 0.8 * 2**2


@pytest.mark.skipif(bool(why_no_c()), reason="no C compiler is here")
def test_leapfrog_compiled_to_c_gives_the_same_numbers_to_the_last_bit():
    two = mock_arm().reduced(mock_arm().joint_names[1:3])
    model = with_friction(with_armature(two, [0.3, 0.2]), [8.0, 5.0], [5.0, 3.0])
    rng = np.random.default_rng(1)
    states = [[rng.normal(size=2).tolist() for _ in range(5)] for _ in range(200)]
    python = compile_leapfrog.__wrapped__(model, 1e-3)
    with compiling_aside():
        compiled = compile_leapfrog.__wrapped__(model, 1e-3)
    assert not isinstance(compiled, FunctionType)
    assert [compiled(*state) for state in states] == [python(*state) for state in states]


def test_leapfrog_with_dry_friction_is_right_with_a_step_of_two_milliseconds():
    efforts = gravity(FRICTIONAL, HOME) + np.array([9.0, -30.0, 8.0, 3.0, -3.0, 2.0])
    reference = held(FRICTIONAL, efforts, HOME, step=6.25e-5)
    reference.advance(16000)
    arm = held(FRICTIONAL, efforts, HOME, step=2e-3)
    arm.advance(500)
    assert np.abs(arm.q - HOME).max() > 0.5
    assert_allclose(arm.q, reference.q, rtol=0, atol=5e-3)
    assert_allclose(arm.qd, reference.qd, rtol=0, atol=2e-2)


@pytest.mark.parametrize("coulomb", [1.0, 20.0])
@pytest.mark.parametrize("speed", [0.05, 0.5, 5.0])
def test_leapfrog_brings_light_joints_to_rest_under_stiff_friction_without_oscillation(coulomb, speed):
    """The last joint has 1e-4 kg m^2, so that friction stops it in far less than a step of 2 ms."""
    model = with_friction(mock_arm(), coulomb=[coulomb] * 6)
    arm = held(model, np.zeros(6), [0, -np.pi / 2, 0, 0, 0, 0], [0, 0, 0, 0, speed, speed], step=2e-3)
    arm.advance(5)
    late = []
    for _ in range(100):
        late.append(arm.qd[5])
        arm.advance()
    assert np.abs(arm.qd[4:]).max() < 0.01
    assert min(late) > -0.01  # it never turns round


def test_leapfrog_arm_led_by_a_hand_and_pushed_ends_right_with_a_step_of_two_milliseconds():
    def end(step):
        contacts = [Hand("tool0", (0.1, 0.1, 0.05), duration=0.4), AppliedForce("forearm_link", (0, 0, -20.0))]
        arm = held(FRICTIONAL, gravity(FRICTIONAL, HOME), HOME, None, step, contacts)
        arm.advance(round(0.6 / step))
        assert len(arm.contacts) == 1  # the hand has let go
        return arm.q

    q = end(1e-4)
    assert np.abs(q - HOME).max() > 0.05
    assert_allclose(end(2e-3), q, rtol=0, atol=2e-3)


def test_leapfrog_gives_the_same_bits_whatever_the_number_of_steps_per_call():
    ends = []
    for chunk in (1, 4, 100):
        arm = held(FRICTIONAL, gravity(FRICTIONAL, HOME) + 6.0, HOME, contacts=[AppliedForce("tool0", (5.0, 0, 0))])
        for _ in range(100 // chunk):
            arm.advance(chunk)
        ends.append((arm.t, arm.q.tobytes(), arm.qd.tobytes()))
    assert ends[0] == ends[1] == ends[2]


def wrist(viscous=0.5, coulomb=0.0, ratio=0.7):
    """Return an arm whose last drive turns with two joints, and has most of the friction."""
    model = with_friction(FREE, [8.0, 8.0, 5.0, 1.0, 0.2, viscous], [0.0, 0.0, 0.0, 0.0, coulomb / 10, coulomb])
    return coupled(model, wrist_3_joint={"wrist_2_joint": ratio})


def test_leapfrog_follows_the_equation_of_motion_of_drives_that_turn_with_two_joints():
    model, efforts = wrist(), gravity(FREE, HOME) + 3.0

    def rate(x):
        q, qd = x.reshape(2, 6)
        return np.concatenate([qd, forward_dynamics(model, q, qd, efforts - friction(model, qd))])

    x, h = np.array([*HOME, *[0.0] * 6]), 2e-3  # Runge and Kutta's method of fourth order
    for _ in range(150):
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + h * k3))
    arm = held(model, efforts, HOME, step=5e-4)
    arm.advance(600)
    assert np.abs(x[10:]).max() > 1.0  # the wrist does turn
    assert_allclose([*arm.q, *arm.qd], x, rtol=0, atol=1e-3)


def test_leapfrog_with_dry_friction_of_a_drive_that_turns_with_two_joints_converges_with_second_order():
    model = wrist(1.0, 2.0)
    efforts = gravity(model, HOME) + np.array([0, 0, 0, 0, 1.5, -2.5])

    def end(step):
        arm = held(model, efforts, HOME, step=step)
        arm.advance(round(0.5 / step))
        return arm.q

    right = end(6.25e-5)
    errors = [np.abs(end(step) - right).max() for step in (2e-3, 1e-3)]
    assert np.abs(right - HOME).max() > 2.0
    assert errors[0] < 0.01
    assert errors[0] / errors[1] > 0.8 * 2**2


def test_drive_that_sticks_lets_its_joint_turn_back_as_fast_as_the_other_turns():
    model = wrist(coulomb=20.0, ratio=1.0)
    arm = held(model, gravity(model, HOME) + np.array([0, 0, 0, 0, 4.0, 0]), HOME, step=2e-3)
    arm.advance(200)
    turned = arm.q - HOME
    assert turned[4] > 0.1
    assert turned[5] == pytest.approx(-turned[4], rel=0.02)


def test_arm_at_rest_stays_at_rest_where_a_drive_turns_with_the_difference_of_two_joints():
    model = wrist(coulomb=2.0, ratio=-1.0)
    arm = held(model, gravity(model, HOME), HOME, step=2e-3)
    arm.advance(50)
    assert_allclose(arm.qd, 0.0, atol=1e-6)
