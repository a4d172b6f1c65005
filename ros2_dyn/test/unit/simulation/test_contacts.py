# SPDX-License-Identifier: Apache-2.0
"""Applied forces on the simulated arm: closed forms, momentum and power."""

from math import nan, pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import CART, HOME, joint, link, mock_arm, robot
from ros2_dyn.dynamics import rnea
from ros2_dyn.errors import DivergenceError, InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.applied_force import PROFILES, AppliedForce
from ros2_dyn.simulation.contact_efforts import ContactEfforts
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.simulated_arm import ComputedTorque, HeldEffort, SimulatedArm

PENDULUM = RobotModel.from_urdf(
    robot(link("base"), link("bob", 1.5, (0, 0, -0.8)), joint("hinge", "continuous", "base", "bob", axis=(0, 1, 0)))
)

EFFORTS = ContactEfforts(mock_arm())


def pushed(model: RobotModel, q, *contacts: AppliedForce, step: float = 1e-3) -> SimulatedArm:
    """An arm without motors."""
    law = HeldEffort(np.zeros(model.n), model.effort_limit)
    return SimulatedArm(model, law, q, step=step, contacts=contacts)


def test_pendulum_pushed_off_centre_accelerates_with_the_moment_of_the_force():
    """``m l^2 qdd = r F cos q - m g l sin q`` for a horizontal force; F below the hinge pushes a point at -z."""
    q, r, F = 0.7, 0.5, 3.0
    pendulum = pushed(PENDULUM, [q], AppliedForce("bob", (F, 0, 0), (0, 0, -r)))
    expected = (-r * F * np.cos(q) - 1.5 * 9.81 * 0.8 * np.sin(q)) / (1.5 * 0.8**2)
    assert_allclose(pendulum.motion().qdd, [expected], rtol=1e-12)


@pytest.mark.parametrize(
    ("profile", "integral"),
    [
        ("impulse", 2 / pi * 0.02),
        ("step", 0.02),
        ("ramp", 0.01),
        ("sinusoid", (1 - np.cos(2 * pi * 30 * 0.02)) / (2 * pi * 30)),
    ],
)
def test_cart_gains_the_momentum_of_each_profile_integral(profile, integral):
    """The force begins between two steps; the tolerance is that of a jump between two evaluations."""
    contact = AppliedForce("cart", (50.0, 0, 0), profile=profile, start=0.0105, duration=0.02, frequency=30.0)
    cart = pushed(CART, [0.0], contact, step=4e-4)
    cart.advance(26)
    assert cart.qd[0] == 0
    cart.advance(74)
    assert_allclose(4.0 * cart.qd[0], 50.0 * integral, rtol=2e-3 if profile == "impulse" else 0.04)
    assert cart.contacts == []  # over


def test_profiles_have_their_closed_form_values_and_act_only_within_their_duration():
    nowhere = np.full(3, nan)
    values = {"impulse": 0.5, "step": 1.0, "ramp": 1 / 6, "sinusoid": np.sin(2 * pi * 0.3 * 0.5)}
    assert values.keys() == PROFILES.keys()
    for profile, value in values.items():
        contact = AppliedForce("tool0", (0, 2.0, -4.0), profile=profile, start=1.0, duration=3.0, frequency=0.3)
        assert_allclose(contact.force_at(1.5, nowhere, nowhere), [0, 2 * value, -4 * value], rtol=1e-12)
        q, qd = np.array(HOME), np.zeros(6)
        acting = [EFFORTS([contact], t, q, qd).any() for t in (0.999, 1.5, 3.999, 4.0)]
        assert acting == [False, True, True, False]


def test_inverse_dynamics_of_a_pushed_arm_is_motor_efforts_plus_contact_efforts():
    """The controller does not compensate the contact, so the arm also deviates from its trajectory."""
    model = mock_arm()
    arm = SimulatedArm(model, ComputedTorque(DemoTrajectory(model, HOME)), HOME)
    arm.advance(100)
    arm.contacts.append(AppliedForce("forearm_link", (5.0, -20.0, 10.0), (0.1, 0.0, 0.05)))
    arm.advance(50)
    motion = arm.motion()
    assert np.abs(motion.external).max() > 1.0
    assert_allclose(rnea(model, *motion[1:4]), motion.tau + motion.external, rtol=0, atol=1e-9)
    assert np.abs(motion.q - DemoTrajectory(model, HOME).at(arm.t)[0]).max() > 1e-4  # it gives way


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"force": (1, 2)}, r"force of the force on 'hand': expected 3 finite numbers, got \(1, 2\)"),
        ({"point": (1, nan, 2)}, "point of .* 3 finite numbers"),
        ({"profile": "kick"}, "profile of .* one of impulse, step, ramp, sinusoid, got kick"),
        ({"start": nan}, "start of .* a finite number of seconds"),
        ({"duration": 0.0}, "duration of .* a positive number of seconds, got 0.0"),
        ({"profile": "ramp"}, "duration of .* a positive, finite number of seconds for profile 'ramp', got inf"),
        ({"profile": "sinusoid"}, "frequency of .* a positive, finite number of Hz for profile 'sinusoid', got 0.0"),
    ],
)
def test_invalid_applied_force_is_rejected_with_link_field_and_expectation(fields, problem):
    with pytest.raises(InputError, match=problem):
        AppliedForce(**{"link": "hand", "force": (1, 2, 3)} | fields)


def test_arm_pushed_too_hard_raises_divergence_and_can_be_placed_again():
    arm = pushed(mock_arm(), HOME, AppliedForce("tool0", (1e9, 0, 0)))
    with pytest.raises(DivergenceError, match="joints are too fast"):
        arm.advance(1000)
    arm.contacts.clear()
    arm.place(HOME)
    arm.advance(10)
    assert arm.t == pytest.approx(0.01)
    assert np.isfinite(arm.motion().qdd).all()
