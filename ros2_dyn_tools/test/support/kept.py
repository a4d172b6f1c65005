# SPDX-License-Identifier: Apache-2.0
"""What a world has kept of the promises that hold always, and the worst that its arm did."""

from __future__ import annotations

import numpy as np

from ros2_dyn_tools.campaign.promises import ALWAYS, Disturbances, broken_promises
from ros2_dyn_tools.campaign.record import Record, worst_motion
from ros2_dyn_tools.campaign.world import World


def broken(world: World) -> list[str]:
    """Return the names of the promises that were broken by now."""
    return [each.promise for each in broken_promises(ALWAYS, world.finish(), Disturbances())]


def worst(world: World, name: str) -> float:
    """Return the largest of one of `MOTIONS` by now."""
    return worst_motion(world.finish())[name]


def timeline(record: Record) -> bytes:
    """Return a record as text; equal seeds give equal bytes."""
    tables = [column.tolist() for table in (record.motion, record.commands) for column in vars(table).values()]
    return repr((record.events, tables)).encode()


def commanded_seconds(world: World) -> float:
    """Return how long the node commanded, s."""
    return 0.01 * int(np.sum(world.finish().motion.commander == "node"))
