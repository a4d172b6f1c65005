# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn campaign`: random faults in random simulated worlds, and whether what was promised of them is kept."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from ros2_dyn.errors import InputError
from ros2_dyn.runtime import black_box_file
from ros2_dyn.runtime.black_box import RecordingRuntime
from ros2_dyn_tools.campaign.arm_pool import OWN_ARM, arm_names
from ros2_dyn_tools.campaign.drawing import draw
from ros2_dyn_tools.campaign.families import FAMILIES
from ros2_dyn_tools.campaign.record import MOTIONS, worst_motion
from ros2_dyn_tools.campaign.runner import CampaignResult, Played, play_world, run_campaign
from ros2_dyn_tools.campaign.world import World

DONE = "{task.completed:.0f}/{task.total:.0f}"
"""As MofNCompleteColumn shows it, which Rich of Ubuntu 22.04 lacks."""


def describe_violations(played: Played) -> Iterator[str]:
    """Yield a line for each promise that was broken: time, promise, figures, mode and the faults that were active."""
    record = played.record
    for broken in played.broken:
        modes = [e.details[0] for e in record.events if e.kind == "mode" and e.t <= broken.t]
        spans = record.faults()
        active = [kind for begin, end, kind in spans if begin <= broken.t <= end]
        yield (
            f"{broken.t:9.4f} broken: {broken.promise}: '{broken.joint}' {broken.value:.3g}, {broken.allowed:.3g} "
            f"promised; mode '{modes[-1] if modes else ''}'; faults: {', '.join(active) or 'none'}"
        )


def replay(seed: int, output: Path, console: Console, box: Path | None = None, family: str = "") -> None:
    """Play one world again; print what happened without the motion, and draw it; write what its black box holds."""
    played = play_world(seed, 0, RecordingRuntime, family) if box else play_world(seed, family=family)
    if box:
        _write_box(played.world, box)
    console.print(f"family '{played.family.name}': {played.family.premise}", markup=False, soft_wrap=True)
    for time_ns, kind, *details in played.world.records:
        text = " ".join(f"{x:.4f}" if isinstance(x, float) else str(x) for x in details)
        console.print(f"{1e-9 * time_ns:9.4f} {kind}: {text}", markup=False, highlight=False, soft_wrap=True)
    worst = worst_motion(played.record)
    console.print("worst: " + ", ".join(f"{name} {worst[name]:.3g} {unit}" for name, unit in MOTIONS.items()))
    for line in describe_violations(played):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    draw(played, output)
    console.print(f"drawn: {output}", soft_wrap=True)
    broken = [each.promise for each in played.broken]
    print(json.dumps({"seed": seed, "family": played.family.name, "violations": broken, "worst": worst}))


def _write_box(world: World, path: Path) -> None:
    """Write what the black box of the node that was started last holds at the end.

    Raises:
        InputError: mcap is not installed, or the node is dead.
        OSError: the file cannot be written.
    """
    runtime = world.node.runtime
    recording = runtime.box.take("the world ends", world.now) if isinstance(runtime, RecordingRuntime) else None
    if recording is None:
        raise InputError("box", "the node is dead at the end of this world")
    black_box_file.write(recording, path)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--faults", type=int, default=1000, help="number of faults; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="seed of the campaign; default: %(default)s")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes; default: %(default)s")
    parser.add_argument("--family", default="", choices=("", *FAMILIES), help="play worlds of this family only")
    parser.add_argument("--replay", type=int, metavar="SEED", help="play the world of this seed, print and draw it")
    parser.add_argument("--output", type=Path, default=Path("world.png"), help="drawing of --replay")
    parser.add_argument("--box", type=Path, metavar="FILE", help="with --replay: write the node's black box, as MCAP")


def run(arguments: argparse.Namespace) -> None:
    """Play the campaign, with its progress on stderr; print its result as JSON in the last line.

    Raises:
        InputError: an argument is out of range.
    """
    if arguments.workers < 1:
        raise InputError("workers", f"expected a positive number, got {arguments.workers}")
    console = Console(stderr=True)
    arms = arm_names()
    if arms == (OWN_ARM,):
        console.print("example-robot-data is not installed: all worlds have the arm of this package")
    if arguments.replay is not None:
        replay(arguments.replay, arguments.output, Console(), arguments.box, arguments.family)
        return
    columns = TextColumn("faults"), BarColumn(), TextColumn(DONE), TimeElapsedColumn(), TimeRemainingColumn()
    progress = Progress(*columns, console=console, refresh_per_second=2)  # each time takes 5 ms, also into a file
    # not forked: a process that has threads, as of BLAS or JAX, may leave a child with a lock that nobody frees
    with ProcessPoolExecutor(arguments.workers, get_context("spawn")) as executor, progress as bar:
        task = bar.add_task("faults", total=arguments.faults)
        result = run_campaign(
            arguments.faults,
            arguments.seed,
            executor,
            lambda faults: bar.update(task, advance=faults),
            arguments.family,
        )
    show(result, console)
    for seed, family in result.failing_worlds[:5]:
        console.print(f"a promise was broken: python -m ros2_dyn campaign --replay {seed} --family '{family}'")
    print(json.dumps(result.as_dict()))


def show(result: CampaignResult, console: Console) -> None:
    """Print the families as a table: premise, violations, and the worst motions with their seeds."""
    for name in result.families:
        console.print(f"{name}: {FAMILIES[name].premise}", markup=False, highlight=False)
    table = Table("family", "worlds", "faults", "hours", "rests", "violations", title="worst motion: figure (seed)")
    for motion, unit in MOTIONS.items():
        table.add_column(f"{motion}, {unit}")
    for name, part in result.families.items():
        broken = ", ".join(f"{count} {promise}" for promise, count in part.violations.items()) or "0"
        worst = [f"{value:.3g} ({seed})" for value, seed in part.worst.values()]
        table.add_row(
            name, str(part.worlds), str(part.faults), f"{part.commanded_hours:.2f}", str(part.rests), broken, *worst
        )
    console.print(table)
    console.print(f"{100 * result.unpremised_share:.1f} % of the worlds have no premise")
