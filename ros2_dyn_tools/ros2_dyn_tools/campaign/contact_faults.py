# SPDX-License-Identifier: Apache-2.0
"""What a fault is, and the faults in which something touches the arm: pushes, hands and walls."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.modes import MODES
from ros2_dyn.control.modes.base import TargetKind
from ros2_dyn.dynamics import forward_kinematics
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.wall import Wall
from ros2_dyn_tools.campaign.world import World


class Fault(NamedTuple):
    """What is done to a world when a fault begins and when it ends."""

    begin: Callable[[], None]
    end: Callable[[], None]


MakeFault = Callable[[World, np.random.Generator], Fault]


def nothing() -> None:
    """Do nothing."""


def unset(world: World, name: str) -> Fault:
    """Return a fault during which an attribute of a world is false."""
    return Fault(lambda: setattr(world, name, False), lambda: setattr(world, name, True))


def repeated(world: World, period: float, act: Callable[[], None], end: Callable[[], None] = nothing) -> Fault:
    """Return a fault that acts once a period, s."""
    active = [True]

    def again() -> None:
        if active:
            act()
            world.queue.after(period, again)

    def stop() -> None:
        active.clear()
        end()

    return Fault(again, stop)


def _drawn_force(world: World, rng: np.random.Generator) -> Array:
    """Return a force in base axes, N, shape (3,)."""
    direction = rng.normal(size=3)
    share = float(rng.uniform(0.1, 0.8))  # of the strongest joint's effort, 1/m
    size = min(share * float(np.max(world.arm_model.effort_limit)), 80.0)
    return size * direction / np.linalg.norm(direction)


def _while_it_lasts(world: World, make: Callable[[], Contact]) -> Fault:
    """Return a contact that is made when the fault begins, and goes when it ends."""
    made: list[Contact] = []

    def begin() -> None:
        made.append(make())
        world.add_contact(made[0])

    return Fault(begin, lambda: world.remove_contact(made[0]))


def pushed(world: World, rng: np.random.Generator) -> Fault:
    """Push a link, for a while or as an impulse."""
    links = [link for link in world.arm_model.link_names if world.arm_model.link_frame(link).body >= 2]
    link, force = links[int(rng.integers(len(links)))], _drawn_force(world, rng)
    profile, duration = str(rng.choice(["impulse", "step", "ramp"])), float(rng.uniform(0.02, 0.8))
    point = tuple(rng.uniform(-0.05, 0.05, 3).tolist())
    return Fault(
        lambda: world.add_contact(AppliedForce(link, force, point, profile, world.now, duration)),
        nothing,
    )


def leaned_on(world: World, rng: np.random.Generator) -> Fault:
    """Push the tip for longer than a stop takes, with the enabling button released."""
    force, tip = _drawn_force(world, rng), world.arm_model.default_tip
    push = _while_it_lasts(world, lambda: AppliedForce(tip, force, start=world.now))

    def begin() -> None:
        push.begin()
        world.pressed = False

    def end() -> None:
        push.end()
        world.pressed = True

    return Fault(begin, end)


def led(world: World, rng: np.random.Generator) -> Fault:
    """Let a hand lead the tip."""
    displacement = tuple(rng.uniform(-0.3, 0.3, 3).tolist())
    duration, hold = float(rng.uniform(0.3, 1.0)), float(rng.uniform(0, 0.3))
    tip, origin = world.arm_model.default_tip, (0.0, 0.0, 0.0)
    return Fault(lambda: world.add_contact(Hand(tip, displacement, origin, world.now, duration, hold)), nothing)


def _wall(
    world: World, *, distance: float, stiffness: float, way: Callable[[], Array], target: TargetKind | None = None
) -> Fault:
    """Return a wall before the tip, towards a way in base axes, (3,), while a mode of a target is wanted."""

    def wall() -> Wall:
        size = np.linalg.norm(way())
        normal = -way() / size if size > 0 else np.array([0.0, 0.0, 1.0])
        origin = world.arm.tip_position() - distance * normal
        return Wall(world.arm_model.default_tip, origin.tolist(), normal.tolist(), stiffness=stiffness)

    touching = _while_it_lasts(world, wall)

    def begin() -> None:
        touching.begin()
        if target:
            needs = {name: mode.needs for name, mode in MODES.items()}
            world.want_mode(next(name for name, n in needs.items() if target in (n.target, *n.may_follow)))

    return Fault(begin, touching.end)


def walled(world: World, rng: np.random.Generator) -> Fault:
    """Put a wall near the tip, and take it away."""
    direction, distance = rng.normal(size=3), float(rng.uniform(-2e-3, 0.03))
    return _wall(world, distance=distance, stiffness=2e4, way=lambda: direction)


def wall_pressed(world: World, rng: np.random.Generator) -> Fault:
    """Put a stiff wall where the desired force points, while a mode that exerts it is wanted."""
    distance, stiffness = float(rng.uniform(1e-3, 0.01)), float(10 ** rng.uniform(3.5, 4.7))
    return _wall(
        world, distance=distance, stiffness=stiffness, way=lambda: world.targets.force(world.now), target="wrench"
    )


def spring_blocked(world: World, rng: np.random.Generator) -> Fault:
    """Put a stiff wall where the desired pose is, while a mode that follows it is wanted."""
    distance, stiffness = float(rng.uniform(1e-3, 0.01)), float(10 ** rng.uniform(3.5, 4.7))

    def way() -> Array:
        tip = world.options.settings.robot.tip_link or None
        return world.targets.way_to_pose(world.now, forward_kinematics(world.arm_model, world.arm.q, tip))

    return _wall(world, distance=distance, stiffness=stiffness, way=way, target="pose")


CONTACT_FAULTS: dict[str, MakeFault] = {
    "arm pushed": pushed,
    "arm leaned on": leaned_on,
    "arm led": led,
    "wall": walled,
    "wall pressed": wall_pressed,
    "spring blocked": spring_blocked,
}
"""Faults in which something touches the arm, by name."""
