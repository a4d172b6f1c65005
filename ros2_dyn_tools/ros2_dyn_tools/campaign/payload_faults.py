# SPDX-License-Identifier: Apache-2.0
"""Faults of what the arm carries, and of what users declare that it does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ros2_dyn.control.modes import MONITOR
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime.inputs import ModeRequest, PayloadRequest
from ros2_dyn_tools.campaign.contact_faults import Fault, MakeFault
from ros2_dyn_tools.campaign.world import World


def payload_declared(world: World, rng: np.random.Generator) -> Fault:
    """Declare that the arm carries nothing, where what it carries is light, and then what it carries, with ramps."""
    told = world.declared_payload
    nothing = told._replace(parameters=(0.0,) * 10, ramp_time=float(rng.uniform(0.3, 1.0)))
    right = told._replace(ramp_time=nothing.ramp_time)
    return Fault(lambda: world.tell_payload(nothing), lambda: world.tell_payload(right))


def payload_changed(world: World, rng: np.random.Generator) -> Fault:
    """Declare a payload of up to the arm's mass that it does not carry, with a ramp or at once; then the right one."""
    return _absent_payload(world, rng, (0.1, 0.3, 1.0))


def payload_too_heavy(world: World, rng: np.random.Generator) -> Fault:
    """The same with several times the arm's mass, as with a mass in the wrong unit."""
    return _absent_payload(world, rng, (3.0, 10.0))


def _absent_payload(world: World, rng: np.random.Generator, shares: Sequence[float]) -> Fault:
    mass = float(rng.choice(shares) * sum(each.mass for each in world.description.inertia))
    x, z = rng.uniform(-0.1, 0.1, 2).tolist()
    payload, ramp = Payload(mass, (x, 0.0, z), 0.01 * mass * np.eye(3)), float(rng.choice([0.0, 0.5]))
    link = str(rng.choice(["", *world.description.link_names[2:]]))
    request = PayloadRequest(link, tuple(payload.parameters.tolist()), ramp)
    return Fault(lambda: world.tell_payload(request), lambda: world.tell_payload(world.declared_payload))


@lru_cache(maxsize=256)
def _other_load(arm: RobotModel, bare: RobotModel, mass: float) -> RobotModel:
    """Return the arm without its payload, or, where it carries none, with one of a mass, kg."""
    return bare if arm is not bare else arm.carrying(Payload(mass, (0.0, 0.0, 0.05), link=arm.default_tip))


def load_changed(world: World, rng: np.random.Generator) -> Fault:
    """Let the arm lose what it carries, or take up something that nobody has declared."""
    arm, fraction = world.initial_arm, float(rng.choice([0.05, 0.15]))
    other = _other_load(arm, world.bare_arm, fraction * float(np.max(arm.effort_limit)) / 9.81)
    return Fault(lambda: world.replace_arm(other), lambda: world.replace_arm(arm))


def load_hung(world: World, rng: np.random.Generator) -> Fault:
    """Let the mode be left, and the arm lose or take up a load while it is braked, before its rest is proved."""
    changed, delay = load_changed(world, rng), float(rng.uniform(0.02, 0.2))  # s; nobody could hold it later

    def begin() -> None:
        world.node.input(ModeRequest(MONITOR))
        world.queue.after(delay, changed.begin)

    return Fault(begin, changed.end)


PAYLOAD_FAULTS: dict[str, MakeFault] = {
    "payload declared": payload_declared,
    "payload changed": payload_changed,
    "payload too heavy": payload_too_heavy,
    "load changed": load_changed,
    "load hung": load_hung,
}
"""Kinds of faults by name."""
