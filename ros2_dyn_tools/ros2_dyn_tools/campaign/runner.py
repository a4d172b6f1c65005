# SPDX-License-Identifier: Apache-2.0
"""A campaign: random faults in random worlds, on any executor; the result depends on the seed alone."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.kernels.compile_aside import compiling_aside
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn_tools.campaign.arm_pool import UserArm
from ros2_dyn_tools.campaign.broken import Broken
from ros2_dyn_tools.campaign.families import FAMILIES, UNPREMISED, Family, family_named, family_of
from ros2_dyn_tools.campaign.promise import broken_promises
from ros2_dyn_tools.campaign.promises import judged_rests
from ros2_dyn_tools.campaign.random_world import world_of
from ros2_dyn_tools.campaign.record import MOTIONS, Record, stops, worst_motion
from ros2_dyn_tools.campaign.simulated_node import MakeRuntime
from ros2_dyn_tools.campaign.world import World

WORLDS_PER_TASK = 5
"""Number of worlds that an executor plays in one task."""
COMPILED_FROM = 5000
"""Number of faults from which on it pays to compile kernels to C, where that can be done; the numbers are the same."""


class Played(NamedTuple):
    """A world that has been played."""

    family: Family
    world: World
    record: Record
    broken: list[Broken]


class WorldResult(NamedTuple):
    """The outcome of one world."""

    seed: int
    family: str
    faults: int
    commanded_seconds: float
    rests: int
    """Number of stops and disturbances after which rest was looked for."""
    broken: tuple[str, ...]
    """Names of the promises that were broken."""
    stops: tuple[int, int]
    """Number of stops, and of those after which the arm did not rest, whatever moved it."""
    worst: dict[str, float]
    """Of `MOTIONS`."""


@dataclass
class FamilyResult:
    """The outcome of the worlds of a family."""

    worlds: int = 0
    faults: int = 0
    commanded_hours: float = 0.0
    rests: int = 0
    """Number of stops and disturbances after which rest was looked for."""
    stops: int = 0
    restless: int = 0
    """Number of stops after which the arm did not rest, whatever moved it; see `stops`."""
    violations: dict[str, int] = field(default_factory=dict)
    """Number of worlds that break a promise, by its name."""
    worst: dict[str, tuple[float, int]] = field(default_factory=lambda: dict.fromkeys(MOTIONS, (0.0, 0)))
    """Largest motion in a world, in SI units, and the world's seed; nothing excuses it."""

    def add(self, result: WorldResult) -> None:
        """Add the outcome of a world."""
        self.worlds += 1
        self.faults += result.faults
        self.commanded_hours += result.commanded_seconds / 3600
        self.rests += result.rests
        self.stops += result.stops[0]
        self.restless += result.stops[1]
        self.violations = dict(Counter(self.violations) + Counter(result.broken))
        for name, value in result.worst.items():
            if value > self.worst[name][0]:
                self.worst[name] = (value, result.seed)


@dataclass
class CampaignResult:
    """The outcome of a campaign."""

    seed: int
    families: dict[str, FamilyResult] = field(default_factory=dict)
    failing_worlds: list[tuple[int, str]] = field(default_factory=list)
    """Seeds and families of the worlds that break a promise."""
    fastest_worlds: list[tuple[int, str, float]] = field(default_factory=list)
    """Seeds and families of the three worlds whose tip was fastest, and its speed, m/s."""
    wall_seconds: float = 0.0

    @property
    def total(self) -> FamilyResult:
        """Return the outcome of all families, without motions."""
        parts = self.families.values()
        violations: Counter[str] = Counter()
        for part in parts:
            violations.update(part.violations)
        worlds, faults = sum(part.worlds for part in parts), sum(part.faults for part in parts)
        hours, rests = sum(part.commanded_hours for part in parts), sum(part.rests for part in parts)
        ended, restless = sum(part.stops for part in parts), sum(part.restless for part in parts)
        return FamilyResult(worlds, faults, hours, rests, ended, restless, dict(violations))

    @property
    def unpremised_share(self) -> float:
        """Share of the worlds that no premise covers."""
        return self.families[UNPREMISED].worlds / self.total.worlds if UNPREMISED in self.families else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        total = self.total
        return {
            "seed": self.seed,
            "worlds": total.worlds,
            "faults": total.faults,
            "commanded_hours": round(total.commanded_hours, 4),
            "rests": total.rests,
            "stops": total.stops,
            "restless": total.restless,
            "violations": total.violations,
            "unpremised_share": round(self.unpremised_share, 3),
            "families": {name: asdict(part) for name, part in self.families.items()},
            "failing_worlds": self.failing_worlds,
            "fastest_worlds": self.fastest_worlds,
            "wall_seconds": round(self.wall_seconds, 1),
        }


def play_world(
    seed: int,
    faults: int = 0,
    make_runtime: MakeRuntime = ArmRuntime,
    family: str = "",
    user: UserArm | None = None,
) -> Played:
    """Play a random world with all of its faults.

    Args:
        seed: seed of everything.
        faults: number of faults; 0: those of the family.
        make_runtime: makes the runtime at each start of the node.
        family: name of its family; empty: that of the seed.
        user: the arm; None: one of the pool.

    Raises:
        InputError: there is no such family.
    """
    chosen = family_named(family) if family else family_of(seed)
    world = world_of(chosen, seed, faults, make_runtime, user)
    world.run(world.end)
    record = world.finish()
    return Played(chosen, world, record, broken_promises(chosen.kept_promises(), record, chosen.disturbing))


def play_worlds(
    worlds: Sequence[tuple[int, int]], family: str = "", compiled: bool = False, user: UserArm | None = None
) -> list[WorldResult]:
    """Play worlds given by seed and number of faults; the task of an executor.

    Args:
        worlds: seeds, and numbers of faults.
        family: name of their family; empty: that of each seed.
        compiled: whether kernels are compiled to C, where that can be done.
        user: the arm; None: those of the pool.
    """
    with without_collector(), compiling_aside() if compiled and not why_no_c() else nullcontext():
        return [_result(play_world(seed, faults, family=family, user=user), seed, faults) for seed, faults in worlds]


def _result(played: Played, seed: int, faults: int) -> WorldResult:
    motion = played.record.motion
    commanded = float(np.sum(motion.commander == "node")) * 0.01
    broken = tuple(each.promise for each in played.broken)
    rests = judged_rests(played.record, played.family.disturbing, played.family.rest)
    rested, worst = stops(played.record), worst_motion(played.record)
    ended = len(rested), rested.count(False)
    return WorldResult(seed, played.family.name, faults, commanded, rests, broken, ended, worst)


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


def world_seeds(seed: int, faults: int, family: str = "") -> list[tuple[int, int]]:
    """Return the worlds of a campaign, by seed and number of faults.

    Args:
        seed: seed of the campaign.
        faults: number of faults.
        family: name of the family of all worlds; empty: that of each seed.

    Raises:
        InputError: the number of faults is not positive, the seed is negative, or there is no such family.
    """
    if faults < 1:
        raise InputError("faults", f"expected a positive number, got {faults}")
    if seed < 0:
        raise InputError("seed", f"expected a number that is not negative, got {seed}")
    seeds = np.random.SeedSequence(seed).generate_state(faults, np.uint64) >> np.uint64(11)
    worlds = []
    for each in map(int, seeds):
        size = (family_named(family) if family else family_of(each)).faults_per_world
        worlds.append((each, min(size, faults)))
        faults -= size
        if faults <= 0:
            break
    return worlds


def run_campaign(
    faults: int,
    seed: int,
    executor: Executor,
    progress: Callable[[int], None] = lambda faults: None,
    *,
    family: str = "",
    user: UserArm | None = None,
) -> CampaignResult:
    """Play random faults on an executor.

    Args:
        faults: number of faults.
        seed: seed of the campaign.
        executor: where the worlds are played.
        progress: called with the number of faults of each task that is done.
        family: name of the family to play; empty: all.
        user: the arm; None: those of the pool.

    Raises:
        InputError: the number of faults is not positive, the seed is negative, or there is no such family.
    """
    begun = time.monotonic()
    names = [family] if family else list(FAMILIES)
    worlds = world_seeds(seed, faults, family)
    tasks = [worlds[i : i + WORLDS_PER_TASK] for i in range(0, len(worlds), WORLDS_PER_TASK)]
    compiled = faults >= COMPILED_FROM
    futures = {executor.submit(play_worlds, task, family, compiled, user): i for i, task in enumerate(tasks)}
    parts: list[list[WorldResult]] = [[] for _ in tasks]
    for future in as_completed(futures):
        part = future.result()
        parts[futures[future]] = part
        progress(sum(result.faults for result in part))
    result = CampaignResult(seed, {name: FamilyResult() for name in names})
    everything = [played for part in parts for played in part]
    fastest = sorted(everything, key=lambda each: -each.worst["tip speed"])[:3]
    result.fastest_worlds = [(each.seed, each.family, each.worst["tip speed"]) for each in fastest]
    for played in everything:
        result.families[played.family].add(played)
        if played.broken:
            result.failing_worlds.append((played.seed, played.family))
    result.wall_seconds = time.monotonic() - begun
    return result
