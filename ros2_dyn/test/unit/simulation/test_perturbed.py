# SPDX-License-Identifier: Apache-2.0
"""A simulated arm with friction, perturbed models, quantised values, and lossy channels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import CART, HOME, mock_arm
from ros2_dyn.dynamics import friction, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn.simulation.perturbed import perturbed, quantise, with_friction
from ros2_dyn.simulation.simulated_arm import ComputedTorque, HeldEffort, SimulatedArm

FRICTIONAL = with_friction(mock_arm(), [8.0, 8.0, 5.0, 1.0, 1.0, 1.0], [5.0, 5.0, 3.0, 1.0, 1.0, 1.0])


def held(model: RobotModel, efforts, q, qd=None, step=1e-3) -> SimulatedArm:
    return SimulatedArm(model, HeldEffort(efforts, model.effort_limit), q, qd, step=step)


# --- friction ---------------------------------------------------------------------------------------------------


def test_viscous_friction_slows_a_cart_exponentially_to_second_order():
    """``v = v0 exp(-d t / m)``."""

    def error(step):
        cart = held(with_friction(CART, [8.0]), [0.0], [0.0], [1.0], step)
        cart.advance(round(0.5 / step))
        return abs(cart.qd[0] - np.exp(-8.0 / 4.0 * 0.5))

    assert error(1e-3) < 1e-5
    assert error(1e-3) / error(0.5e-3) > 0.9 * 2**2


def test_coulomb_friction_stops_a_cart_after_the_closed_form_distance():
    """``v^2 = v0^2 - 2 (c/m) s``: the cart stops after ``m v0^2 / 2c`` and stays there."""
    cart = held(with_friction(CART, coulomb=[10.0]), [0.0], [0.0], [1.0])
    cart.advance(1000)
    assert_allclose(cart.q[0], 4.0 / (2 * 10.0), rtol=0.01)  # tanh is a little softer
    assert abs(cart.qd[0]) < 1e-6


def test_inverse_dynamics_plus_friction_is_the_motor_efforts():
    """``tau = rnea(q, qd, qdd) + friction(qd)`` under either law."""
    for law in (ComputedTorque(DemoTrajectory(FRICTIONAL, HOME)), HeldEffort([9, -60, 9, 2, -2, 1.5], [100] * 6)):
        arm = SimulatedArm(FRICTIONAL, law, HOME)
        arm.advance(100)
        motion = arm.motion()
        friction_effort = friction(FRICTIONAL, motion.qd)
        assert np.abs(friction_effort).max() > 0.5
        assert_allclose(rnea(FRICTIONAL, *motion[1:4]) + friction_effort, motion.tau, rtol=0, atol=1e-9)


def test_with_friction_sets_joints_in_the_model_order_and_rejects_wrong_counts():
    drives = [joint.dynamics for joint in FRICTIONAL.joints]
    assert [drive.viscous for drive in drives] == [8.0, 8.0, 5.0, 1.0, 1.0, 1.0]
    assert [drive.coulomb for drive in drives] == [5.0, 5.0, 3.0, 1.0, 1.0, 1.0]
    assert with_friction(FRICTIONAL) == FRICTIONAL
    with pytest.raises(InputError, match="coulomb_friction: expected 6 numbers, got 2"):
        with_friction(FRICTIONAL, coulomb=[1.0, 2.0])
    with pytest.raises(InputError, match="viscous: expected a finite number, not negative"):
        with_friction(FRICTIONAL, [-1.0] * 6)


# --- model errors -----------------------------------------------------------------------------------------------


def test_perturbed_arm_stays_within_its_relative_errors_and_is_physical():
    """Mass, centre of mass and rotational inertia of a link, and friction of a joint, are scaled as a whole."""
    stribeck = FRICTIONAL.with_joint_dynamics({"elbow_joint": JointDynamics(2.0, 3.0, static=4.0)})
    spread = []
    for seed in range(30):
        other = perturbed(stribeck, np.random.default_rng(seed), 0.2, 0.4)
        for a, b in zip(stribeck.link_specs, other.link_specs):
            assert (a.link, a.parent) == (b.link, b.parent)
            if a.inertia.mass > 0:
                m = b.inertia.mass / a.inertia.mass
                com = b.inertia.com @ a.inertia.com / (a.inertia.com @ a.inertia.com)
                I = np.trace(b.inertia.I_com) / np.trace(a.inertia.I_com)
                spread.append([m, com, I])
                assert_allclose(b.inertia.com, com * a.inertia.com, rtol=0, atol=1e-12)
                assert_allclose(b.inertia.I_com, I * a.inertia.I_com, rtol=0, atol=1e-12)
                principal = np.linalg.eigvalsh(b.inertia.I_com)  # a real body: the triangle inequality
                assert principal[0] > 0
                assert principal[0] + principal[1] >= principal[2] * (1 - 1e-9)
        for a, b in zip(stribeck.joints, other.joints):
            for field in ("viscous", "coulomb"):
                assert 0.6 <= getattr(b.dynamics, field) / getattr(a.dynamics, field) <= 1.4
        elbow = other.joints[2].dynamics
        assert elbow.static / elbow.coulomb == pytest.approx(4 / 3)
    assert np.all((np.min(spread, axis=0) > 0.8) & (np.min(spread, axis=0) < 0.82))
    assert np.all((np.max(spread, axis=0) < 1.2) & (np.max(spread, axis=0) > 1.18))
    assert np.all(np.abs(np.corrcoef(np.transpose(spread)) - np.eye(3)) < 0.3)  # independent factors


def test_perturbed_arm_depends_on_the_seed_alone():

    def arm(seed, *errors):
        return perturbed(FRICTIONAL, np.random.default_rng(seed), *errors)

    assert arm(3, 0.1, 0.1) == arm(3, 0.1, 0.1)
    assert arm(3, 0.1, 0.1) != arm(4, 0.1, 0.1)
    for a, b in zip(FRICTIONAL.link_specs, arm(3).link_specs):
        assert_allclose(a.inertia.parameters, b.inertia.parameters, rtol=1e-12, atol=1e-15)
    assert [joint.dynamics for joint in arm(3, 0.1).joints] == [joint.dynamics for joint in FRICTIONAL.joints]


def test_relative_errors_outside_their_range_are_rejected():
    for name, errors in (("inertia_error", (1.0,)), ("friction_error", (0.0, -0.1))):
        with pytest.raises(InputError, match=f"{name}: expected a number from 0 to below 1, got"):
            perturbed(FRICTIONAL, np.random.default_rng(1), *errors)


# --- messages ---------------------------------------------------------------------------------------------------


def test_quantised_values_are_the_nearest_multiples():
    values = np.random.default_rng(1).uniform(-10, 10, 100)
    coarse = quantise(values, 0.25)
    assert_allclose(coarse % 0.25, 0)
    assert np.max(np.abs(coarse - values)) <= 0.125
    assert_allclose(quantise(values, 0.0), values, rtol=0, atol=0)


def through(channel: LossyChannel[int], period: float = 0.01, n: int = 2000) -> list[tuple[float, int]]:
    """Return the arrival time of each of n messages that were sent periodically."""
    out = []
    for i in range(n + 1000):
        if i < n:
            channel.send(i * period, i)
        out += [(i * period, message) for message in channel.due(i * period)]
    return out


def test_channel_with_constant_delay_keeps_the_order():
    out = through(LossyChannel(np.random.default_rng(1), delay=0.1234))
    assert [message for _, message in out] == list(range(2000))
    assert_allclose([t - 0.01 * message for t, message in out], 0.13)


def test_channel_with_jitter_delays_within_its_range_and_reorders():
    out = through(LossyChannel(np.random.default_rng(1), delay=0.1, jitter=0.1))
    late = np.array([t - 0.01 * message for t, message in out])
    assert sorted(message for _, message in out) == list(range(2000))
    assert late.min() >= 0.1 - 1e-9
    assert 0.19 < late.max() < 0.21 + 1e-9
    assert np.any(np.diff([message for _, message in out]) < 0)


def test_channel_loses_the_expected_number_of_messages():
    """The tolerance is five standard deviations."""
    channel: LossyChannel[int] = LossyChannel(np.random.default_rng(1), drop_rate=0.3)
    assert abs(len(through(channel)) - 1400) < 5 * np.sqrt(2000 * 0.3 * 0.7)
    channel = LossyChannel(np.random.default_rng(1), delay=1.0)
    channel.send(0.0, 1)
    channel.clear()
    assert list(channel.due(9.0)) == []
