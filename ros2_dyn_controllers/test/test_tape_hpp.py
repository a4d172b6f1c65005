# SPDX-License-Identifier: Apache-2.0
"""tape.hpp computes what the kernels compute to the last bit, and refuses what Python refuses."""

import ctypes
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from compiled import CompiledTape, build, compiler
from robots import MOCK_ARM, example_robots, mock_arm
from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.kernels.make_tape import make_tape
from ros2_dyn.kernels.tape import PREFIX, Tape, description_hash
from ros2_dyn.kernels.trace import OUTPUTS
from ros2_dyn.model import RobotModel
from tiers import FULL

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler is here")
INPUTS = ("q", "qd", "qdd", "tau", "gravity", "payload", "wrench")
ROBOTS = {str(path.relative_to(example_robots())): path for path in sorted(example_robots().rglob("*.urdf"))}
PART = ("panda.urdf", "ur10_robot.urdf", "bolt.urdf", "double_pendulum_continuous.urdf")
"""Robots whose tapes are compared by default."""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = build("tape_library.cpp", tmp_path_factory.mktemp("tape") / "tape.so", "-O2", "-fPIC", "-shared")
    return ctypes.CDLL(str(path))


@pytest.mark.parametrize("robot", [name for name in ROBOTS if FULL or Path(name).name in PART])
def test_tape_computes_what_the_kernel_computes_to_the_last_bit(library, robot):
    """Every output. With FULL, of the kernel in C; to compile one takes a second."""
    try:
        model = RobotModel.from_urdf_file(ROBOTS[robot])
    except ModelError as error:
        pytest.skip(f"no robot: {error}")
    inputs = INPUTS if model.n < 30 else ("q", "qd", "qdd", "tau")
    for output in OUTPUTS:
        try:
            tape = make_tape(model, (output,), inputs)
        except InputError as error:
            if "joints that move no inertia have no acceleration" not in str(error):
                raise
            continue
        kernel = compile_kernel(model, (output,), "scalar" if FULL and not why_no_c() else "python", inputs)
        rng = np.random.default_rng(1)
        given = {name: value + rng.uniform(-1, 1, value.size) for name, value in tape.inputs.items()}
        (expected,) = kernel(*(value.tolist() for value in given.values()))
        found = CompiledTape(library, tape.to_bytes()).evaluate({output: np.shape(expected)}, **given)
        assert_array_equal(found[output], np.array(expected))


def test_both_readers_refuse_the_same(library):
    data = make_tape(mock_arm(), ("gravity", "friction"), ("q", "qd")).to_bytes()
    rng, refused = np.random.default_rng(4), set()
    for _ in range(500):
        wrong = np.frombuffer(data, np.uint8).copy()
        end = len(data) if rng.integers(2) else 64
        places = rng.integers(8, end, rng.integers(1, 3))
        wrong[places] = rng.integers(0, 256, places.size)
        text = wrong.tobytes()[: len(data) - (rng.integers(30) if rng.integers(5) == 0 else 0)]
        if rng.integers(10):
            magic, version, _ = PREFIX.unpack_from(text)
            text = PREFIX.pack(magic, version, zlib.crc32(text[PREFIX.size :])) + text[PREFIX.size :]
        problems = []
        for read in (Tape.from_bytes, lambda each: CompiledTape(library, each)):
            try:
                read(text)
            except (InputError, ValueError) as error:
                problems.append(str(error).removeprefix("tape: "))
        assert len(problems) in (0, 2), problems
        refused.update(problems[1:])
    assert len(refused) > 5


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("part", ["tests", "inputs", "constants"])
def test_both_readers_refuse_numbers_that_are_none(library, part, number):
    """A self-test that says NaN was passed by any program."""
    tape = make_tape(mock_arm(), ("gravity",), ("q",))
    wrong = {
        "tests": np.where(np.arange(12) < 6, tape.tests, number),
        "inputs": {"q": np.full(6, number)},
        "constants": np.full(len(tape.constants), number),
    }
    data = replace(tape, **{part: wrong[part]}).to_bytes()
    with pytest.raises(InputError, match="is not"):
        Tape.from_bytes(data)
    with pytest.raises(ValueError, match="is not"):
        CompiledTape(library, data)


def test_what_a_tape_is_not(library):
    tape = CompiledTape(library, make_tape(mock_arm(), ("gravity",), ("q",)).to_bytes())
    with pytest.raises(KeyError, match="qd"):
        tape.evaluate({}, qd=np.zeros(6))
    with pytest.raises(KeyError, match="q"):
        tape.evaluate({}, q=np.zeros(7))
    with pytest.raises(KeyError, match="tau"):
        tape.evaluate({"tau": (6,)})


def test_hash_of_a_description_is_the_same(library):
    library.tape_description_hash.restype = ctypes.c_uint64
    texts = [MOCK_ARM.read_text(), "a<!-- of\nxacro -->b", "a<!---->", "a<!-->b", "a-->b<!--", "<!-", "é", ""]
    for text in texts:
        assert library.tape_description_hash(text.encode()) == description_hash(text), text


def test_mutated_tapes_do_no_harm_and_a_good_one_allocates_nothing(tmp_path):
    """Under the sanitizers of addresses and of undefined behaviour, which end the program at the first fault."""
    sanitizers = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    try:
        program = build("mutate_tape.cpp", tmp_path / "mutate", *sanitizers)
    except subprocess.CalledProcessError:
        pytest.skip("this compiler has no sanitizers")
    (tmp_path / "arm.tape").write_bytes(make_tape(mock_arm(), ("gravity", "friction"), ("q", "qd")).to_bytes())
    command = [str(program), str(tmp_path / "arm.tape"), str(1_000_000 if FULL else 3000), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded, refused, allocations = (int(part.split()[0]) for part in done.stdout.split(", "))
    assert loaded > 10
    assert refused > 10
    assert allocations == 0
