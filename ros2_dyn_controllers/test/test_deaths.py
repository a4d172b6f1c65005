# SPDX-License-Identifier: Apache-2.0
"""Whoever sends references to the compiled ArmHolder dies, at any time: what the arm does from then on.

Premise: the masses are 20 % wrong, the rotors are known, friction is 0 to 3 % of the effort limits, and a hand or a
force accelerates no joint by more than 5 rad/s^2. Promise: the arm is at rest 1.5 s later, and no joint is faster than
1.3 times its limit. Efforts that stay, as those of a forward_command_controller, break it.
"""

import subprocess
from dataclasses import replace

import pytest

from compiled import build, compiler
from held_arm import ARMS, wrong
from ros2_dyn.kernels.make_tape import make_tape
from tiers import FULL

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler is here")
DEATHS = 20000 if FULL else 50


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return build("deaths.cpp", tmp_path_factory.mktemp("deaths") / "deaths", "-O2")


def play(program, folder, model, masses, friction, who="holder", strength=1.0):
    """Return for each kind of references what deaths.cpp prints; the effort limits are times `strength`."""
    holder = make_tape(model, ("effort", "gravity", "jacobian"))
    arm = make_tape(wrong(model, masses, 0.0), ("qdd",), ("q", "qd", "tau"))
    tapes = folder / "holder.tape", folder / "arm.tape"
    for path, tape in zip(tapes, (holder, arm)):
        path.write_bytes(replace(tape, limits=tape.limits * [1, 1, 1, strength]).to_bytes())
    command = [program, *tapes, str(friction), str(DEATHS), "1", who]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: list(map(float, numbers)) for name, *numbers in map(str.split, printed.splitlines())}


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(("masses", "friction"), [(1.2, 0.0), (0.8, 0.03)])
def test_arm_comes_to_rest_wherever_its_references_end(program, tmp_path, arm, masses, friction):
    for deaths, moving, restless, *_, share, _ in play(program, tmp_path, ARMS[arm], masses, friction).values():
        assert deaths == DEATHS // 5
        assert moving > 0
        assert restless == 0
        assert share < 1.3


def test_joints_that_their_weight_exceeds_drive_no_others(program, tmp_path):
    """They fall. Cut off one by one, the efforts of the others made joints 22 times as fast as their limits."""
    played = play(program, tmp_path, ARMS["panda"], 1.2, 0.0, strength=0.6)
    assert sum(restless for _, _, restless, *_ in played.values()) > 0
    for *_, share, _ in played.values():
        assert share < 1.5


def test_efforts_that_stay_hold_no_arm(program, tmp_path):
    for deaths, _, restless, *_ in play(program, tmp_path, ARMS["ur10"], 1.2, 0.0, "nobody").values():
        assert restless == deaths
