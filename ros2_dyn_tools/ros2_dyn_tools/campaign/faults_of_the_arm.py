# SPDX-License-Identifier: Apache-2.0
"""Faults of the arm: its load, its wiring, and what pushes, leads or blocks it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ros2_dyn.control.modes import MODES
from ros2_dyn.control.modes.base import Target
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.wall import Wall
from ros2_dyn_tools.campaign.fault import Fault, nothing
from ros2_dyn_tools.campaign.world import World


@lru_cache(maxsize=256)
def _other_load(arm: RobotModel, bare: RobotModel, mass: float) -> RobotModel:
    """Return the arm without its payload, or, where it carries none, with one of a mass, kg."""
    return bare if arm is not bare else arm.carrying(Payload(mass, (0.0, 0.0, 0.05), link=arm.default_tip))


def load_changed(world: World, rng: np.random.Generator) -> Fault:
    """Let the arm lose what it carries, or take up something that nobody has declared."""
    arm, fraction = world.initial_arm, float(rng.choice([0.05, 0.15]))
    other = _other_load(arm, world.bare_arm, fraction * float(np.max(arm.effort_limit)) / 9.81)
    return Fault(lambda: world.replace_arm(other), lambda: world.replace_arm(arm))


def _miswiring(world: World, wiring: list[tuple[int, float]]) -> Fault:
    return Fault(lambda: world.miswire(wiring, True), lambda: world.miswire(wiring, False))


def joint_sign(world: World, rng: np.random.Generator) -> Fault:
    """Turn the sign of one joint's commands over."""
    joint = int(rng.integers(world.arm_model.n))
    return _miswiring(world, [(i, -1.0 if i == joint else 1.0) for i in range(world.arm_model.n)])


def joints_swapped(world: World, rng: np.random.Generator) -> Fault:
    """Let two joints get each other's commands, as with a wrong order of `command_joints`."""
    a, b = rng.choice(world.arm_model.n, 2, replace=False).tolist()
    other = {a: b, b: a}
    return _miswiring(world, [(other.get(i, i), 1.0) for i in range(world.arm_model.n)])


# ---- the surroundings


def pushed(world: World, rng: np.random.Generator) -> Fault:
    """Push a link, for a while or as an impulse."""
    links = [link for link in world.arm_model.link_names if world.arm_model.link_frame(link).body >= 2]
    link = links[int(rng.integers(len(links)))]
    direction = rng.normal(size=3)
    force = rng.uniform(5, 80) * direction / np.linalg.norm(direction)
    profile, duration = str(rng.choice(["impulse", "step", "ramp"])), float(rng.uniform(0.02, 0.4))
    point = tuple(rng.uniform(-0.05, 0.05, 3).tolist())

    def begin() -> None:
        world.add_contact(AppliedForce(link, force, point, profile, world.now, duration))

    return Fault(begin, nothing)


def led(world: World, rng: np.random.Generator) -> Fault:
    """Let a hand lead the tip."""
    displacement = tuple(rng.uniform(-0.2, 0.2, 3).tolist())
    duration, hold = float(rng.uniform(0.3, 1.0)), float(rng.uniform(0, 0.3))

    def begin() -> None:
        world.add_contact(Hand(world.arm_model.default_tip, displacement, (0.0, 0.0, 0.0), world.now, duration, hold))

    return Fault(begin, nothing)


def walled(world: World, rng: np.random.Generator) -> Fault:
    """Put a wall near the tip, and take it away."""
    direction = rng.normal(size=3)
    normal, distance = direction / np.linalg.norm(direction), float(rng.uniform(-0.002, 0.03))
    walls: list[Wall] = []

    def begin() -> None:
        origin = world.arm.tip_position() - distance * normal
        walls.append(Wall(world.arm_model.default_tip, origin.tolist(), normal.tolist(), stiffness=2e4))
        world.add_contact(walls[0])

    return Fault(begin, lambda: world.remove_contact(walls[0]))


def wall_pressed(world: World, rng: np.random.Generator) -> Fault:
    """Put a stiff wall where the desired force points, while a mode that exerts it is wanted."""
    return _blocked(world, rng, "wrench", lambda: world.targets.force(world.now))


def spring_blocked(world: World, rng: np.random.Generator) -> Fault:
    """Put a stiff wall where the desired pose is, while a mode that follows it is wanted."""
    return _blocked(world, rng, "pose", world.way_to_pose)


def _blocked(world: World, rng: np.random.Generator, target: Target, direction: Callable[[], Array]) -> Fault:
    """Put a stiff wall before the tip in a direction in base axes, (3,), while a mode of a target is wanted."""
    distance, stiffness = float(rng.uniform(1e-3, 0.01)), float(10 ** rng.uniform(3.5, 4.7))
    walls: list[Wall] = []

    def begin() -> None:
        way = direction()
        size = np.linalg.norm(way)
        normal = -way / size if size > 0 else np.array([0.0, 0.0, 1.0])
        origin = world.arm.tip_position() - distance * normal
        walls.append(Wall(world.arm_model.default_tip, origin.tolist(), normal.tolist(), stiffness=stiffness))
        world.add_contact(walls[0])
        world.want_mode(next(name for name, mode in MODES.items() if target in mode.needs.follows))

    return Fault(begin, lambda: world.remove_contact(walls[0]))
