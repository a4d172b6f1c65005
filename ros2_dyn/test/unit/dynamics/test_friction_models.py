# SPDX-License-Identifier: Apache-2.0
"""Friction by load and direction, and before joints slide: against formulas, energy and motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import general_tree, joint, link, random_positions, robot
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm

AXIS = joint("hinge", "revolute", "a", "b", axis=(0, -1, 0))
HINGE = RobotModel.from_urdf(robot(link("a"), link("b", 2.0, (0.5, 0, 0)), AXIS))
"""A pendulum of 2 kg at 0.5 m that turns about a horizontal axis: 0.5 kg m^2 and, where it is level, 9.81 N m."""
TREE = general_tree(1)


def hinge(**properties) -> RobotModel:
    return HINGE.with_joint_dynamics({"hinge": JointDynamics(**properties)})


def loaded_tree() -> RobotModel:
    return TREE.with_joint_dynamics(
        {
            each.name: JointDynamics(viscous=1.0, coulomb=2.0, load=0.1, offset=-0.3, transition_velocity=0.1)
            for each in TREE.joints
            if each.dof == 1 and not each.mimics
        }
    )


def test_friction_grows_with_the_load_and_has_an_offset():
    model = hinge(coulomb=3.0, load=0.2, offset=0.5)
    weight = np.array([[0.0], [-10.0], [10.0]])
    assert_allclose(dynamics.friction(model, [1.0], weight)[:, 0], [3.5, 5.5, 5.5])
    assert_allclose(dynamics.friction(model, [-1.0], weight)[:, 0], [-2.5, -4.5, -4.5])
    assert_allclose(dynamics.friction_offset(model), [0.5])


def test_friction_that_needs_the_load_asks_for_it_and_names_the_joint():
    with pytest.raises(InputError, match=r"hinge.*gravity"):
        dynamics.friction(hinge(load=0.2), [1.0])
    assert dynamics.carried_load(hinge(), [0.3]) is None


def test_batches_of_loaded_joints_take_absolute_values():
    model, rng = loaded_tree(), np.random.default_rng(3)
    q = np.array([random_positions(model, rng) for _ in range(13)])
    qd = rng.uniform(-1, 1, size=(13, model.n))
    (found,) = compile_kernel(model, ("friction",), "auto", ("q", "qd"))(q, qd)
    assert_allclose(found, dynamics.friction(model, qd, dynamics.gravity(model, q)), rtol=0, atol=1e-10)


def test_regressor_has_load_and_offset():
    model, rng = loaded_tree(), np.random.default_rng(4)
    q, (qd, qdd) = random_positions(model, rng), rng.uniform(-1, 1, size=(2, model.n))
    weight = dynamics.gravity(model, q)
    whole = dynamics.friction(model, qd, weight) + dynamics.spring(model, q) + qdd @ model.drives.inertia
    Y = dynamics.friction_regressor(model, q, qd, qdd, weight)
    assert_allclose(Y @ dynamics.friction_parameters(model), whole, rtol=0, atol=1e-10)


# ---- presliding


def test_element_is_a_spring_that_slips_at_its_effort():
    elements = dynamics.Presliding(hinge(presliding=((0.01, 2.0),)))
    path = [0.0, 0.005, 0.02, 0.5, 0.495, 0.48, -1.0]
    assert_allclose([elements.update([q])[0] for q in path], [0.0, 1.0, 2.0, 2.0, 1.0, -2.0, -2.0], atol=1e-12)


def test_elements_take_the_area_of_the_loop_and_never_give_energy():
    """Once round between -A and A, an element of distance d and effort f takes ``4 f (A - d)``."""
    d, f, A = 0.02, 3.0, 0.1
    elements = dynamics.Presliding(hinge(presliding=((d, f),)))
    q = A * np.sin(np.linspace(0, 6 * np.pi, 60_001))
    tau = np.array([elements.update([x])[0] for x in q])
    work = np.cumsum((tau[1:] + tau[:-1]) / 2 * np.diff(q))
    assert_allclose(work[-1] - work[19_999], 2 * 4 * f * (A - d), rtol=1e-3)
    rng = np.random.default_rng(5)
    elements.restart()
    walk = np.cumsum(rng.normal(scale=0.002, size=20_000))
    tau = np.array([elements.update([x])[0] for x in walk])
    assert np.min(np.cumsum((tau[1:] + tau[:-1]) / 2 * np.diff(walk))) > -1e-12


def test_arm_that_elements_hold_swings_as_on_a_spring_until_it_slips():
    """Below the slip it turns about its rest as a mass on a spring: ``I qdd = -(f / d) q``. Its weight is held."""
    model = hinge(presliding=((0.05, 10.0),))
    arm = SimulatedArm(model, HeldEffort(dynamics.gravity(model, [0.0]), [100.0]), [0.0])
    arm.qd = np.array([0.2])
    omega = np.sqrt(10.0 / 0.05 / 0.5)
    arm.advance(round(np.pi / 2 / omega / arm.step))
    assert_allclose(arm.q, [0.2 / omega], rtol=0.02)
    assert abs(arm.qd[0]) < 0.01
    arm.place([0.0], [3.0])
    arm.advance(1000)
    assert arm.q[0] > 0.1  # it has slipped


def test_offset_moves_an_arm_and_load_brakes_it():
    """An offset of -1 N m accelerates 0.5 kg m^2 by 2 rad/s^2: it is an effort to be overcome. The weight is held."""
    model = hinge(offset=-1.0)
    law = HeldEffort(dynamics.gravity(model, [0.0]), [100.0])
    arm = SimulatedArm(model, law, [0.0])
    arm.advance(100)
    assert_allclose(arm.qd, [0.2], rtol=1e-2)
    braked = hinge(load=0.5)  # 0.5 of 9.81 N m brakes by 9.81 rad/s^2
    arm = SimulatedArm(braked, law, [0.0], [1.0])
    arm.advance(50)
    assert_allclose(arm.qd, [1 - 0.05 * 9.81], rtol=2e-2)
