# SPDX-License-Identifier: Apache-2.0
"""Faults of messages: drivers that lie or fall silent, targets that jump, networks and clocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ros2_dyn.control.state_plausibility import DISBELIEF_TIME
from ros2_dyn.runtime.inputs import ClockJump
from ros2_dyn.simulation.lossy_channel import LossyChannel
from ros2_dyn_tools.campaign.driver_faults import DRIVER_FAULTS
from ros2_dyn_tools.campaign.fault import Fault, MakeFault, blinding, suspending
from ros2_dyn_tools.campaign.target_generator import TargetFault
from ros2_dyn_tools.campaign.world import World

USABLE_STATES = ("joints permuted", "states split", "efforts vanish")
"""Faults of a driver whose states a command may be based on."""
DISBELIEVED_STATES = (
    "positions step",
    "second publisher",
    "states freeze",
    "velocities lie",
    "numbers break",
    "noise",
    "names swapped",
)
"""Faults of a driver after which states are not believed for a while."""


# ---- driver and targets


def of_driver(kind: str) -> MakeFault:
    """Return what makes a fault of the driver, of a kind of `DRIVER_FAULTS`."""

    def make(world: World, rng: np.random.Generator) -> Fault:
        active, faults = DRIVER_FAULTS[kind](rng), world.driver.faults
        fault = Fault(lambda: faults.append(active), lambda: faults.remove(active))
        if kind in USABLE_STATES:
            return fault
        return blinding(world, fault, DISBELIEF_TIME if kind in DISBELIEVED_STATES else 0.0)

    return make


def arm_restarted(world: World, rng: np.random.Generator) -> Fault:
    """Restart the driver: no states come, and then the arm stands at home."""
    silence = of_driver("states stop")(world, rng)

    def end() -> None:
        silence.end()
        world.place_home()

    return Fault(silence.begin, end)


def of_targets(make: Callable[[np.random.Generator], TargetFault]) -> MakeFault:
    """Return what makes a fault of the targets, of a function of `TARGET_FAULTS`."""

    def fault(world: World, rng: np.random.Generator) -> Fault:
        active, faults = make(rng), world.targets.faults
        return Fault(lambda: faults.append(active), lambda: faults.remove(active))

    return fault


# ---- network and clocks


def _change_channel(channel: LossyChannel[object], drop_rate: float, delay: float, jitter: float) -> Fault:
    def change(sign: int) -> None:
        channel.drop_rate += sign * drop_rate
        channel.delay = max(0.0, channel.delay + sign * delay)
        channel.jitter = max(0.0, channel.jitter + sign * jitter)

    return Fault(lambda: change(1), lambda: change(-1))


def states_late(world: World, rng: np.random.Generator) -> Fault:
    """Delay states and targets by up to 0.15 s, with jitter that reorders them."""
    jitter = rng.choice([0.0, rng.uniform(0, 0.05)])
    return blinding(world, _change_channel(world.state_channel, 0.0, rng.uniform(0.0, 0.15), jitter))


def states_lost(world: World, rng: np.random.Generator) -> Fault:
    """Lose states and targets."""
    return blinding(world, _change_channel(world.state_channel, rng.uniform(0.1, 0.95), 0.0, 0.0))


def commands_late(world: World, rng: np.random.Generator) -> Fault:
    """Delay commands by up to 0.05 s."""
    return _change_channel(world.command_channel, 0.0, rng.uniform(0.0, 0.05), rng.choice([0.0, rng.uniform(0, 0.02)]))


def commands_lost(world: World, rng: np.random.Generator) -> Fault:
    """Lose commands."""
    fault = _change_channel(world.command_channel, rng.uniform(0.1, 1.0), 0.0, 0.0)
    return suspending(world, "commands lost", fault)


def clocks_jump(world: World, rng: np.random.Generator) -> Fault:
    """Set the node's clock, or those of node and driver, by 30 ms to 3000 s, and back."""
    jump = int(rng.choice([-1, 1]) * 10 ** rng.uniform(7.5, 12.5))
    both = bool(rng.random() < 0.5)

    def shift(by: int) -> None:
        world.node_clock_offset += by
        if both:
            world.driver_clock_offset += by
        text = f"by {1e-9 * by:.3f} s"
        world.node.input(ClockJump(text))

    return blinding(world, Fault(lambda: shift(jump), lambda: shift(-jump)))
