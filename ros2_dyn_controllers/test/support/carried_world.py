# SPDX-License-Identifier: Apache-2.0
"""Worlds in which the compiled GravityController carries the arm, and the node adds to it; or as it was without."""

from __future__ import annotations

import argparse
import ctypes
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

from compiled import build
from held_arm import Holder
from ros2_dyn.kernels.make_tape import make_tape
from ros2_dyn.simulation.controllers import EFFORT, Controllers, gains_of_inertia
from ros2_dyn.simulation.simulated_arm import HeldEffort
from ros2_dyn_tools.campaign.broken import worst
from ros2_dyn_tools.campaign.commander_faults import COMMAND_PERIOD
from ros2_dyn_tools.campaign.contact_faults import Fault, nothing, repeated
from ros2_dyn_tools.campaign.families import Family
from ros2_dyn_tools.campaign.faults import FAULTS
from ros2_dyn_tools.campaign.promise import Disturbances, Promise, broken_promises
from ros2_dyn_tools.campaign.random_world import world_of
from ros2_dyn_tools.campaign.record import worst_motion
from ros2_dyn_tools.campaign.world import World

PERIOD = 2e-3
"""Of the controller manager, s."""
REST_TIME, REST_SPEED = 1.5, 0.05
"""From this time after the last command on joints are slower, s and rad/s or m/s."""
SPEED_FACTOR = 1.6
"""No joint is faster than this many times its velocity limit."""


def everything_dies(world, rng):
    """Kill the node and, where it has one, its failsafe process, for a while."""

    def kill():
        world.node.quality = replace(world.node.quality, restart_time=2.0)  # longer than rest takes
        world.node.lose_failsafe()
        world.node.kill()

    return Fault(kill, nothing)


def references_jump(world, rng):
    """Let another program command efforts of up to the limits, or what is no number, again and again."""
    data = world.as_data(rng.uniform(-1.0, 1.0, world.description.n) * world.description.effort_limit)
    if rng.random() < 0.2:
        data[rng.integers(len(data))] = np.nan
    return repeated(world, COMMAND_PERIOD, lambda: world.send_command(data))


OWN_FAULTS = {"everything dies": everything_dies, "references jump": references_jump}


def _check_held(record, disturbing):
    motion, commands = record.motion, record.commands
    last = np.searchsorted(commands.t, motion.t, side="right") - 1
    moved = np.where(last < 0, 0.0, commands.t[np.maximum(last, 0)]) if len(commands.t) else np.zeros(len(motion.t))
    for t in record.times("placed home"):
        moved = np.where(motion.t >= t, np.maximum(moved, t), moved)
    for begin, end, kind in record.faults():
        if kind in disturbing.during:
            moved = np.where(motion.t >= begin, np.maximum(moved, np.minimum(motion.t, end)), moved)
    late = motion.t - moved > REST_TIME
    yield from worst(record, motion.t, np.where(late[:, None], np.abs(motion.qd), 0.0), REST_SPEED)


def _check_speed(record, disturbing):
    share = np.abs(record.motion.qd) / record.declared.velocity_limit
    yield from worst(record, record.motion.t, share, SPEED_FACTOR)


held = Promise("held", "from 1.5 s after the last command on joints are slower than 0.05 rad/s", _check_held)
no_runaway = Promise("no runaway", "no joint is faster than 1.6 times its velocity limit", _check_speed)

COMMON = {"share": 0.0, "promises": (held, no_runaway), "rest": 0.0, "variants": (0, 2)}
FAMILIES = {
    family.name: family
    for family in (
        Family(
            "python dies",
            faults=("everything dies",),
            gaps=(2.2, 3.0),
            faults_per_world=6,
            **COMMON,
        ),
        Family(
            "node dies",
            faults=("node killed", "node terminated", "node hangs", "node stopped", "interpreter held"),
            gaps=(0.6, 1.5),
            faults_per_world=8,
            **COMMON,
        ),
        Family(
            "states late",
            faults=("states late", "states lost", "commands late", "commands lost", "clocks jump"),
            gaps=(1.5, 2.5),
            faults_per_world=10,
            **COMMON,
        ),
        Family(
            "references jump",
            faults=("references jump",),
            disturbing=Disturbances(("references jump",)),
            gaps=(0.1, 2.0),
            faults_per_world=10,
            **COMMON,
        ),
    )
}


@lru_cache(maxsize=1)
def library():
    """Return the compiled holder."""
    with TemporaryDirectory() as folder:
        return ctypes.CDLL(str(build("holder_library.cpp", Path(folder) / "holder.so", "-O2", "-fPIC", "-shared")))


@lru_cache(maxsize=64)
def tape_of(description):
    """Return the bytes of a robot's tape."""
    return make_tape(description).to_bytes()


class CarryingControllers(Controllers):
    """The controllers of a world, of which the one for efforts is a GravityController."""

    def __init__(self, world, settings):
        super().__init__(world.arm, *gains_of_inertia(world.arm_model, world.home))
        self._world, self._rng = world, np.random.default_rng([world.seed, 3])
        self._holder = Holder(library(), tape_of(world.description), settings)
        self._to_arm = [world.description.joint_names.index(name) for name in world.arm_model.joint_names]
        self._given, self._given_at = None, 0.0
        self.switch(EFFORT)

    def command(self, efforts):
        """Take efforts beyond gravity, in the arm's order."""
        self._require(EFFORT)
        self._given, self._given_at = np.array(efforts), self._world.now

    def carry(self):
        """Command the efforts of a tick."""
        world, arm = self._world, self.arm
        if self.active != EFFORT:
            return
        quality, order = world.options.driver, world.in_description_order
        q = order(arm.q + self._rng.normal(0.0, quality.position_noise, len(arm.q)))
        qd = order(arm.qd + self._rng.normal(0.0, quality.velocity_noise, len(arm.q)))
        effort = None if self._given is None else order(self._given)
        _, efforts = self._holder.update(PERIOD, q, qd, effort, age=world.now - self._given_at)
        arm.law = HeldEffort(efforts[self._to_arm], arm.model.effort_limit)

    def _activate(self, name):
        super()._activate(name)
        self._given = None
        self._holder.reset()


class CarriedWorld(World):
    """A world whose node sends what is beyond gravity, and nothing after a stop."""

    def __init__(self, seed, arm, home, options, description, *, holder=None, **more):
        """Create it; `holder`: settings of the controller; None: its defaults."""
        values = {"command_effort": "gravity_compensated", "stop_behaviour": "none"}
        settings = options.settings.with_values({"commands": values, "states": {"measured_effort": "raw"}})
        self._holder_settings = holder
        super().__init__(seed, arm, home, replace(options, settings=settings), description, **more)
        self.queue.every(PERIOD, self._carry)

    def _make_arm(self, arm, contacts):
        super()._make_arm(arm, contacts)
        self.controllers = CarryingControllers(self, self._holder_settings)

    def _carry(self):
        self.advance()
        self.controllers.carry()


def play(family, seed, faults=0, make_world=CarriedWorld):
    """Play a world; return its record, and the promises that it breaks.

    `World`: a forward_command_controller holds the last command for ever; `CarriedWorld`, also with `holder`: the
    GravityController carries the arm.
    """
    with patch.dict(FAULTS, OWN_FAULTS):
        world = world_of(family, seed, faults, make_world=make_world)
        world.run(world.end)
    record = world.finish()
    return record, [each.promise for each in broken_promises(family.kept_promises(), record, family.disturbing)]


def _figures(name, make_world, seed):
    record, broken = play(FAMILIES[name], seed, make_world=make_world)
    return seed, broken, worst_motion(record)


def main():
    """Play worlds of each family with the arm carried, and as it was; print promises that were broken, and motions."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--faults", type=int, default=1000, help="of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as executor:
        for name, family in FAMILIES.items():
            count = given.faults // family.faults_per_world
            seeds = np.random.SeedSequence(given.seed).generate_state(count, np.uint64) >> np.uint64(11)
            for make_world in (CarriedWorld, World):
                played = list(executor.map(partial(_figures, name, make_world), map(int, seeds), chunksize=4))
                broken = [(seed, *each) for seed, each, _ in played if each]
                worst = {motion: max(each[motion] for *_, each in played) for motion in played[0][2]}
                figures = ", ".join(f"{motion} {value:.2f}" for motion, value in worst.items())
                print(
                    f"{name}, {make_world.__name__}: {count * family.faults_per_world} faults, {len(broken)} of "
                    f"{count} worlds break a promise; {figures}; {broken[:3]}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
