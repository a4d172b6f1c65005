# SPDX-License-Identifier: Apache-2.0
"""What a fault is: something that goes wrong for a while, and what the judge of motion is told of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ros2_dyn_tools.campaign.world import World

Action = Callable[[], None]


class Fault(NamedTuple):
    """What is done to a world when a fault begins and when it ends."""

    begin: Action
    end: Action


MakeFault = Callable[[World, np.random.Generator], Fault]


def nothing() -> None:
    """Do nothing."""


def blinding(world: World, fault: Fault, disbelief: float = 0.0) -> Fault:
    """Return a fault during which no command can be based on the states, and for the time of disbelief after it, s."""

    def begin() -> None:
        world.motion_judge.blind(True)
        fault.begin()

    def end() -> None:
        fault.end()
        world.blind_for(disbelief)
        world.motion_judge.blind(False)

    return Fault(begin, end)


def suspending(world: World, why: str, fault: Fault) -> Fault:
    """Return a fault during which something else than our commands moves the arm."""

    def begin() -> None:
        world.motion_judge.suspend(why, True)
        fault.begin()

    def end() -> None:
        fault.end()
        world.motion_judge.suspend(why, False)

    return Fault(begin, end)
