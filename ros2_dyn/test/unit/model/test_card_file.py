# SPDX-License-Identifier: Apache-2.0
"""Robot cards as files: what is written is read again, and what cannot be a card is an error that says where."""

import string
from dataclasses import replace
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robots import MOCK_ARM, mock_arm
from ros2_dyn.errors import MAX_TEXT, InputError, ModelError
from ros2_dyn.model import (
    CardAbout,
    EffortFilter,
    JointDynamics,
    RobotCard,
    RobotModel,
    card_parser,
    read_card,
    write_card,
)
from ros2_dyn.model.card import CardSpread, rounded_dynamics
from ros2_dyn.model.card_file import hash_recording
from ros2_dyn.model.card_parser import parse_card
from ros2_dyn.model.card_text import card_text
from ros2_dyn.model.inertial import Inertial, rounded

CARD = RobotCard.of(
    mock_arm().with_joint_dynamics({"elbow_joint": JointDynamics(1.0, 2.0, presliding=((1e-3, 4.0),))}),
    mock_arm(),
    CardAbout("42", "2026-11-23", "least squares", ("ab" * 32,), 24.5, {"elbow_joint": 0.4}, licence="CC0-1.0"),
    {"elbow_joint": 10.3},
    (0.1, 0.0, -9.8),
)
TEXT = card_text(CARD)

NAMES = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["yes", "null", "12", "1e3", "~", "a: b", "- x", "# no", "é"]
)
FINITE = st.floats(-1e300, 1e300).map(rounded)
POSITIVE = st.floats(1e-9, 1e9).map(rounded)
THREE = st.tuples(FINITE, FINITE, FINITE)
INERTIALS = st.builds(Inertial, POSITIVE, THREE, st.tuples(*[FINITE] * 6)) | st.just(Inertial())
DYNAMICS = st.builds(
    JointDynamics,
    *[POSITIVE] * 2,
    static=st.none() | POSITIVE,
    stribeck_velocity=POSITIVE,
    transition_velocity=POSITIVE,
    stiffness=POSITIVE,
    rest=FINITE,
    load=POSITIVE,
    offset=FINITE,
    presliding=st.lists(st.tuples(POSITIVE, POSITIVE), max_size=3).map(tuple),
    armature=POSITIVE,
)
ABOUTS = st.builds(
    CardAbout,
    *[st.text(max_size=20)] * 3,
    data=st.lists(st.text(string.hexdigits, min_size=1), max_size=3).map(tuple),
    temperature=st.none() | FINITE,
    held_out_rms=st.dictionaries(NAMES, POSITIVE, max_size=3),
    identifications=st.integers(1, 50),
)
SPREADS = st.builds(
    CardSpread,
    links=st.dictionaries(NAMES, INERTIALS, max_size=2),
    joints=st.dictionaries(NAMES, st.dictionaries(NAMES, POSITIVE, max_size=2), max_size=2),
    effort_gain=st.dictionaries(NAMES, POSITIVE, max_size=2),
    gravity=st.none() | THREE,
)
FILTERS = st.builds(EffortFilter, st.sampled_from(["first_order", "zero_phase"]), POSITIVE) | st.just(EffortFilter())
CARDS = st.builds(
    RobotCard,
    NAMES,
    st.dictionaries(NAMES, INERTIALS, max_size=4),
    st.dictionaries(NAMES, DYNAMICS, max_size=4),
    st.dictionaries(NAMES, st.text("0123456789abcdef", min_size=8, max_size=8), max_size=4),
    effort_gain=st.dictionaries(NAMES, FINITE, max_size=4),
    gravity=st.none() | THREE,
    effort_filter=FILTERS,
    about=ABOUTS,
    spread=st.none() | SPREADS,
    urdf=st.text(max_size=20),
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(CARDS)
def test_card_is_read_as_it_was_written(card):
    assert parse_card(card_text(card)) == card


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.builds(JointDynamics, st.floats(1e-9, 1e9), rest=st.floats(-1e9, 1e9)))
def test_number_of_many_digits_is_read_as_six_digits(dynamics):
    read = parse_card(card_text(RobotCard("r", {}, {"j": dynamics}, {}))).joints["j"]
    assert read == rounded_dynamics(dynamics)
    assert read.viscous == pytest.approx(dynamics.viscous, rel=1e-5)


def test_file_is_the_card(tmp_path):
    path = tmp_path / "arm.card.yaml"
    write_card(CARD, path)
    assert read_card(path) == CARD
    assert read_card(path).apply(mock_arm()) == CARD.apply(mock_arm())  # to the last bit


def test_numbers_may_be_written_as_people_write_them():
    text = TEXT.replace("effort_gain: {elbow_joint: 10.3}", "effort_gain: {elbow_joint: 103e-1}")
    assert text != TEXT
    assert parse_card(text) == CARD


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("ros2_dyn_card: 1", "ros2_dyn_card: 2", "expected ros2_dyn_card: 1"),
        ("ros2_dyn_card: 1\n", "", "expected ros2_dyn_card: 1"),
        ("robot: mock_arm\n", "", "robot: expected a text"),
        ("robot: mock_arm", "robot: ''", "robot: expected a name"),
        ("robot: mock_arm", "robot: [a]", "robot: expected a text of at most 256 characters, got a list of 1 items"),
        ("robot: mock_arm", "robot: mock_arm\nrobot: other", "the key 'robot' is given twice"),
        ("robot: mock_arm", "robots: mock_arm", "card: unknown key 'robots'; expected ros2_dyn_card, robot, "),
        ("serial:", "serial_number:", "about: unknown key 'serial_number'; expected serial, date, "),
        ("mass: 8.393", "mass: .nan", "links: upper_arm_link: mass: expected a finite number, got '.nan'"),
        ("mass: 8.393", "mass: nan", "links: upper_arm_link: mass: expected a finite number"),
        ("mass: 8.393", "mass: 1e400", "links: upper_arm_link: mass: expected a finite number"),
        ("mass: 8.393", "mass: heavy", "links: upper_arm_link: mass: expected a finite number, got 'heavy'"),
        ("mass: 8.393", "mass:", "links: upper_arm_link: mass: expected a finite number, got ''"),
        ("mass: 8.393", "mas: 8.393", "links: upper_arm_link: unknown key 'mas'; expected mass, com, inertia"),
        ("    mass: 8.393\n", "", "links: upper_arm_link: 'mass' is missing"),
        ("com: [-0.2125, 0.0, 0.11336]", "com: [-0.2125, 0.0]", "upper_arm_link: com: expected 3 numbers, got 2"),
        ("massless: [tool0]", "massless: [forearm_link]", "massless: 'forearm_link' is in `links`, too"),
        ("viscous: 1.0", "viscous: -1.0", "joints: elbow_joint: viscous: expected a finite number, not negative"),
        ("viscous: 1.0", "damping: 1.0", "joints: elbow_joint: unknown key 'damping'; expected viscous, coulomb"),
        ("[0.001, 4.0]", "[0.001]", "joints: elbow_joint: presliding: expected 2 numbers, got 1"),
        ("[0.1, 0.0, -9.8]", "[0.1, 0.0]", "gravity: expected 3 numbers, got 2"),
        ("forearm_link: ", "forearm_link: 00", "kinematics: forearm_link: expected 8 hexadecimal digits"),
        ("temperature: 24.5", "temperature: warm", "about: temperature: expected a finite number, got 'warm'"),
        ("gravity: [", "gravity: [[", "it cannot be read as YAML"),
        ("robot: mock_arm", "robot: &r mock_arm\nurdf: *r", "it uses an alias"),
    ],
)
def test_wrong_part_is_named(old, new, problem, tmp_path):
    assert old in TEXT
    text = TEXT.replace("kinematics: {", "kinematics: {\n  ").replace("forearm_link: ", "forearm_link: ")
    if old == "forearm_link: ":
        head, tail = text.split("\nkinematics:")
        text = head + "\nkinematics:" + tail.replace(old, new, 1)
    else:
        text = text.replace(old, new, 1)
    path = tmp_path / "arm.card.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_card(path)
    assert f"card '{path}'" in str(refused.value)
    assert problem in str(refused.value)


HOSTILE = {
    "empty": "",
    "a list": "[1, 2]",
    "binary": "\x00\x01",
    "deep": "[" * 100_000,
    "deep mappings": "{a: " * 5000,
    "long": "a" * (card_parser.MAX_TEXT + 1),
    "ten million laughs": "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdef", "bcdefg")),
    "python object": "!!python/object/apply:os.system ['true']",
    "many names": "ros2_dyn_card: 1\njoints: {" + ", ".join(f"j{i}: {{}}" for i in range(2000)) + "}",
    "25 000 items": "- a\n" * 25_000,
    "long name": f"ros2_dyn_card: 1\nrobot: {'a' * 100_000}",
    "long key": f"ros2_dyn_card: 1\n{'a' * 1000}: 1",
    "long number": f"ros2_dyn_card: 1\nrobot: r\neffort_gain: {{a: {'9' * 100_000}}}",
    "a mapping as key": "ros2_dyn_card: 1\n{a: b}: c",
    "two documents": "ros2_dyn_card: 1\n---\nrobot: r",
    "tagged number": "ros2_dyn_card: !!int 1\nrobot: !!set {a, b}",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_file_is_one_short_error_within_seconds(what, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(HOSTILE[what], encoding="utf-8")
    began = perf_counter()
    with pytest.raises(InputError) as refused:
        read_card(path)
    assert perf_counter() - began < 20
    assert len(str(refused.value)) < 3 * MAX_TEXT


def test_file_that_is_not_there_or_no_text_is_an_error(tmp_path):
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\xff")
    for name in ("x.yaml", "none.yaml"):
        with pytest.raises(InputError, match="cannot be read"):
            read_card(tmp_path / name)
    with pytest.raises(InputError, match="cannot be written"):
        write_card(CARD, tmp_path / "no" / "folder.yaml")


def test_robot_is_loaded_from_a_card_that_names_its_urdf(tmp_path, monkeypatch):
    share = tmp_path / "share" / "arms"
    share.mkdir(parents=True)
    (share / "arm.urdf").write_text(MOCK_ARM.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    for urdf in ("share/arms/arm.urdf", "package://arms/arm.urdf"):
        write_card(replace(CARD, urdf=urdf), tmp_path / "arm.card.yaml")
        model = RobotModel.from_file(tmp_path / "arm.card.yaml")
        assert model == CARD.apply(mock_arm())
        assert model.card.effort_gain == {"elbow_joint": 10.3}
    assert RobotModel.from_file(share / "arm.urdf") == mock_arm()
    assert RobotModel.from_urdf_file(share / "arm.urdf", CARD) == model
    for urdf, problem in (("", "names no `urdf`"), ("package://legs/x.urdf", "package 'legs', which is not installed")):
        write_card(replace(CARD, urdf=urdf), tmp_path / "arm.card.yaml")
        with pytest.raises(ModelError, match=problem):
            RobotModel.from_file(tmp_path / "arm.card.yaml")


def test_hash_of_a_recording_is_that_of_its_bytes_and_names(tmp_path):
    bag = tmp_path / "bag"
    bag.mkdir()
    (bag / "a.db3").write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1
    assert hash_recording(bag / "a.db3") == known
    folder = hash_recording(bag)
    (bag / "a.db3").rename(bag / "b.db3")
    assert len({folder, hash_recording(bag), known}) == 3
    with pytest.raises(InputError, match="cannot be read"):
        hash_recording(tmp_path / "none")
