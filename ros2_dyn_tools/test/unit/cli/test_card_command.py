# SPDX-License-Identifier: Apache-2.0
"""The command `card`: made from two descriptions, merged, shown; and cards of real arms where recordings are there."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from real_arms import REAL_ARMS, real_arm
from robots import MOCK_ARM
from ros2_dyn.cli.main import main
from ros2_dyn.dynamics import friction, gravity, rnea
from ros2_dyn.model import CardAbout, RobotCard, RobotModel, merge_cards, read_card, write_card
from ros2_dyn_tools.recording.friction_identification import identify_friction
from ros2_dyn_tools.recording.signals import even_motion

XML = MOCK_ARM.read_text(encoding="utf-8")
PARAMETERS = """\
/**/dynamics:
  ros__parameters:
    joints: [shoulder_pan_joint, shoulder_lift_joint]
    armature: [1.0, 2.0]
    coulomb_friction: [3.0, 4.0]
    effort_gain: [10.0, 11.0]
    gravity: [0.1, 0.0, -9.8]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a description, an identified one, and a recording."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(XML, encoding="utf-8")
    (tmp_path / "heavy.urdf").write_text(XML.replace('mass value="8.393"', 'mass value="9"'), encoding="utf-8")
    (tmp_path / "bag.csv").write_bytes(b"abc")
    (tmp_path / "node.yaml").write_text(PARAMETERS, encoding="utf-8")
    return tmp_path


def test_card_of_two_descriptions_is_loaded_like_a_urdf(folder, capsys):
    (folder / "cards").mkdir()
    told = ["--serial", "7", "--temperature", "24", "--method", "by hand", "--recording", "bag.csv", "--licence", "CC0"]
    assert main(["card", "robot.urdf", "heavy.urdf", "--output", "cards/arm.yaml", "--date", "2026-11-23", *told]) == 0
    assert "written: cards/arm.yaml" in capsys.readouterr().out
    card = read_card("cards/arm.yaml")
    about = card.about
    assert (about.serial, about.temperature, about.method, about.licence) == ("7", 24.0, "by hand", "CC0")
    assert (about.date, about.data[0][:8], card.urdf) == ("2026-11-23", "ba7816bf", "../robot.urdf")
    model, heavy = RobotModel.from_file("cards/arm.yaml"), RobotModel.from_urdf_file("heavy.urdf")
    q = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
    assert_allclose(gravity(model, q), gravity(heavy, q), atol=1e-3)
    assert main(["export", "cards/arm.yaml", "--output", "c"]) == 0  # a card where a description is expected


def test_card_has_what_only_a_parameter_file_knows(folder):
    assert main(["card", "robot.urdf", "robot.urdf", "--parameters", "node.yaml", "--output", "arm.yaml"]) == 0
    card = read_card("arm.yaml")
    assert set(card.joints) == {"shoulder_pan_joint", "shoulder_lift_joint"}
    assert (card.joints["shoulder_lift_joint"].armature, card.joints["shoulder_lift_joint"].coulomb) == (2.0, 4.0)
    assert card.effort_gain == {"shoulder_pan_joint": 10.0, "shoulder_lift_joint": 11.0}
    assert card.gravity == (0.1, 0.0, -9.8)


def test_merged_card_has_the_mean_and_shows_its_spread(folder, capsys):
    for name, urdf in (("a.yaml", "robot.urdf"), ("b.yaml", "heavy.urdf")):
        assert main(["card", "robot.urdf", urdf, "--output", name, "--method", f"way {name[0]}"]) == 0
    (folder / "means").mkdir()
    assert main(["card", "--merge", "a.yaml", "b.yaml", "--output", "means/arm.yaml"]) == 0
    card = read_card("means/arm.yaml")
    assert card.links["upper_arm_link"].mass == pytest.approx((8.393 + 9) / 2, rel=1e-5)
    assert (card.urdf, card.about.method, card.about.identifications) == ("../robot.urdf", "way a; way b", 2)
    capsys.readouterr()
    assert main(["card", "--show", "means/arm.yaml"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"8\.69[67] ± 0\.43", shown)  # the standard deviation of two numbers 0.607 apart
    assert "identifications: 2" in shown


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["robot.urdf", "heavy.urdf"], "output: expected the name of a card"),
        (["robot.urdf", "heavy.urdf", "--output", "arm.urdf"], "output: expected the name of a card"),
        (["robot.urdf", "--output", "arm.yaml"], "expected ROBOT.urdf and IDENTIFIED.urdf, got 1 files"),
        (["--show", "none.yaml"], "card 'none.yaml': cannot be read"),
        (["--show", "node.yaml"], "card 'node.yaml': ros2_dyn_card: expected ros2_dyn_card: 1"),
        (["robot.urdf", "bag.csv", "--output", "arm.yaml"], "not well-formed XML"),
        (
            ["robot.urdf", "heavy.urdf", "--output", "a.yaml", "--recording", "x.db3"],
            "recording 'x.db3': cannot be read",
        ),
        (["robot.urdf", "heavy.urdf", "--output", "a.yaml", "--parameters", "bag.csv"], "is no parameter file"),
    ],
)
def test_wrong_use_is_one_line(folder, capsys, arguments, problem):
    assert main(["card", *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert problem in line


@pytest.mark.parametrize("name", REAL_ARMS)
def test_cards_of_a_real_arm_hold_what_was_identified(name, tmp_path):
    model, recording = real_arm(name)
    known = [identify_friction(model, recording.between(*part)) for part in ((0.0, 0.33), (0.33, 0.67))]
    cards = [RobotCard.of(each, model, CardAbout(method="friction alone")) for each in known]
    write_card(merge_cards(cards), tmp_path / "arm.card.yaml")
    card = read_card(tmp_path / "arm.card.yaml")
    motion = even_motion(recording.between(0.67, 1.0))

    def effort(robot: RobotModel) -> np.ndarray:
        return rnea(robot, motion.q, motion.qd, motion.qdd) + friction(robot, motion.qd)

    made = effort(card.apply(model))
    assert_allclose(made, (effort(known[0]) + effort(known[1])) / 2, rtol=0, atol=1e-3)
    before, after = (np.sqrt(np.mean((motion.effort - each) ** 2, axis=0)) for each in (effort(model), made))
    assert np.all(after[-3:] < before[-3:])  # the wrist, whose friction exceeds what the masses are wrong by
    assert card.spread.joints.keys() == card.joints.keys()  # two thirds of a recording do not agree to six digits
