# SPDX-License-Identifier: Apache-2.0
"""Every algorithm against Pinocchio, for the six-axis arm and for random trees."""

import numpy as np
import pytest

from pinocchio_oracle import Oracle, pin
from robots import MOCK_ARM, close, random_state, random_tree
from ros2_dyn.dynamics import (
    coriolis,
    coriolis_matrix,
    forward_kinematics,
    gravity,
    jacobian,
    jacobian_dot,
    joint_wrenches,
    rnea,
)
from ros2_dyn.model import RobotModel

ROBOTS = {"mock_arm": MOCK_ARM.read_text()} | {f"random_tree_{seed}": random_tree(seed) for seed in range(5)}


@pytest.fixture(params=ROBOTS)
def oracle(request) -> Oracle:
    """Return one of the robots."""
    xml = ROBOTS[request.param]
    return Oracle(RobotModel.from_urdf(xml), xml)


def test_rnea_gravity_and_coriolis_agree_with_pinocchio_under_any_gravity(oracle):
    q, qd, qdd = random_state(oracle.ours, 1)
    pq, pv, pa = oracle.q(q), oracle.v(qd), oracle.v(qdd)
    tilted = np.array([1.0, -2.0, -9.0])
    oracle.model.gravity.linear = tilted
    close(rnea(oracle.ours, q, qd, qdd, tilted), oracle.G.T @ pin.rnea(oracle.model, oracle.data, pq, pv, pa))
    g = oracle.G.T @ pin.computeGeneralizedGravity(oracle.model, oracle.data, pq)
    close(gravity(oracle.ours, q, tilted), g)
    h = oracle.G.T @ pin.nonLinearEffects(oracle.model, oracle.data, pq, pv)
    close(coriolis(oracle.ours, q, qd), h - g)


def test_rnea_with_wrenches_on_every_link_agrees_with_pinocchio(oracle):
    q, qd, qdd = random_state(oracle.ours, 4)
    rng = np.random.default_rng(4)
    external = {name: rng.normal(size=6) * 10 for name in oracle.ours.link_names[1:]}
    forces = [pin.Force.Zero() for _ in range(oracle.model.njoints)]
    for name, wrench in external.items():
        frame = oracle.model.frames[oracle.model.getFrameId(name)]
        forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
    theirs = oracle.G.T @ pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd), forces)
    close(rnea(oracle.ours, q, qd, qdd, external=external), theirs)


def test_coriolis_matrix_agrees_with_pinocchio(oracle):
    q, qd, _ = random_state(oracle.ours, 9)
    C = pin.computeCoriolisMatrix(oracle.model, oracle.data, oracle.q(q), oracle.v(qd))
    close(coriolis_matrix(oracle.ours, q, qd), oracle.G.T @ C @ oracle.G)


def test_joint_wrenches_agree_with_pinocchio(oracle):
    q, qd, qdd = random_state(oracle.ours, 11)
    pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd))
    theirs = [oracle.data.f[oracle.model.getJointId(name)].vector for name in oracle.ours.joint_names]
    close(joint_wrenches(oracle.ours, q, qd, qdd), np.array(theirs))


def test_poses_and_jacobians_of_every_link_agree_with_pinocchio(oracle):
    q, qd, _ = random_state(oracle.ours, 6)
    pin.computeJointJacobiansTimeVariation(oracle.model, oracle.data, oracle.q(q), oracle.v(qd))
    pin.computeJointJacobians(oracle.model, oracle.data, oracle.q(q))
    pin.updateFramePlacements(oracle.model, oracle.data)
    for name in oracle.ours.link_names:
        frame = oracle.model.getFrameId(name)
        close(forward_kinematics(oracle.ours, q, name), oracle.data.oMf[frame].homogeneous)
        for reference, axes in ((pin.LOCAL_WORLD_ALIGNED, None), (pin.LOCAL, name)):
            J = pin.getFrameJacobian(oracle.model, oracle.data, frame, reference) @ oracle.G
            close(jacobian(oracle.ours, q, name, frame=axes), J)
        Jd = pin.getFrameJacobianTimeVariation(oracle.model, oracle.data, frame, pin.LOCAL_WORLD_ALIGNED)
        close(jacobian_dot(oracle.ours, q, qd, name), Jd @ oracle.G)
