# SPDX-License-Identifier: Apache-2.0
"""Handovers as faults of a world: with each failure the arm is held, and the node has it again in the end."""

from __future__ import annotations

import numpy as np
import pytest

from arm_world import FRICTIONLESS, ArmWorld, broken
from ros2_dyn.simulation.controllers import EFFORT, TRAJECTORY
from ros2_dyn_tools.campaign.handover_fault import FAILURES, HANDOVER_TIME, HandoverThereAndBack
from tiers import FULL

GOES_ON = ("none", "effort controller dead")
"""Failures with which the first handover, to the trajectory controller, goes well."""


@pytest.mark.parametrize("failure", FAILURES if FULL else (*GOES_ON, "failsafe killed"))
@pytest.mark.parametrize("seed", range(3 if FULL else 1))
def test_arm_is_held_whatever_fails_in_a_handover(failure, seed):
    world = ArmWorld(seed, arm=FRICTIONLESS)
    world.play("gravity", 0.5)
    handover = HandoverThereAndBack(world, np.random.default_rng(seed), failure)
    handover.begin()
    world.run(world.now + HANDOVER_TIME)
    handover.end()
    world.run(world.now + 3.0)
    switched = [details[0] for details in world.details("controller")]
    if failure in GOES_ON:
        assert TRAJECTORY in switched
    assert world.controllers.active == EFFORT
    assert (world.node.mode, world.listening) == ("gravity", True)
    assert not broken(world)
