# SPDX-License-Identifier: Apache-2.0
"""Robot cards: the robot that they make moves as the identified one; whatever does not fit is refused by name."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM, general_tree, joint, link, mock_arm, random_state, random_tree, robot
from ros2_dyn.dynamics import friction, gravity, mass_matrix, rnea
from ros2_dyn.errors import ModelError
from ros2_dyn.model import CardAbout, JointDynamics, RobotCard, RobotModel
from ros2_dyn.model.card import with_card
from ros2_dyn.model.card_kinematics import kinematics_digests
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.inertial import Inertial

XML = MOCK_ARM.read_text(encoding="utf-8")
BOX = (0.3, 0.02, 0.01, 0.25, 0.03, 0.2)


def identified(model: RobotModel, seed: int = 0) -> RobotModel:
    """Return a robot with other inertias and drives, as an identification makes it: one inertia for each body."""
    rng = np.random.default_rng(seed)
    factors = rng.uniform(0.7, 1.4, len(model.inertia))
    inertia = [SpatialInertia.from_parameters(factor * I.parameters) for factor, I in zip(factors, model.inertia)]
    numbers = rng.uniform(0.1, 2.0, (len(model.joints), 5))
    drives = {
        each.name: JointDynamics(
            *row[:3], armature=row[3], offset=row[4] - 1, load=0.1, presliding=((row[0] / 100, 1.0),)
        )
        for each, row in zip(model.joints, numbers)
        if each.dof == 1
    }
    return model.with_inertia(inertia).with_joint_dynamics(drives)


def refusal(card: RobotCard, model: RobotModel) -> str:
    """Return why a card does not fit."""
    with pytest.raises(ModelError) as refused:
        card.apply(model)
    return str(refused.value)


# --- what fits


@pytest.mark.parametrize("seed", range(4))
def test_robot_with_the_card_moves_as_the_identified_one(seed):
    model = RobotModel.from_urdf(random_tree(seed))
    known = identified(model, seed)
    made = RobotCard.of(known, model).apply(model)
    q, qd, qdd = random_state(model, seed, 20)
    expected = rnea(known, q, qd, qdd)
    assert np.max(np.abs(expected - rnea(model, q, qd, qdd))) > 1  # it is another robot than before
    assert_allclose(rnea(made, q, qd, qdd), expected, rtol=0, atol=2e-5 * np.max(np.abs(expected)))  # six digits
    resistance = friction(known, qd, gravity(known, q))
    assert_allclose(friction(made, qd, gravity(made, q)), resistance, rtol=0, atol=1e-5 * np.max(np.abs(resistance)))
    assert_allclose(made.armature, known.armature, rtol=1e-5)


def test_card_names_its_robot_the_day_and_the_version():
    card = RobotCard.of(mock_arm(), mock_arm(), CardAbout(serial="7", data=("ab",)))
    assert (card.robot, card.about.serial, card.about.data) == ("mock_arm", "7", ("ab",))
    assert len(card.about.date) == len("2026-11-23")
    assert card.about.ros2_dyn
    assert "base_link" not in card.links  # no motion tells its inertia


def test_robot_remembers_its_card_through_copies_and_a_card_twice_is_once():
    card = RobotCard.of(identified(mock_arm()), mock_arm())
    model = card.apply(mock_arm())
    assert model.card is card
    assert pickle.loads(pickle.dumps(model)).card == card
    assert card.apply(model) == model


def test_joint_that_was_locked_in_the_identification_may_move_or_be_locked_later():
    whole = RobotModel.from_urdf(
        XML.replace("</robot>", "")
        + link("jaw", 0.3, (0.02, 0, 0.01), (1e-4, 0, 0, 1e-4, 0, 1e-4))
        + joint("jaw_joint", "prismatic", "tool0", "jaw", (0, 0, 0.05), axis=(1, 0, 0))
        + "</robot>"
    )
    arm = whole.reduced(mock_arm().joint_names)
    known = identified(arm)
    card = RobotCard.of(known, whole)
    assert card.links["jaw"] == Inertial()  # it is in the wrist's
    q, qd, qdd = random_state(arm, 1, 10)
    expected = rnea(known, q, qd, qdd)
    for made in (card.apply(whole).reduced(arm.joint_names), card.apply(arm)):
        assert_allclose(rnea(made, q, qd, qdd), expected, rtol=0, atol=1e-3)


def test_arm_may_stand_elsewhere_and_carry_what_the_card_does_not_know():
    card = RobotCard.of(identified(mock_arm()), mock_arm())
    cell = RobotModel.from_urdf(
        XML.replace("</robot>", "")
        + link("world")
        + joint("stand", "fixed", "world", "base_link", (1, 2, 3), (0.1, 0.2, 0.3))
        + link("gripper", 0.8, (0, 0, 0.05), (1e-3, 0, 0, 1e-3, 0, 1e-3))
        + joint("flange", "fixed", "tool0", "gripper")
        + "</robot>"
    )
    made, bare = card.apply(cell), card.apply(mock_arm())
    assert sum(I.mass for I in made.inertia) == pytest.approx(sum(I.mass for I in bare.inertia) + 0.8)


def test_planar_floating_and_mimic_joints_are_no_obstacle():
    model = general_tree(5)
    made = RobotCard.of(model, model).apply(model)
    q = model.neutral
    assert_allclose(mass_matrix(made, q), mass_matrix(model, q), rtol=1e-4, atol=1e-5)


# --- what does not


@pytest.mark.parametrize(
    ("old", "new", "link_name"),
    [
        ('xyz="0 0 0.089159"', 'xyz="0 0 0.5"', None),
        ('axis xyz="0 0 1"', 'axis xyz="0 0 -1"', "link 'shoulder_link'"),
        ("shoulder_lift_joint", "lift_joint", "joint 'shoulder_lift_joint'"),
        ("forearm_link", "elbow_link", "link 'forearm_link'"),
        ('type="revolute"', 'type="prismatic"', "link 'shoulder_link'"),
    ],
)
def test_card_of_another_robot_is_refused_by_the_name_of_what_differs(old, new, link_name):
    assert old in XML
    other = RobotModel.from_urdf(XML.replace(old, new))
    card = RobotCard.of(mock_arm(), mock_arm())
    if link_name is None:  # how high the arm stands does not matter
        card.apply(other)
    else:
        assert refusal(card, other).startswith(link_name)


def test_length_that_differs_by_a_hundredth_of_a_millimetre_is_another_robot():
    xml = random_tree(2)
    model = RobotModel.from_urdf(xml)
    card = RobotCard.of(model, model)
    specs = list(model.link_specs)
    for k, spec in enumerate(specs):
        if spec.link not in card.links or model.lambda_[model.links[spec.link].body] < 0:
            continue
        moved = spec._replace(X=spec.X._replace(r=spec.X.r + np.array([0, 1e-5, 0])))
        other = RobotModel.from_links("other", [*specs[:k], moved, *specs[k + 1 :]])
        assert refusal(card, other).startswith(f"link '{spec.link}'")


def bracket(*fixed: str) -> RobotModel:
    """Return two joints with fixed links in between."""
    hinges = [joint("j", "revolute", "base", "a"), joint("k", "revolute", "g", "c", (0, 0, 1), (1, 0, 0))]
    return RobotModel.from_urdf(robot(*map(link, ("base", "a", "g")), link("c", 1.0, inertia=BOX), *hinges, *fixed))


def test_digests_tell_where_a_joint_is_and_not_how_the_links_in_between_are_cut():
    half = (0, 0, np.pi / 2)
    whole = bracket(joint("f", "fixed", "a", "g", (0.1, 0.2, 0.0), (0, 0, np.pi)))
    cut = [joint("f1", "fixed", "a", "f", (0.0, 0.2, 0.0), half), joint("f2", "fixed", "f", "g", (0, -0.1, 0), half)]
    parts, moved = (bracket(link("f"), *each) for each in (cut, [cut[0].replace('"0.0 0.2', '"0.1 0.2'), cut[1]]))
    known, same, other = (kinematics_digests(each, {"j", "k"}) for each in (whole, parts, moved))
    assert (same["a"], same["c"]) == (known["a"], known["c"])
    assert other["a"] == known["a"]
    assert other["c"] != known["c"]


def test_digests_are_the_same_where_rounding_of_the_last_bit_differs():
    model = RobotModel.from_urdf(random_tree(3))
    names = set(model.joint_names)
    shaken = [
        spec._replace(X=spec.X._replace(E=spec.X.E * (1 + 2e-16), r=spec.X.r * (1 + 2e-16)))
        for spec in model.link_specs
    ]
    other = RobotModel.from_links("other", shaken)
    assert other != model
    assert kinematics_digests(other, names) == kinematics_digests(model, names)


@pytest.mark.parametrize(
    ("inertial", "problem"),
    [
        (Inertial(-1.0, (0, 0, 0), BOX), "its mass is -1 kg"),
        (Inertial(0.0, (0, 0, 0), BOX), "its mass is 0 kg"),
        (Inertial(1.0, (0, 0, 0), (1.0, 0, 0, 1.0, 0, 2.5)), "one exceeds the sum of the others by 0.5 kg m"),
        (Inertial(1.0, (0, 0, 0), (-0.1, 0, 0, 1.0, 0, 1.0)), "no body has its moments of inertia"),
        (Inertial(1.0, (0, 0, 0), (1.0, 2.0, 0, 1.0, 0, 1.0)), "no body has its moments of inertia"),
    ],
)
def test_inertia_that_no_body_has_is_refused(inertial, problem):
    card = RobotCard.of(mock_arm(), mock_arm())
    text = refusal(replace(card, links={**card.links, "forearm_link": inertial}), mock_arm())
    assert text.startswith("link 'forearm_link'")
    assert problem in text


def test_inertia_that_no_body_has_stays_where_it_is_the_descriptions_own():
    model = RobotModel.from_urdf(XML.replace('ixx="0.013079"', 'ixx="1.3"'))
    known = model.with_joint_dynamics({"elbow_joint": JointDynamics(2.0)})
    card = RobotCard.of(known, model)
    assert card.links["shoulder_link"].problem()
    assert card.apply(model).joints[2].dynamics.viscous == 2.0
    assert "link 'shoulder_link'" in refusal(card, mock_arm())
    with pytest.raises(ModelError, match="link 'shoulder_link': no body has"):
        RobotCard.of(known, mock_arm())


def test_flat_plate_and_point_mass_can_exist():
    assert Inertial(1.0, (0, 0, 0), (1.0, 0, 0, 1.0, 0, 2.0)).problem() == ""
    assert Inertial(1.0).problem() == ""
    assert Inertial().problem() == ""


def test_identified_robot_of_another_name_or_shape_makes_no_card():
    other = RobotModel.from_urdf(robot(link("a"), link("b", 1.0, inertia=BOX), joint("j", "revolute", "a", "b")))
    with pytest.raises(ModelError, match="link 'b': the card of 'mock_arm' has it"):
        RobotCard.of(other, mock_arm())


def test_card_that_does_not_fit_becomes_one_finding_of_the_description():
    other = RobotModel.from_urdf(XML.replace("forearm_link", "elbow_link"))
    card = RobotCard.of(mock_arm(), mock_arm())
    found = with_card(with_card(other, card), card)
    assert [(each.severity, each.code) for each in found.findings] == [("error", "card_unfit")]
    assert found == other
    assert with_card(mock_arm(), None) == mock_arm()
