# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn campaign`: random faults in random simulated worlds, and whether what was promised of them is kept."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from ros2_dyn.errors import InputError
from ros2_dyn.runtime import black_box_file
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.black_box import RecordingRuntime
from ros2_dyn.runtime.parameter_files import PARAMETERS
from ros2_dyn_tools.campaign.arm_pool import OWN_ARM, UserArm, arm_names, read_user_arm
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


def replay(
    seed: int,
    output: Path,
    console: Console,
    *,
    box: Path | None = None,
    family: str = "",
    user: UserArm | None = None,
) -> None:
    """Play one world again; print what happened without the motion, and draw it; write what its black box holds."""
    played = play_world(seed, 0, RecordingRuntime if box else ArmRuntime, family, user)
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
    parser.add_argument(
        "--arm", type=Path, metavar="ARM.urdf", help="your own arm, in place of those that are installed"
    )
    parser.add_argument("--parameters", type=Path, metavar="ARM.yaml", help=f"with --arm: {PARAMETERS}")
    parser.add_argument("--replay", type=int, metavar="SEED", help="play the world of this seed, print and draw it")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("world.png"),
        help="drawing of --replay, or of the three fastest of your arm",
    )
    parser.add_argument("--box", type=Path, metavar="FILE", help="with --replay: write the node's black box, as MCAP")


def run(arguments: argparse.Namespace) -> None:
    """Play the campaign, with its progress on stderr; print its result as JSON in the last line.

    Raises:
        ModelError: the URDF of the arm is wrong.
        InputError: an argument is out of range, or the arm cannot be used.
    """
    if arguments.workers < 1:
        raise InputError("workers", f"expected a positive number, got {arguments.workers}")
    if arguments.replay is None and arguments.box is not None:
        raise InputError("box", "it is that of one world: give --replay SEED, too")
    if arguments.replay is not None and arguments.replay < 0:
        raise InputError("replay", f"expected a seed that is not negative, got {arguments.replay}")
    console = Console(stderr=True)
    user = _user_arm(arguments)
    if user is None and arm_names() == (OWN_ARM,):
        console.print("example-robot-data is not installed: all worlds have the arm of this package")
    if arguments.replay is not None:
        replay(arguments.replay, arguments.output, Console(), box=arguments.box, family=arguments.family, user=user)
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
            family=arguments.family,
            user=user,
        )
    show(result, console)
    own = [] if user is None else ["--arm", user.urdf, *(["--parameters", user.parameters] if user.parameters else [])]
    again = shlex.join(["python", "-m", "ros2_dyn", "campaign", *own])
    for seed, family in result.failing_worlds[:5]:
        console.print(f"a promise was broken: {again} --replay {seed} --family '{family}'", soft_wrap=True)
    if user is not None:
        _draw_fastest(result, user, arguments.output, console)
    print(json.dumps(result.as_dict()))


def _user_arm(arguments: argparse.Namespace) -> UserArm | None:
    """Return the user's own arm, which can be used; None: there is none.

    Raises:
        ModelError: its URDF is wrong.
        InputError: it cannot be used, or parameters are given without it.
    """
    if arguments.arm is None:
        if arguments.parameters is not None:
            raise InputError("parameters", "they belong to an arm: give --arm ARM.urdf, too")
        return None
    user = UserArm(str(arguments.arm), "" if arguments.parameters is None else str(arguments.parameters))
    read_user_arm(user)
    return user


def _draw_fastest(result: CampaignResult, user: UserArm, output: Path, console: Console) -> None:
    """Draw the three worlds whose tip was fastest, each into a file of its own."""
    for number, (seed, family, speed) in enumerate(result.fastest_worlds, 1):
        path = output.with_stem(f"{output.stem}_{number}")
        draw(play_world(seed, family=family, user=user), path)
        console.print(f"tip {speed:.2f} m/s: world {seed} of '{family}', drawn: {path}", soft_wrap=True)


def show(result: CampaignResult, console: Console) -> None:
    """Print the families as a table: worlds, broken promises, and the worst motions, which nothing excuses."""
    table = Table(title="worst motion of each family", box=SIMPLE, pad_edge=False, collapse_padding=True)
    motions = [f"{motion.split()[0].strip(',')}\n{unit.split()[0]}" for motion, unit in MOTIONS.items()]
    table.add_column("family", no_wrap=True)
    for head in ("faults", "restless\n/stops", "broken", *motions):
        table.add_column(head, justify="right", no_wrap=True)
    for name, part in result.families.items():
        broken = str(sum(part.violations.values()))
        worst = [f"{value:.2f}" for value, _ in part.worst.values()]
        if part.worlds:
            table.add_row(name, str(part.faults), f"{part.restless}/{part.stops}", broken, *worst)
    console.print(table)
    total = result.total
    for promise, count in total.violations.items():
        console.print(f"broken in {count} worlds: {promise}")
    console.print(
        f"{total.commanded_hours:.2f} hours commanded, {total.rests} times rest was looked for, "
        f"{100 * result.unpremised_share:.1f} % of the worlds have no premise"
    )
