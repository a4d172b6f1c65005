# SPDX-License-Identifier: Apache-2.0
"""A campaign: random faults in random worlds, on any executor; the result depends on the seed alone."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.kernels.compile_aside import compiling_aside
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.simulation.simulated_node import MakeRuntime
from ros2_dyn_tools.campaign.command_judge import RULES
from ros2_dyn_tools.campaign.motion_rules import MOTION_RULES
from ros2_dyn_tools.campaign.random_world import FAULTS_PER_WORLD, random_world
from ros2_dyn_tools.campaign.world import CRASH, World

WORLDS_PER_TASK = 5
"""Number of worlds that an executor plays in one task."""
COMPILED_FROM = 5000
"""Number of faults from which on it pays to compile kernels to C, where that can be done; the numbers are the same."""
KINDS = (*RULES, *MOTION_RULES, CRASH)
"""Kinds of violations."""


class WorldResult(NamedTuple):
    """The outcome of one world."""

    seed: int
    faults: int
    commanded_seconds: float
    judged_stops: int
    violations: dict[str, int]
    """Number by kind; kinds that did not occur are left out."""


@dataclass
class CampaignResult:
    """The outcome of a campaign."""

    seed: int
    faults: int = 0
    commanded_seconds: float = 0.0
    judged_stops: int = 0
    """Number of stops after which the arm was judged until it rested."""
    violations: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    failing_seeds: list[int] = field(default_factory=list)
    """Seeds of the worlds with a violation, for `random_world`."""
    wall_seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "seed": self.seed,
            "faults": self.faults,
            "commanded_seconds": round(self.commanded_seconds, 2),
            "judged_stops": self.judged_stops,
            "violations": self.violations,
            "failing_seeds": self.failing_seeds,
            "wall_seconds": round(self.wall_seconds, 1),
        }


def play_world(seed: int, faults: int = FAULTS_PER_WORLD, make_runtime: MakeRuntime = ArmRuntime) -> World:
    """Return a random world after all of its faults."""
    world = random_world(seed, faults, make_runtime)
    world.run(world.end)
    return world


def play_worlds(worlds: list[tuple[int, int]], compiled: bool = False) -> list[WorldResult]:
    """Play worlds given by seed and number of faults; the task of an executor.

    Args:
        worlds: seeds, and numbers of faults.
        compiled: whether kernels are compiled to C, where that can be done.
    """
    with without_collector(), compiling_aside() if compiled and not why_no_c() else nullcontext():
        return [_result(play_world(seed, faults), seed, faults) for seed, faults in worlds]


def _result(world: World, seed: int, faults: int) -> WorldResult:
    return WorldResult(seed, faults, world.commanded_seconds, world.motion_judge.judged_stops, dict(world.violations))


@contextmanager
def without_collector() -> Iterator[None]:
    """Hold the collector of cycles: it would look through kernels and models again and again, a sixth of the time."""
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def world_seeds(seed: int, faults: int) -> list[tuple[int, int]]:
    """Return the worlds of a campaign, by seed and number of faults.

    Raises:
        InputError: the number of faults is not positive, or the seed is negative.
    """
    if faults < 1:
        raise InputError("faults", f"expected a positive number, got {faults}")
    if seed < 0:
        raise InputError("seed", f"expected a number that is not negative, got {seed}")
    count = -(-faults // FAULTS_PER_WORLD)
    seeds = (np.random.SeedSequence(seed).generate_state(count, np.uint64) >> np.uint64(11)).tolist()
    sizes = [FAULTS_PER_WORLD] * (count - 1) + [faults - FAULTS_PER_WORLD * (count - 1)]
    return list(zip(seeds, sizes))


def run_campaign(
    faults: int, seed: int, executor: Executor, progress: Callable[[int], None] = lambda faults: None
) -> CampaignResult:
    """Play random faults on an executor.

    Args:
        faults: number of faults.
        seed: seed of the campaign.
        executor: where the worlds are played.
        progress: called with the number of faults of each task that is done.

    Raises:
        InputError: the number of faults is not positive, or the seed is negative.
    """
    begun = time.monotonic()
    worlds = world_seeds(seed, faults)
    tasks = [worlds[i : i + WORLDS_PER_TASK] for i in range(0, len(worlds), WORLDS_PER_TASK)]
    futures = {executor.submit(play_worlds, task, faults >= COMPILED_FROM): i for i, task in enumerate(tasks)}
    parts: list[list[WorldResult]] = [[] for _ in tasks]
    for future in as_completed(futures):
        part = future.result()
        parts[futures[future]] = part
        progress(sum(result.faults for result in part))
    result = CampaignResult(seed)
    total: Counter[str] = Counter()
    for played in (played for part in parts for played in part):
        result.faults += played.faults
        result.commanded_seconds += played.commanded_seconds
        result.judged_stops += played.judged_stops
        total.update(played.violations)
        if played.violations:
            result.failing_seeds.append(played.seed)
    result.violations.update(total)
    result.wall_seconds = time.monotonic() - begun
    return result
