# SPDX-License-Identifier: Apache-2.0
"""Friction, springs and rotors: each against its formula, and all against the regressor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import general_tree, joint, link, random_positions, robot
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.model import JointDynamics, RobotModel

TREE = general_tree(0)


def one_joint(properties: JointDynamics) -> RobotModel:
    model = RobotModel.from_urdf(robot(link("a"), link("b", 2.0, (0.5, 0, 0)), joint("hinge", "revolute", "a", "b")))
    return model.with_joint_dynamics({"hinge": properties})


def state(seed: int):
    rng = np.random.default_rng(seed)
    return random_positions(TREE, rng), *rng.uniform(-0.3, 0.3, size=(2, TREE.n))


def test_friction_far_from_rest_is_coulomb_plus_viscous():
    model = one_joint(JointDynamics(viscous=2.0, coulomb=3.0))
    speeds = np.array([[-5.0], [-0.5], [0.0], [0.5], [5.0]])
    assert_allclose(dynamics.friction(model, speeds)[:, 0], [-13, -4, 0, 4, 13], rtol=1e-12)


def test_stribeck_friction_falls_from_static_to_coulomb():
    model = one_joint(JointDynamics(coulomb=3.0, static=5.0, stribeck_velocity=0.2, transition_velocity=1e-4))
    slow, at, fast = dynamics.friction(model, [[1e-3], [0.2], [2.0]])[:, 0]
    assert_allclose(slow, 5.0, rtol=1e-4)
    assert_allclose(at, 3.0 + 2.0 / np.e, rtol=1e-12)
    assert_allclose(fast, 3.0, rtol=1e-12)


def test_friction_takes_energy_at_any_speed():
    speeds = np.random.default_rng(1).normal(size=(500, TREE.n)) * np.logspace(-5, 1, 500)[:, None]
    assert np.all(np.sum(speeds * dynamics.friction(TREE, speeds), axis=-1) > 0)


def test_spring_effort_is_the_derivative_of_its_energy():
    q, _, _ = state(2)
    model = one_joint(JointDynamics(stiffness=4.0, rest=0.3))
    assert_allclose(dynamics.spring(model, [0.5]), [0.8])
    assert_allclose(dynamics.spring_energy(model, [0.5]), 0.5 * 4 * 0.2**2)
    angles = [where.start for part, where in zip(TREE.joints, TREE.q_slices) if part.dof == 1 and not part.mimics]
    rows = [where.start for part, where in zip(TREE.joints, TREE.v_slices) if part.dof == 1 and not part.mimics]
    for angle, row in zip(angles, rows):
        step = 1e-6 * (np.arange(TREE.nq) == angle)
        slope = (dynamics.spring_energy(TREE, q + step) - dynamics.spring_energy(TREE, q - step)) / 2e-6
        assert_allclose(dynamics.spring(TREE, q)[row], slope, rtol=1e-8)


def test_armature_adds_inertia_in_every_algorithm():
    """A hinge with a point mass and a rotor: the inertia is ``m l^2 + armature``."""
    model = one_joint(JointDynamics(armature=0.7))
    inertia = 2.0 * 0.5**2 + 0.7
    assert_allclose(dynamics.mass_matrix(model, [0.1]), [[inertia]])
    assert_allclose(dynamics.rnea(model, [0.1], [5.0], [3.0], (0, 0, 0)), [3 * inertia])
    assert_allclose(dynamics.luh_walker_paul(model, [0.1], [5.0], [3.0], (0, 0, 0)), [3 * inertia])
    assert_allclose(dynamics.forward_dynamics(model, [0.1], [5.0], [2.0], (0, 0, 0)), [2 / inertia])
    assert_allclose(dynamics.momentum(model, [0.1], [5.0]), [5 * inertia])
    assert_allclose(dynamics.kinetic_energy(model, [0.1], [5.0]), 25 * inertia / 2)


def test_urdf_damping_and_friction_are_viscous_and_coulomb_friction():
    xml = robot(link("a"), link("b", 1.0), joint("hinge", "revolute", "a", "b"))
    model = RobotModel.from_urdf(xml.replace("</joint>", '<dynamics damping="0.5" friction="2"/></joint>'))
    assert model.joints[0].dynamics == JointDynamics(viscous=0.5, coulomb=2.0)


@pytest.mark.parametrize("backend", ["python", "numpy", "c"])
def test_kernel_of_friction_and_springs_agrees_with_the_book(backend):
    if backend == "c" and why_no_c():
        pytest.skip(why_no_c())
    q, qd, _ = state(4)
    kernel = compile_kernel(TREE, ("friction", "spring"), backend, ("q", "qd"))
    friction, spring = kernel(q, qd)
    assert_allclose(friction, dynamics.friction(TREE, qd), rtol=0, atol=1e-12)
    assert_allclose(spring, dynamics.spring(TREE, q), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ({"viscous": -1.0}, "viscous: expected a finite number, not negative, got -1.0"),
        ({"armature": float("nan")}, "armature: expected a finite number"),
        ({"rest": float("inf")}, "rest: expected a finite number"),
        ({"stribeck_velocity": 0.0}, "stribeck_velocity, transition_velocity: expected positive numbers"),
    ],
)
def test_wrong_joint_dynamics_raise_error_that_names_the_number(numbers, problem):
    with pytest.raises(InputError, match=problem):
        JointDynamics(**numbers)


def test_joint_dynamics_of_an_unknown_or_floating_joint_raise_error():
    for name in ("elbow", "base_joint"):
        with pytest.raises(
            InputError, match=f"dynamics: the robot 'test' has no joint '{name}' of one degree of freedom; it has joint"
        ):
            TREE.with_joint_dynamics({name: JointDynamics()})
