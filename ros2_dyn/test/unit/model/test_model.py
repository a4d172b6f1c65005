# SPDX-License-Identifier: Apache-2.0
"""Models made from models: an arm of a bigger robot, and a robot with a payload."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import joint, link, mock_arm, random_link, random_state, random_tree, robot
from ros2_dyn import dynamics
from ros2_dyn.dynamics import forward_kinematics, gravity, jacobian, mass_matrix, static_torque
from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.model.mount import upright


def two_arms() -> RobotModel:
    """Return a torso that turns, with two arms, one of which has a gripper."""
    rng = np.random.default_rng(1)
    links = [random_link(rng, name) for name in ("world", "torso", "l1", "l2", "l_tool", "finger", "r1", "r2")]
    return RobotModel.from_urdf(
        robot(
            *links,
            joint("turn", "revolute", "world", "torso", xyz=(0.1, 0, 0.5)),
            joint("left1", "revolute", "torso", "l1", (0, 0.3, 0.2), (0.3, 0, 0.1), (0, 1, 0)),
            joint("left2", "revolute", "l1", "l2", (0.4, 0, 0), (0, 0.2, 0), (0, 1, 0)),
            joint("left_mount", "fixed", "l2", "l_tool", (0.3, 0, 0)),
            joint("grip", "prismatic", "l_tool", "finger", (0.1, 0.02, 0), axis=(0, 1, 0)),
            joint("right1", "revolute", "torso", "r1", (0, -0.3, 0.2)),
            joint("right2", "continuous", "r1", "r2", (0.4, 0, 0), axis=(1, 1, 0)),
        )
    )


def test_chain_agrees_with_the_whole_robot_at_rest():
    whole = two_arms()
    arm = whole.chain("torso", "l_tool", {"grip": 0.03})
    assert arm.joint_names == ("left1", "left2")
    assert arm.base_link == "torso"
    assert "finger" in arm.link_names
    assert arm.links["r1"].body == -1  # on the torso, which does not move
    assert "world" not in arm.link_names

    q = {"turn": 0.7, "left1": 0.4, "left2": -0.9, "grip": 0.03, "right1": 0.0, "right2": 0.0}
    full = [q[name] for name in whole.joint_names]
    mine = [q[name] for name in arm.joint_names]
    index = [whole.joint_names.index(name) for name in arm.joint_names]
    assert_allclose(mass_matrix(arm, mine), mass_matrix(whole, full)[np.ix_(index, index)], rtol=0, atol=1e-12)
    R = forward_kinematics(whole, full, "torso")[:3, :3]
    down = R.T @ [0, 0, -9.81]  # gravity in the arm's base frame
    assert_allclose(gravity(arm, mine, down), gravity(whole, full)[index], rtol=0, atol=1e-12)
    J = jacobian(whole, full, "l_tool", frame="torso")[:, index]
    assert_allclose(jacobian(arm, mine, "l_tool"), J, rtol=0, atol=1e-12)


def test_chain_from_root_to_tip_lumps_in_the_locked_joints():
    whole = two_arms()
    arm = whole.chain("world", "l_tool", {"right1": 0.5, "right2": -1.0})
    assert arm.joint_names == ("turn", "left1", "left2")
    q = {"turn": 0.7, "left1": 0.4, "left2": -0.9, "grip": 0.0, "right1": 0.5, "right2": -1.0}
    full, mine = ([q[name] for name in model.joint_names] for model in (whole, arm))
    index = [whole.joint_names.index(name) for name in arm.joint_names]
    assert_allclose(mass_matrix(arm, mine), mass_matrix(whole, full)[np.ix_(index, index)], rtol=0, atol=1e-12)
    assert_allclose(gravity(arm, mine), gravity(whole, full)[index], rtol=0, atol=1e-12)


def test_wrong_chain_raises_error_that_names_the_link_or_joint():
    whole = two_arms()
    with pytest.raises(InputError, match="no link 'hand'"):
        whole.chain("torso", "hand")
    with pytest.raises(InputError, match="tip: the link 'r2' is no descendant of 'l1'"):
        whole.chain("l1", "r2")
    with pytest.raises(InputError, match="positions: 'left1' is not a locked joint"):
        whole.chain("torso", "l_tool", {"left1": 0.1})
    with pytest.raises(ModelError, match="it has no moving joint"):
        whole.chain("l2", "l_tool")


def test_payload_agrees_with_a_urdf_that_has_it_as_a_link():
    for seed in range(5):
        xml = random_tree(seed)
        plain = RobotModel.from_urdf(xml)
        carrier = plain.link_names[1 + seed]
        com, I_com = (0.1, -0.2, 0.05), np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
        box = link("box", 2.5, com, I_com[np.triu_indices(3)]) + joint("glue", "fixed", carrier, "box")
        loaded = RobotModel.from_urdf(xml.replace("</robot>", f"{box}</robot>"))
        x = random_state(plain, seed)
        payload = Payload(2.5, com, I_com, carrier)
        for function, n_inputs in ((dynamics.rnea, 3), (dynamics.joint_wrenches, 3), (dynamics.potential_energy, 1)):
            ours, theirs = function(plain.carrying(payload), *x[:n_inputs]), function(loaded, *x[:n_inputs])
            assert_allclose(ours, theirs, rtol=0, atol=1e-9 * max(1.0, np.max(np.abs(theirs))))


def test_payload_at_the_tip_adds_the_static_torque_of_its_weight():
    arm = mock_arm()
    q, _, _ = random_state(arm, 1)
    before = gravity(arm, q)
    weight = static_torque(arm, q, [0, 0, 3.0 * 9.81, 0, 0, 0], point=[0, 0, 0.1])
    assert_allclose(gravity(arm.carrying(Payload(3.0, (0, 0, 0.1))), q), before + weight, rtol=0, atol=1e-12)
    assert_allclose(gravity(arm, q), before, rtol=0, atol=0)
    assert arm.carrying(Payload(3.0, link="base_link")).base_inertia.mass == 7.0


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (Payload(-1.0), "payload.mass: expected a finite number of kg, not negative, got -1.0"),
        (Payload(1.0, (0, 0)), "payload.com: expected finite numbers"),
        (Payload(1.0, I_com=np.full((3, 3), np.nan)), "payload.I_com: expected finite numbers"),
        (Payload(0.5, I_com=-0.2 * np.eye(3)), "payload.I_com: no body of 0.5 kg has the inertia"),
        (Payload(0.0, I_com=100.0 * np.eye(3)), "payload.I_com: no body of 0 kg has the inertia"),
        (Payload(0.5, I_com=np.diag([1e-3, 1e-3, 5e-3])), "payload.I_com: no body of 0.5 kg has the inertia"),
        (Payload(1.0, link="hand"), "link: the robot 'mock_arm' has no link 'hand'"),
    ],
)
def test_wrong_payload_raises_error_that_names_the_field(payload, problem):
    with pytest.raises(InputError, match=problem):
        mock_arm().carrying(payload)


MOUNTS = {
    "upright": (0, 0, -9.81),
    "on the ceiling": (0, 0, 9.81),
    "on the wall": (9.81, 0, 0),
    "leaning": (2.0, -1.0, -9.55),
}


@pytest.mark.parametrize("down", MOUNTS.values(), ids=MOUNTS)
def test_robot_that_is_turned_upright_needs_the_efforts_of_its_mount(down):
    """Its links are where they were, seen from the turned base."""
    model, whole = RobotModel.from_urdf(random_tree(3)), np.array(down) * 9.81 / np.linalg.norm(down)
    turned, (q, qd, qdd) = upright(model, down), random_state(model, 3)
    assert_allclose(dynamics.rnea(turned, q, qd, qdd), dynamics.rnea(model, q, qd, qdd, whole), atol=1e-9)
    assert_allclose(dynamics.potential_energy(turned, q), dynamics.potential_energy(model, q, whole), atol=1e-9)
    before, after = (forward_kinematics(each, q) for each in (model, turned))
    R = after[:3, :3] @ before[:3, :3].T
    assert_allclose(R @ whole, [0, 0, -9.81], atol=1e-9)
    assert_allclose(R @ before[:3, 3], after[:3, 3], atol=1e-12)


@pytest.mark.parametrize("down", [(0, 0, 0), (0, 0, np.nan), (0, 0, np.inf)])
def test_gravity_without_a_direction_turns_nothing(down):
    with pytest.raises(InputError, match=r"robot\.gravity"):
        upright(mock_arm(), down)
