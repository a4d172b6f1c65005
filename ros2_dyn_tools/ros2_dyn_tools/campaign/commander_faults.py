# SPDX-License-Identifier: Apache-2.0
"""Faults of the way of the commands: nobody takes them, another controller is active, or another node commands."""

from __future__ import annotations

import numpy as np

from ros2_dyn.dynamics import gravity
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.controllers import EFFORT, TRAJECTORY, OwnGravity
from ros2_dyn.simulation.interpolated_trajectory import Waypoint
from ros2_dyn_tools.campaign.contact_faults import Fault, MakeFault, led, repeated, unset
from ros2_dyn_tools.campaign.world import World

COMMAND_PERIOD = 0.01
"""Period of another node's commands, s."""
FREEDRIVE_DAMPING = 0.02
"""Damping of a joint that its own controller lets be led, times its effort limit, s/rad or s/m."""


def subscriber_lost(world: World, rng: np.random.Generator) -> Fault:
    """Take the controller off the command topic."""

    def listen(listens: bool) -> None:
        world.listening = listens
        world.node.set_link(subscribers=int(listens))

    return Fault(lambda: listen(False), lambda: listen(True))


def controller_inactive(world: World, rng: np.random.Generator) -> Fault:
    """Deactivate the controller; the drives hold their last efforts, and its subscription stays."""
    return unset(world, "listening")


def controller_switched(world: World, rng: np.random.Generator) -> Fault:
    """Deactivate the effort controller; another one holds the arm."""
    return Fault(lambda: world.switch_controller(False), lambda: world.switch_controller(True))


def controller_moves(world: World, rng: np.random.Generator) -> Fault:
    """Deactivate the effort controller; the trajectory controller moves the arm, by up to half a radian."""
    way, duration = rng.uniform(-0.5, 0.5, world.arm_model.n), float(rng.uniform(0.8, 1.6))
    return Fault(lambda: move_by_another(world, way, duration), lambda: world.switch_controller(True))


class Weightless:
    """The law of an arm in freedrive: its own controller carries its weight, and damps it a little."""

    uses_dynamics = False

    def __init__(self, arm: RobotModel) -> None:
        """Carry an arm."""
        self._weight = OwnGravity(arm, arm.joint_names)
        self.damping = FREEDRIVE_DAMPING * arm.effort_limit

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        return self._weight(q) - self.damping * qd


def freedrive(world: World, rng: np.random.Generator) -> Fault:
    """Let the robot's own controller carry the arm, while a hand leads its tip and commands are not taken."""
    hand = led(world, rng)

    def begin() -> None:
        if world.controllers.active == EFFORT:
            world.advance()
            world.arm.law, world.listening = Weightless(world.arm_model), False
            hand.begin()

    def end() -> None:
        world.listening = True
        if world.controllers.active == EFFORT:
            world.advance()
            world.controllers.restart()

    return Fault(begin, end)


def move_by_another(world: World, way: Array, duration: float) -> None:
    """Let the trajectory controller move the arm by a way, rad or m, (n,), within its limits in a time, s."""
    world.switch_controller(False)
    if world.controllers.active == TRAJECTORY:
        start, zeros = world.arm.q, np.zeros_like(way)
        end = np.clip(start + way, world.arm_model.lower, world.arm_model.upper)
        world.controllers.follow([Waypoint(0.01, start, zeros, zeros), Waypoint(duration, end, zeros, zeros)])


def second_commander(world: World, rng: np.random.Generator) -> Fault:
    """Let another node command zero efforts."""
    zeros = np.zeros(world.arm_model.n)
    commands = repeated(world, COMMAND_PERIOD, lambda: world.send_command(world.as_data(zeros)))

    def begin() -> None:
        world.node.set_link(other_publishers=("intruder",))
        commands.begin()

    def end() -> None:
        commands.end()
        world.node.set_link(other_publishers=())

    return Fault(begin, end)


def twin_commander(world: World, rng: np.random.Generator) -> Fault:
    """Let a second node of the same name command: the efforts that the arm needed when it began."""
    weight = gravity(world.description, world.in_description_order(world.arm.q))
    data = world.as_data(weight)
    return repeated(world, COMMAND_PERIOD, lambda: world.send_command(data))


COMMANDER_FAULTS: dict[str, MakeFault] = {
    "subscriber lost": subscriber_lost,
    "controller switched": controller_switched,
    "controller inactive": controller_inactive,
    "controller moves": controller_moves,
    "freedrive": freedrive,
    "second commander": second_commander,
    "twin commander": twin_commander,
}
"""All kinds of them by name."""
