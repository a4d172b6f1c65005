# SPDX-License-Identifier: Apache-2.0
"""Faults of processes: of the node, its failsafe process and the controller, and other nodes that command."""

from __future__ import annotations

import numpy as np

from ros2_dyn_tools.campaign.fault import Fault, nothing, suspending
from ros2_dyn_tools.campaign.world import World


def node_killed(world: World, rng: np.random.Generator) -> Fault:
    """Kill the node; it is started again after a while."""
    return Fault(world.node.kill, nothing)


def node_terminated(world: World, rng: np.random.Generator) -> Fault:
    """End the node and its failsafe process in order; the node is started again after a while."""
    return Fault(world.node.terminate, nothing)


def node_hangs(world: World, rng: np.random.Generator) -> Fault:
    """Let the node hang; until it is replaced nothing follows the states."""

    def begin() -> None:
        world.blind_for(world.options.settings.states.timeout)
        world.node.hang()

    return Fault(begin, world.node.resume)


def failsafe_killed(world: World, rng: np.random.Generator) -> Fault:
    """Kill the failsafe process."""
    return Fault(world.node.lose_failsafe, nothing)


def subscriber_lost(world: World, rng: np.random.Generator) -> Fault:
    """Take the controller off the command topic."""

    def listen(listens: bool) -> None:
        world.listening = listens
        world.node.set_link(subscribers=int(listens))

    return suspending(world, "not listening", Fault(lambda: listen(False), lambda: listen(True)))


def controller_inactive(world: World, rng: np.random.Generator) -> Fault:
    """Deactivate the controller; the drives hold their last efforts, and its subscription stays."""

    def listen(listens: bool) -> None:
        world.listening = listens

    return suspending(world, "controller inactive", Fault(lambda: listen(False), lambda: listen(True)))


def controller_switched(world: World, rng: np.random.Generator) -> Fault:
    """Deactivate the effort controller; another one holds the arm."""
    return Fault(lambda: world.switch_controller(False), lambda: world.switch_controller(True))


def second_commander(world: World, rng: np.random.Generator) -> Fault:
    """Let another node command zero efforts at 100 Hz."""
    active = [True]

    def command() -> None:
        if active:
            world.send_command(world.as_data(np.zeros(world.arm_model.n)))
            world.queue.after(0.01, command)

    def begin() -> None:
        world.node.set_link(other_publishers=("intruder",))
        command()

    def end() -> None:
        active.clear()
        world.node.set_link(other_publishers=())

    return suspending(world, "second commander", Fault(begin, end))


def twin_commander(world: World, rng: np.random.Generator) -> Fault:
    """Let a second node of the same name command: the efforts that the arm needed when it began."""
    active = [True]
    data = world.as_data(np.array(world.truth.gravities(world.arm.q.tolist())[0]))

    def command() -> None:
        if active:
            world.send_command(data)
            world.queue.after(0.01, command)

    return suspending(world, "twin commander", Fault(command, active.clear))
