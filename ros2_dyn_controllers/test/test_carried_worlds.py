# SPDX-License-Identifier: Apache-2.0
"""Campaign worlds in which the compiled controller carries the arm: nodes die, states are late, references jump."""

from functools import partial

import pytest

from carried_world import FAMILIES, CarriedWorld, play
from compiled import compiler
from held_arm import HolderSettings
from ros2_dyn_tools.campaign.world import World

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler is here")


@pytest.mark.parametrize("name", FAMILIES)
def test_carried_arm_keeps_what_is_promised(name):
    record, broken = play(FAMILIES[name], seed=1, faults=2)
    assert len(record.faults()) == 2
    assert (record.commands.publisher == "node").any()
    assert not broken


@pytest.mark.parametrize(
    ("make_world", "name"),
    [
        (partial(CarriedWorld, holder=HolderSettings(timeout=1e9)), "python dies"),
        (partial(CarriedWorld, holder=HolderSettings(speed_margin=1e9)), "references jump"),
        (World, "python dies"),
    ],
    ids=["no watchdog", "no limit of speed", "forward_command_controller"],
)
def test_what_the_controller_does_is_what_keeps_it(make_world, name):
    worlds = (play(FAMILIES[name], seed, faults=4, make_world=make_world) for seed in range(1, 7))
    assert any("held" in broken or "no runaway" in broken for _, broken in worlds)
