# SPDX-License-Identifier: Apache-2.0
"""Drives that turn with several joints: against closed forms, virtual work, and arms of which they are a part."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robots import coupled, mock_arm, planar_2r, random_state
from ros2_dyn import dynamics
from ros2_dyn.dynamics import Presliding
from ros2_dyn.dynamics.presliding import presliding
from ros2_dyn.errors import ModelError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.plain import from_plain, to_plain

BODY = {"mass": 2.0, "com": (0.2, 0.05, 0), "inertia": (0.03, 0.0, 0.0, 0.04, 0.0, 0.05)}
PLANAR = RobotModel.from_urdf(planar_2r(0.5, 0.4, BODY, BODY))
"""Two links that turn about parallel axes."""
STEEP = 1e-9
"""Transition velocity of friction that is all there at once."""
WRIST = {"wrist_3_joint": {"wrist_2_joint": 0.7}, "wrist_2_joint": {"wrist_1_joint": -0.4}}


def driven(model, *numbers):
    """Return the robot with the dynamics of its joints, in their order."""
    return model.with_joint_dynamics(dict(zip(model.joint_names, numbers)))


def wrist() -> RobotModel:
    """Return the six-axis arm with all kinds of friction, and drives that turn with two and three joints."""
    numbers = {"static": 3.0, "transition_velocity": 0.2, "offset": -0.3, "presliding": ((0.02, 1.5), (0.1, 0.5))}
    model = mock_arm()
    friction = [JointDynamics(viscous=1.0 + i, coulomb=1 + i / 5, load=0.1, armature=0.1, **numbers) for i in range(6)]
    return coupled(driven(model, *friction), **WRIST)


def test_friction_of_a_drive_acts_at_its_speed_and_loads_both_joints():
    friction = [JointDynamics(coulomb=c, viscous=v, transition_velocity=STEEP) for c, v in ((1.0, 0.5), (2.0, 0.25))]
    model = coupled(driven(PLANAR, *friction), theta2={"theta1": 0.5})
    # The second drive turns at -1 + 0.5 * 4 = 1 rad/s, against its joint, with 2 + 0.25 = 2.25 N m.
    assert_allclose(dynamics.friction(model, [4.0, -1.0]), [3.0 + 0.5 * 2.25, 2.25])
    # It stands where the second joint turns back as fast as the first one takes it along.
    assert_allclose(dynamics.friction(model, [4.0, -2.0]), [3.0, 0.0], atol=1e-6)
    offset = driven(model, JointDynamics(), JointDynamics(offset=0.3))
    assert_allclose(dynamics.friction_offset(offset), [0.15, 0.3])


def test_load_of_a_drive_is_its_own():
    """The first drive bears what the second one, which stands on the base, does not bear."""
    friction = [JointDynamics(load=0.1, transition_velocity=STEEP)] * 2
    model = coupled(driven(PLANAR, *friction), theta2={"theta1": 1.0})
    assert_allclose(dynamics.friction(model, [1.0, 1.0], [10.0, 4.0]), [0.1 * (10 - 4) + 0.1 * 4, 0.1 * 4])


def test_friction_is_the_gradient_of_what_the_drives_dissipate():
    """Rayleigh's dissipation function: half of viscous friction's power, and the integral of dry friction."""
    d = JointDynamics(viscous=1.5, coulomb=2.0, transition_velocity=0.3)
    model = coupled(driven(mock_arm(), *[d] * 6), **WRIST)

    def dissipation(qd):
        speeds = [*qd[:4], qd[4] - 0.4 * qd[3], qd[5] + 0.7 * qd[4]]
        dry = d.coulomb * d.transition_velocity
        return sum(d.viscous * s * s / 2 + dry * np.log(np.cosh(s / d.transition_velocity)) for s in speeds)

    _, qd, _ = random_state(model, 1)
    steps = 1e-5 * np.eye(6)
    gradient = [(dissipation(qd + step) - dissipation(qd - step)) / 2e-5 for step in steps]
    assert_allclose(dynamics.friction(model, qd), gradient, atol=1e-8)


def test_rotor_that_turns_with_the_last_link_is_a_part_of_it():
    """A motor on the base that turns by the sum of both angles is as inert as a heavier second link."""
    rotor = 0.3
    arm = coupled(driven(PLANAR, JointDynamics(), JointDynamics(armature=rotor)), theta2={"theta1": 1.0})
    heavy = {**BODY, "inertia": (0.03, 0.0, 0.0, 0.04, 0.0, 0.05 + rotor)}
    same = RobotModel.from_urdf(planar_2r(0.5, 0.4, BODY, heavy))
    q, qd, qdd = random_state(arm, 2, 4)
    for function in (dynamics.rnea, dynamics.luh_walker_paul):
        assert_allclose(function(arm, q, qd, qdd), function(same, q, qd, qdd), atol=1e-12)
    for function in (dynamics.momentum, dynamics.kinetic_energy, dynamics.coriolis_transpose_qd):
        assert_allclose(function(arm, q, qd), function(same, q, qd), atol=1e-12)
    assert_allclose(dynamics.mass_matrix(arm, q), dynamics.mass_matrix(same, q), atol=1e-12)
    tau = qdd + 1.0
    qdd = dynamics.forward_dynamics(arm, q, qd, tau)
    assert_allclose(qdd, dynamics.forward_dynamics(same, q, qd, tau), atol=1e-10)


def test_presliding_of_a_drive_is_stretched_by_both_joints_and_loads_both():
    model = coupled(driven(PLANAR, JointDynamics(), JointDynamics(presliding=((0.02, 4.0),))), theta2={"theta1": 0.5})
    elements = Presliding(model)
    elements.update([0.0, 0.0])
    assert_allclose(elements.update([0.01, 0.005]), [0.5 * 2.0, 2.0])  # half way to where it slips
    assert_allclose(elements.update([1.01, -0.495]), [0.5 * 2.0, 2.0])  # the drive stood
    way = np.cumsum(np.random.default_rng(1).normal(size=(50, 2)) * 0.01, axis=0)
    elements.restart()
    assert_allclose(presliding(model, way), [elements.update(q) for q in way.tolist()], atol=1e-12)


def test_regressor_times_parameters_is_friction_springs_and_rotors():
    model = coupled(
        mock_arm().with_joint_dynamics(
            {name: replace(j.dynamics, stiffness=2.0, rest=0.1) for name, j in named(wrist())}
        ),
        **WRIST,
    )
    q, qd, qdd = random_state(model, 3, 5)
    carried = dynamics.gravity(model, q)
    bare = model.with_joint_dynamics({name: JointDynamics() for name in model.joint_names})
    rotors = dynamics.rnea(model, q, qd, qdd) - dynamics.rnea(bare, q, qd, qdd)
    whole = dynamics.friction(model, qd, carried) + dynamics.spring(model, q) + rotors
    Y = dynamics.friction_regressor(model, q, qd, qdd, carried)
    assert_allclose(Y @ dynamics.friction_parameters(model), whole, atol=1e-12)


def named(model):
    return [(joint.name, joint) for joint in model.joints]


@pytest.mark.parametrize("backend", ["python", "numpy", *([] if why_no_c() else ["c"])])
def test_kernels_compute_the_functions_of_a_coupled_arm(backend):
    model = wrist()
    q, qd, qdd = random_state(model, 4)
    kernel = compile_kernel(model, ("friction", "effort", "mass_matrix"), backend, ("q", "qd", "qdd"))
    friction, effort, M = kernel(q.tolist(), qd.tolist(), qdd.tolist())
    expected = dynamics.friction(model, qd, dynamics.gravity(model, q))
    assert_allclose(friction, expected, rtol=0, atol=1e-10)
    assert_allclose(effort, dynamics.rnea(model, q, qd, qdd) + expected, rtol=0, atol=1e-10)
    assert_allclose(M, dynamics.mass_matrix(model, q), rtol=0, atol=1e-10)


def test_coupling_to_a_locked_joint_vanishes_and_the_others_stay():
    model = wrist()
    kept = [name for name in model.joint_names if name != "wrist_1_joint"]
    _, qd, _ = random_state(model.reduced(kept), 6)
    plain = coupled(model, wrist_2_joint={}, wrist_3_joint=WRIST["wrist_3_joint"])
    load = np.ones(5)
    assert_allclose(dynamics.friction(model.reduced(kept), qd, load), dynamics.friction(plain.reduced(kept), qd, load))
    assert model.reduced(kept).drives.coupled
    assert not model.reduced(model.joint_names[:4]).drives.coupled


def test_copies_of_a_model_keep_the_couplings():
    model = wrist()
    copies = [
        pickle.loads(pickle.dumps(model)),
        from_plain(RobotModel, to_plain(model)),
        model.with_inertia(model.inertia),
        model.with_joint_dynamics({"wrist_3_joint": JointDynamics()}),
        model.chain("base_link", "tool0"),
    ]
    for each in copies:
        assert_array_equal(each.drives.coupling, model.drives.coupling)
    assert model != mock_arm()
    assert copies[0] == copies[1] == model


@pytest.mark.parametrize("ratio", [np.nan, np.inf, 1e300])
def test_drives_that_do_not_move_the_joints_are_refused(ratio):
    with pytest.raises(ModelError, match="transmissions: the drives"):
        coupled(PLANAR, theta2={"theta1": ratio})


def test_drives_that_turn_alike_are_refused():
    with pytest.raises(ModelError, match="one by one"):
        coupled(PLANAR, theta2={"theta1": 0.5}, theta1={"theta2": 2.0})
