# SPDX-License-Identifier: Apache-2.0
"""A tape computes what the kernel computes, and one that is damaged or made by hand is refused or harmless."""

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose, assert_array_equal

from robots import MOCK_ARM, mock_arm, random_state
from ros2_dyn.cli.main import main
from ros2_dyn.dynamics import forward_kinematics, gravity
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.make_tape import INPUTS, OUTPUTS, make_tape
from ros2_dyn.kernels.tape import MAX_CELLS, OPERATIONS, PREFIX, Tape, description_hash
from ros2_dyn.model import JointDynamics

ARM = mock_arm()
SMALL = make_tape(ARM, ("gravity",), ("q",))
NAMED = {"joints": list(ARM.joint_names), "tip_link": "forearm_link"}


def with_all_operations():
    """Return an arm whose program has each operation: friction has tanh, exp and fabs, forward dynamics divides."""
    friction = JointDynamics(armature=0.1, viscous=0.3, coulomb=2.0, static=3.0, load=0.1)
    return ARM.with_joint_dynamics(dict.fromkeys(ARM.joint_names, friction))


def mended(data):
    """Return the bytes with the checksum that they should have."""
    magic, version, _ = PREFIX.unpack_from(data)
    return PREFIX.pack(magic, version, zlib.crc32(data[PREFIX.size :])) + data[PREFIX.size :]


def test_tape_computes_what_the_kernel_computes_to_the_last_bit():
    model, outputs = with_all_operations(), (*OUTPUTS, "qdd")
    tape = Tape.from_bytes(make_tape(model, outputs, (*INPUTS, "tau", "wrench")).to_bytes())
    assert {list(OPERATIONS)[number] for number in tape.instructions[:, 0]} == set(OPERATIONS)
    kernel = compile_kernel(model, outputs, "python", (*INPUTS, "tau", "wrench"))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        given = {name: value + rng.uniform(-1, 1, value.size) for name, value in tape.inputs.items()}
        found = tape.evaluate(**given)
        for name, expected in zip(outputs, kernel(**{name: x.tolist() for name, x in given.items()})):
            assert_array_equal(found[name], np.array(expected))


def test_inputs_that_are_left_out_have_their_defaults():
    q, qd, qdd = random_state(ARM, 1)
    tape = make_tape(ARM, ("tau", "potential_energy"))
    found = tape.evaluate(q=q, qd=qd, qdd=qdd)
    expected = compile_kernel(ARM, ("tau", "potential_energy"), "python", INPUTS)(q.tolist(), qd.tolist(), qdd.tolist())
    assert_array_equal(found["tau"], expected[0])
    assert found["potential_energy"] == expected[1]


def test_file_has_all_of_a_tape():
    tape = make_tape(ARM, description=description_hash(MOCK_ARM.read_text()))
    again = Tape.from_bytes(tape.to_bytes())
    assert (again.robot, again.link, again.joints) == (ARM.name, ARM.default_tip, ARM.joint_names)
    assert_array_equal(again.limits[:, 3], ARM.effort_limit)
    assert (again.description, again.outputs) == (tape.description, tape.outputs)
    assert again.to_bytes() == tape.to_bytes()


@pytest.mark.parametrize("text", ["foobar", " foo\n\tbar\r\n", "<!-- of /home/me -->foo<!--\n-->bar", "fo<!---->obar"])
def test_hash_of_a_description_is_that_of_fnv_and_ignores_white_space_and_comments(text):
    assert description_hash(text) == 0x85944171F73967E8


@pytest.mark.parametrize("size", range(0, 64, 7))
def test_beginning_of_a_file_is_refused(size):
    with pytest.raises(InputError, match="does not begin"):
        Tape.from_bytes(SMALL.to_bytes()[:size])


def test_each_bit_counts():
    data = SMALL.to_bytes()
    for bit in np.random.default_rng(1).integers(0, 8 * len(data), 200).tolist():
        wrong = bytearray(data)
        wrong[bit // 8] ^= 1 << bit % 8
        with pytest.raises(InputError, match=r"does not begin|version|checksum"):
            Tape.from_bytes(bytes(wrong))


FIRST = len(SMALL.constants) + 6
WRONG = {
    "unknown operation": {"instructions": [[10, FIRST, 0, 0]]},
    "which is no register": {"instructions": [[0, FIRST - 1, 0, 0]]},
    "nothing has written": {"instructions": [[0, FIRST, 0, FIRST]]},
    "an output reads": {"results": [FIRST + SMALL.registers] * 6},
    "constant or an input is not finite": {"constants": [np.nan] * len(SMALL.constants)},
    "cells, expected at most": {"registers": MAX_CELLS},
    "no self-test": {"tests": np.empty((0, 12))},
    "not what its self-test says": {"tests": 1.001 * SMALL.tests},
    "more than two dimensions": {"outputs": {"gravity": (6, 1, 1)}},
    "shapes of its outputs": {"outputs": {"gravity": (7,)}},
    "names are wrong": {"robot": "two\nlines"},
}


@pytest.mark.parametrize("problem", WRONG)
def test_wrong_tape_is_refused_by_name(problem):
    values = {name: np.array(value) if isinstance(value, list) else value for name, value in WRONG[problem].items()}
    with pytest.raises(InputError, match=problem):
        Tape.from_bytes(replace(SMALL, **values).to_bytes())


def test_number_too_large_is_refused_before_memory_is_asked_for():
    data = bytearray(SMALL.to_bytes())
    struct.pack_into("<I", data, 52, 1 << 31)
    with pytest.raises(InputError, match="too large"):
        Tape.from_bytes(mended(bytes(data)))


def test_mutated_tape_is_refused_or_runs():
    rng, loaded = np.random.default_rng(2), 0
    data = SMALL.to_bytes()
    for _ in range(300):
        wrong = np.frombuffer(data, np.uint8).copy()
        places = rng.integers(PREFIX.size, len(data), rng.integers(1, 4))
        wrong[places] = rng.integers(0, 256, places.size)
        try:
            tape = Tape.from_bytes(mended(wrong.tobytes()))
        except InputError:
            continue
        assert {name: value.shape for name, value in tape.evaluate().items()} == tape.outputs
        loaded += 1
    assert 0 < loaded < 300


def test_wrong_inputs_are_named():
    with pytest.raises(InputError, match="qdd: the tape has no such input"):
        SMALL.evaluate(qdd=np.zeros(6))
    with pytest.raises(InputError, match="q: expected 6 numbers, got 5"):
        SMALL.evaluate(q=np.zeros(5))


def test_name_with_a_line_break_is_refused():
    with pytest.raises(InputError, match="line break"):
        make_tape(replace(ARM, name="two\nlines"))


def test_program_that_is_too_long_says_so(monkeypatch):
    """With a bound that the arm exceeds: the largest robots have a third of the cells that a tape can have."""
    monkeypatch.setattr("ros2_dyn.kernels.make_tape.MAX_CELLS", 20)
    with pytest.raises(InputError, match="a tape has at most 20"):
        make_tape(ARM, ("gravity",))


@pytest.mark.parametrize("rotors", [[], [0.1] * 6], ids=["none", "rotors"])
def test_command_writes_a_tape_and_misses_rotors(tmp_path, capsys, rotors):
    path, parameters = tmp_path / "arm.tape", tmp_path / "arm.yaml"
    robot = {"joints": list(ARM.joint_names), "armature": rotors}
    parameters.write_text(yaml.safe_dump({"dynamics": {"ros__parameters": {"robot": robot}}}))
    assert main(["export", str(MOCK_ARM), "--parameters", str(parameters), "--tape", "-o", str(path)]) == 0
    assert ("robot.armature" in capsys.readouterr().err) == (not rotors)
    tape = Tape.from_bytes(path.read_bytes())
    assert tuple(tape.outputs) == OUTPUTS
    assert tape.description == description_hash(MOCK_ARM.read_text())


@pytest.mark.parametrize("inputs", [(), ("--inputs", "q", "payload")], ids=["input", "constant"])
def test_tape_is_of_the_mount_and_the_tip_that_the_parameters_name(tmp_path, inputs):
    """An arm on the ceiling that is carried as one on the floor is pushed down with twice its weight."""
    path, parameters, ceiling = tmp_path / "arm.tape", tmp_path / "arm.yaml", [0.5, 0.0, 9.8]
    parameters.write_text(yaml.safe_dump({"dynamics": {"ros__parameters": {"robot": NAMED | {"gravity": ceiling}}}}))
    outputs = ("--outputs", "gravity", "pose")
    command = ["export", str(MOCK_ARM), "--parameters", str(parameters), "--tape", *outputs, *inputs, "-o", str(path)]
    assert main(command) == 0
    tape, (q, _, _) = Tape.from_bytes(path.read_bytes()), random_state(ARM, 1)
    found = tape.evaluate(q=q)
    assert_allclose(found["gravity"], gravity(ARM, q, ceiling), rtol=0, atol=1e-12)
    assert tape.link == NAMED["tip_link"]
    assert_allclose(found["pose"], forward_kinematics(ARM, q, NAMED["tip_link"]), rtol=0, atol=1e-12)
