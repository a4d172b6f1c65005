# SPDX-License-Identifier: Apache-2.0
"""Every algorithm against Pinocchio, for the six-axis arm and for random trees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, random_state, random_tree
from ros2_dyn.dynamics import (
    coriolis,
    coriolis_matrix,
    forward_kinematics,
    gravity,
    inertial_parameters,
    jacobian,
    jacobian_dot,
    joint_wrenches,
    regressor,
    rnea,
)
from ros2_dyn.model import RobotModel

pin = pytest.importorskip("pinocchio", reason="Pinocchio, the oracle, is not installed (pip install pin)")

ROBOTS = {"mock_arm": MOCK_ARM.read_text()} | {f"random_tree_{seed}": random_tree(seed) for seed in range(12)}
TOLERANCE = 1e-10


class Oracle:
    """Pinocchio's model of a robot, with conversions to and from our joint order."""

    def __init__(self, xml: str) -> None:
        self.ours = RobotModel.from_urdf(xml)
        self.model = pin.buildModelFromXML(xml)
        self.data = self.model.createData()
        self.joints = [self.model.joints[self.model.getJointId(name)] for name in self.ours.joint_names]
        self.columns = [joint.idx_v for joint in self.joints]

    def q(self, q: np.ndarray) -> np.ndarray:
        """Return Pinocchio's q, which has two numbers, cos and sin, for a continuous joint."""
        theirs = np.zeros(self.model.nq)
        for value, joint in zip(q, self.joints):
            theirs[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
        return theirs

    def v(self, v: np.ndarray) -> np.ndarray:
        """Return velocities or accelerations in Pinocchio's order."""
        theirs = np.zeros(self.model.nv)
        theirs[self.columns] = v
        return theirs


@pytest.fixture(params=ROBOTS)
def oracle(request) -> Oracle:
    """Return one of the robots."""
    return Oracle(ROBOTS[request.param])


def assert_close(ours, theirs):
    """Compare relative to the largest number."""
    assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * max(1.0, np.max(np.abs(theirs))))


def test_rnea_gravity_and_coriolis_agree_with_pinocchio_under_any_gravity(oracle):
    q, qd, qdd = random_state(oracle.ours, 1)
    pq, pv, pa = oracle.q(q), oracle.v(qd), oracle.v(qdd)
    tilted = np.array([1.0, -2.0, -9.0])
    oracle.model.gravity.linear = tilted
    assert_close(rnea(oracle.ours, q, qd, qdd, tilted), pin.rnea(oracle.model, oracle.data, pq, pv, pa)[oracle.columns])
    g = pin.computeGeneralizedGravity(oracle.model, oracle.data, pq)[oracle.columns]
    assert_close(gravity(oracle.ours, q, tilted), g)
    h = pin.nonLinearEffects(oracle.model, oracle.data, pq, pv)[oracle.columns]
    assert_close(coriolis(oracle.ours, q, qd), h - g)


def test_rnea_with_wrenches_on_every_link_agrees_with_pinocchio(oracle):
    q, qd, qdd = random_state(oracle.ours, 4)
    rng = np.random.default_rng(4)
    external = {name: rng.normal(size=6) * 10 for name in oracle.ours.link_names[1:]}
    forces = [pin.Force.Zero() for _ in range(oracle.model.njoints)]
    for name, wrench in external.items():
        frame = oracle.model.frames[oracle.model.getFrameId(name)]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
    theirs = pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd), forces)[oracle.columns]
    assert_close(rnea(oracle.ours, q, qd, qdd, external=external), theirs)


def test_coriolis_matrix_agrees_with_pinocchio(oracle):
    q, qd, _ = random_state(oracle.ours, 9)
    C = pin.computeCoriolisMatrix(oracle.model, oracle.data, oracle.q(q), oracle.v(qd))
    assert_close(coriolis_matrix(oracle.ours, q, qd), C[np.ix_(oracle.columns, oracle.columns)])


def test_regressor_and_its_parameters_agree_with_pinocchio(oracle):
    q, qd, qdd = random_state(oracle.ours, 10)
    Y = pin.computeJointTorqueRegressor(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd))
    ids = [oracle.model.getJointId(name) for name in oracle.ours.joint_names]
    columns = np.concatenate([10 * (i - 1) + np.arange(10) for i in ids])
    assert_close(regressor(oracle.ours, q, qd, qdd), Y[np.ix_(oracle.columns, columns)])
    theirs = np.concatenate([oracle.model.inertias[i].toDynamicParameters() for i in ids])
    assert_close(inertial_parameters(oracle.ours), theirs)


def test_joint_wrenches_agree_with_pinocchio(oracle):
    q, qd, qdd = random_state(oracle.ours, 11)
    pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd))
    theirs = [oracle.data.f[oracle.model.getJointId(name)].vector for name in oracle.ours.joint_names]
    assert_close(joint_wrenches(oracle.ours, q, qd, qdd), np.array(theirs))


def test_poses_and_jacobians_of_every_link_agree_with_pinocchio(oracle):
    q, qd, _ = random_state(oracle.ours, 6)
    pin.computeJointJacobiansTimeVariation(oracle.model, oracle.data, oracle.q(q), oracle.v(qd))
    pin.computeJointJacobians(oracle.model, oracle.data, oracle.q(q))
    pin.updateFramePlacements(oracle.model, oracle.data)
    for name in oracle.ours.link_names:
        frame = oracle.model.getFrameId(name)
        assert_close(forward_kinematics(oracle.ours, q, name), oracle.data.oMf[frame].homogeneous)
        for reference, axes in ((pin.LOCAL_WORLD_ALIGNED, None), (pin.LOCAL, name)):
            J = pin.getFrameJacobian(oracle.model, oracle.data, frame, reference)[:, oracle.columns]
            assert_close(jacobian(oracle.ours, q, name, frame=axes), J)
        Jd = pin.getFrameJacobianTimeVariation(oracle.model, oracle.data, frame, pin.LOCAL_WORLD_ALIGNED)
        assert_close(jacobian_dot(oracle.ours, q, qd, name), Jd[:, oracle.columns])
