# SPDX-License-Identifier: Apache-2.0
"""Motion of joints of every type, and the identities of dynamics for robots with all of them."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import close, general_tree, joint, link, mock_arm, planar_2r, random_positions, robot
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.model import RobotModel

TREES = {seed: general_tree(seed) for seed in range(4)}
BODY = link("body", 2.0, (0, 0, 0), (0.1, 0, 0, 0.2, 0, 0.3))


@pytest.fixture(params=TREES)
def tree(request) -> RobotModel:
    """Return a robot with joints of every type."""
    return TREES[request.param]


def state(model: RobotModel, seed: int):
    rng = np.random.default_rng(seed)
    return random_positions(model, rng), *rng.uniform(-2, 2, size=(2, model.n))


def moved(model: RobotModel, q: np.ndarray, qd: np.ndarray, dt: float) -> np.ndarray:
    """Return the q after a short time dt at the velocity qd, to second order."""
    q = q.copy()
    for part, q_slices, v_slices in zip(model.joints, model.q_slices, model.v_slices):
        x, v = q[q_slices], qd[v_slices] * dt
        if part.mimics:
            continue
        if part.type == "floating":
            R = part.transform(x).E.T
            w = v[3:] / 2
            a, b = x[3:], np.array([*w, 1 - w @ w / 2])
            x[:3] += R @ (v[:3] + np.cross(v[3:], v[:3]) / 2)
            x[3:] = [*(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])), a[3] * b[3] - a[:3] @ b[:3]]
            x[3:] /= np.linalg.norm(x[3:])
        elif part.type == "planar":
            angle = np.arctan2(x[3], x[2])
            c, s = np.cos(angle + v[2] / 2), np.sin(angle + v[2] / 2)
            x[:2] += [c * v[0] - s * v[1], s * v[0] + c * v[1]]
            x[2:] = [np.cos(angle + v[2]), np.sin(angle + v[2])]
        else:
            x += v
    return q


def test_floating_planar_and_mimic_joints_have_their_numbers_in_q_and_qd():
    model = TREES[0]
    assert (model.nq, model.n) == (7 + 4 + 6, 6 + 3 + 6) == (len(model.neutral), len(model.effort_limit))
    assert {"finger_joint", "nail_joint"} == {joint.name for joint in model.joints} - set(model.joint_names)
    assert model.has_mimic_joints


def test_free_body_falls_and_turns_by_eulers_equation():
    """Velocities are in the body's own axes."""
    model = RobotModel.from_urdf(robot(link("world"), BODY, joint("free", "floating", "world", "body")))
    w = np.array([1.0, 2.0, 3.0])
    q = [0, 0, 5, *np.array([0.1, 0.2, 0.3, 0.9]) / np.sqrt(0.95)]
    qdd = dynamics.forward_dynamics(model, q, [0, 0, 0, *w], np.zeros(6))
    I = np.array([0.1, 0.2, 0.3])
    R = dynamics.forward_kinematics(model, q)[:3, :3]
    close(R @ qdd[:3], [0, 0, -9.81])
    close(qdd[3:], -np.cross(w, I * w) / I)
    # A velocity in the body's axes rotates with the body.
    qdd = dynamics.forward_dynamics(model, q, [1, 0, 0, *w], np.zeros(6), gravity=(0, 0, 0))
    close(qdd[:3], -np.cross(w, [1, 0, 0]))


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1, 2, -2), (0, -1, 0), (1, 1, 1)])
def test_planar_joint_moves_in_the_plane_normal_to_its_axis(axis):
    model = RobotModel.from_urdf(robot(link("world"), BODY, joint("slide", "planar", "world", "body", axis=axis)))
    n = np.array(axis) / np.linalg.norm(axis)
    T = dynamics.forward_kinematics(model, [0.3, -0.4, np.cos(0.5), np.sin(0.5)])
    assert_allclose([T[:3, 3] @ n, np.linalg.norm(T[:3, 3])], [0, 0.5], atol=1e-12)
    assert_allclose(T[:3, :3] @ n, n, atol=1e-12)
    assert_allclose(np.trace(T[:3, :3]), 1 + 2 * np.cos(0.5), atol=1e-12)
    plane = model.joints[0].plane
    assert_allclose(np.cross(*plane.T), n, atol=1e-12)
    if axis == (0, 0, 1):
        assert_allclose(T[:3, 3], [0.3, -0.4, 0], atol=1e-12)


def test_jacobian_with_every_joint_type_is_the_derivative_of_the_position(tree):
    q, qd, _ = state(tree, 1)
    dt = 1e-6
    for name in tree.link_names:
        p = [dynamics.forward_kinematics(tree, moved(tree, q, qd, s * dt), name)[:3, 3] for s in (1, -1)]
        close((p[0] - p[1]) / (2 * dt), (dynamics.jacobian(tree, q, name) @ qd)[:3], 1e-8)


def test_mass_matrix_rate_with_every_joint_type_is_c_plus_its_transpose(tree):
    """``Mdot = C + C^T``, by central differences."""
    q, qd, _ = state(tree, 3)
    dt = 1e-6
    M = [dynamics.mass_matrix(tree, moved(tree, q, qd, s * dt)) for s in (1, -1)]
    C = dynamics.coriolis_matrix(tree, q, qd)
    close((M[0] - M[1]) / (2 * dt), C + C.T, 1e-8)


def test_mimic_joint_agrees_with_the_chain_rule_on_the_free_robot():
    """The second joint of the 2R arm is at -2 q + 0.3."""
    mass = {"mass": 2.0, "com": (0.2, 0.1, 0), "inertia": (0.1, 0, 0, 0.2, 0, 0.3)}
    xml = planar_2r(0.7, 0.4, mass, mass)
    free = RobotModel.from_urdf(xml)
    mimic = '<mimic joint="theta1" multiplier="-2" offset="0.3"/></joint>'
    at = xml.index("</joint>", xml.index('"theta2"'))
    geared = RobotModel.from_urdf(xml[:at] + mimic + xml[at + len("</joint>") :])
    assert (geared.joint_names, geared.n, len(geared.joints)) == (("theta1",), 1, 2)
    G = np.array([1.0, -2.0])
    q, qd, qdd = np.array([0.4]), np.array([1.3]), np.array([-0.6])
    both = G * q + [0, 0.3], G * qd, G * qdd
    tilted = [1.0, -9.81, 0.0]
    close(dynamics.rnea(geared, q, qd, qdd, tilted), [G @ dynamics.rnea(free, *both, tilted)])
    close(dynamics.mass_matrix(geared, q), [[G @ dynamics.mass_matrix(free, both[0]) @ G]])
    close(dynamics.jacobian(geared, q)[:, 0], dynamics.jacobian(free, both[0]) @ G)
    close(dynamics.forward_dynamics(geared, q, qd, dynamics.rnea(geared, q, qd, qdd, tilted), tilted), qdd)


def test_mimic_of_a_mimic_has_the_product_of_multipliers_in_any_document_order():
    mimic = '<mimic joint="{}" multiplier="{}" offset="{}"/></joint>'
    xml = robot(
        *(link(name, 1.0, (1, 0, 0)) for name in "abcd"),
        joint("third", "revolute", "c", "d").replace("</joint>", mimic.format("second", 3, 0.1)),
        joint("second", "revolute", "b", "c").replace("</joint>", mimic.format("first", 2, 0.5)),
        joint("first", "revolute", "a", "b"),
    )
    model = RobotModel.from_urdf(xml)
    third = next(joint for joint in model.joints if joint.name == "third")
    assert (third.mimics, third.multiplier, third.offset) == ("first", 6.0, 1.6)
    turned = dynamics.forward_kinematics(model, [0.1], "d")
    assert_allclose(turned[0, 0], np.cos(0.1 + (0.2 + 0.5) + (0.6 + 1.6)), atol=1e-12)


def test_chain_with_mimic_joints_agrees_with_the_whole_robot(tree):
    tip = next(name for name in reversed(tree.link_names) if name.startswith("link"))
    q = dict(zip(tree.joint_names, (random_positions(tree, np.random.default_rng(5))[s] for s in _own(tree))))
    arm = tree.chain("world", tip, {})
    locked = {name: value for name, value in q.items() if name not in arm.joint_names}
    arm = tree.chain("world", tip, locked)
    for part in arm.joints:
        assert (part.mimics or part.name) in arm.joint_names
    whole = np.concatenate([q[name] for name in tree.joint_names])
    mine = np.concatenate([q[name] for name in arm.joint_names])
    for name in tree.link_names:
        pose = dynamics.forward_kinematics(tree, whole, name)
        assert_allclose(dynamics.forward_kinematics(arm, mine, name), pose, rtol=0, atol=1e-10)
    rows = np.concatenate([np.arange(tree.n)[tree.v_slices[_index(tree, name)]] for name in arm.joint_names])
    assert_allclose(dynamics.gravity(arm, mine), dynamics.gravity(tree, whole)[rows], rtol=0, atol=1e-10)


def _own(model: RobotModel):
    return [where for part, where in zip(model.joints, model.q_slices) if part.mimics is None]


def _index(model: RobotModel, name: str) -> int:
    return [part.name for part in model.joints].index(name)


def test_q_with_a_wrong_rotation_raises_error_that_names_the_joint(tree):
    q = tree.neutral
    dynamics.gravity(tree, q)
    with pytest.raises(InputError, match=r"q: joint 'base_joint': expected a unit quaternion"):
        dynamics.gravity(tree, np.where(np.arange(tree.nq) == 6, 0.5, q))
    planar = tree.q_slices[_index(tree, "sled_joint")].start
    with pytest.raises(InputError, match=r"q: joint 'sled_joint': expected the cosine and sine of an angle"):
        dynamics.gravity(tree, np.where(np.arange(tree.nq) == planar + 2, 0.5, q))
    with pytest.raises(InputError, match=rf"q: expected shape \(\.\.\., {tree.nq}\)"):
        dynamics.gravity(tree, np.zeros(tree.n))


def test_mimic_of_a_planar_joint_raises_error():
    """A URDF that has it is read without; links that are made by a program are not."""
    xml = robot(link("a"), link("b", 1.0), link("c", 1.0), joint("slide", "planar", "a", "b"))
    turn = joint("turn", "revolute", "b", "c")
    root, first, last = RobotModel.from_urdf(xml.replace("</robot>", turn + "</robot>")).link_specs
    follower = last._replace(joint=replace(last.joint, mimics="slide"))
    with pytest.raises(
        ModelError, match="joint 'turn': it mimics 'slide'; expected a joint with one degree of freedom"
    ):
        RobotModel.from_links("robot", (root, first, follower))


def test_models_of_equal_content_are_equal_and_others_differ(tree):
    again = RobotModel.from_links(tree.name, tree.link_specs)
    assert again == tree
    assert hash(again) == hash(tree)
    assert len({tree, again, mock_arm(), mock_arm()}) == 2
    others = [tree.with_joint_dynamics({"joint1": type(tree.joints[0].dynamics)()}), tree.chain("world", "link0")]
    assert all(other != tree for other in others)
    assert tree != "a tree"
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree
