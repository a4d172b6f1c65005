# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn campaign`: random faults in random simulated worlds, and whether command or motion breaks a rule."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ros2_dyn.control.modes import MODES, STOPPED
from ros2_dyn.errors import InputError
from ros2_dyn.runtime import black_box_file
from ros2_dyn.runtime.black_box import RecordingRuntime
from ros2_dyn_tools.campaign.arm_pool import OWN_ARM, arm_names
from ros2_dyn_tools.campaign.runner import play_world, run_campaign
from ros2_dyn_tools.campaign.world import World

MODE_COLORS = ("tab:blue", "tab:purple", "tab:green", "tab:cyan", "tab:olive", "tab:brown", "tab:pink")
"""Colours of the modes in a drawing, in the order of their names; then from the beginning."""
STOPPED_COLOR = "tab:red"
DONE = "{task.completed:.0f}/{task.total:.0f}"
"""As MofNCompleteColumn shows it, which Rich of Ubuntu 22.04 lacks."""


@contextmanager
def open_executor(workers: int, scheduler: str) -> Iterator[Executor]:
    """Yield an executor: of local processes, or of the Dask cluster of a scheduler.

    Args:
        workers: number of local processes.
        scheduler: address of a Dask scheduler; empty: local processes.

    Raises:
        InputError: Dask is not installed, or the scheduler does not answer.
    """
    if not scheduler:
        with ProcessPoolExecutor(workers) as executor:
            yield executor
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("scheduler", "Dask is not installed: pip install 'ros2_dyn[cluster]'") from None
    try:
        client = Client(scheduler, timeout=30)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError("scheduler", f"no Dask scheduler answers at '{scheduler}': {error}") from error
    with client, client.get_executor(pure=False) as executor:
        yield executor


def draw(world: World, path: Path) -> None:
    """Draw the timeline of a world: commands, positions, speed and contact force, with modes, faults and violations."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n = world.arm_model.n
    arm = np.array([[1e-9 * r[0], *r[2:]] for r in world.records if r[1] == "arm"])
    commands = np.array([[1e-9 * r[0], *r[2:]] for r in world.records if r[1] in ("command", "failsafe command")])
    figure, axes = plt.subplots(4, 1, sharex=True, figsize=(14, 11), layout="constrained")
    limit = world.options.settings.commands.effort_scale * world.description.effort_limit
    for i, name in enumerate(world.description.joint_names):
        if len(commands):
            axes[0].plot(commands[:, 0], commands[:, 1 + i] / limit[i], ".", markersize=2, label=name)
    for i, name in enumerate(world.arm_model.joint_names):
        axes[1].plot(arm[:, 0], arm[:, 1 + i], linewidth=0.8, label=name)
    axes[2].plot(arm[:, 0], arm[:, 1 + n], linewidth=0.8, label="joint speed / limit")
    axes[2].plot(arm[:, 0], arm[:, 2 + n], linewidth=0.8, label="tip speed, m/s")
    axes[2].plot(arm[:, 0], arm[:, 3 + n], linewidth=0.8, label="travel after a stop, rad or m")
    axes[3].plot(arm[:, 0], arm[:, 4 + n], linewidth=0.8, label="contact force, N")
    for axis, label in zip(axes, ("command / limit", "position, rad or m", "motion", "contact force, N")):
        axis.set_ylabel(label)
        axis.legend(fontsize=6, loc="upper right", ncol=n)
        _draw_spans(axis, world)
    _draw_faults(axes[3], world)
    axes[-1].set_xlabel("s")
    figure.suptitle(f"world {world.seed}: {world.arm_model.name}")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_spans(axis: Any, world: World) -> None:
    colors = dict(zip(MODES, cycle(MODE_COLORS))) | {STOPPED: STOPPED_COLOR}
    modes = [(1e-9 * r[0], r[2]) for r in world.records if r[1] == "mode"] + [(world.now, "")]
    for (start, mode), (end, _) in pairwise(modes):
        if mode in colors:
            axis.axvspan(start, end, color=colors[mode], alpha=0.12, linewidth=0)
    for record in world.records:
        if record[1] in ("violation", "crash"):
            axis.axvline(1e-9 * record[0], color="red", linewidth=1)
            axis.text(1e-9 * record[0], axis.get_ylim()[0], record[2], fontsize=6, color="red", rotation=90)


def _draw_faults(axis: Any, world: World) -> None:
    top = axis.get_ylim()[1]
    number = 0
    for record in world.records:
        if record[1] == "fault begins":
            axis.axvline(1e-9 * record[0], color="0.5", linewidth=0.6)
            axis.text(1e-9 * record[0], top * (0.95 - 0.12 * (number % 6)), record[2], fontsize=6)
            number += 1


def describe_violations(world: World) -> Iterator[str]:
    """Yield a line for each violation in a timeline: time, kind, figures, mode and the faults that were active."""
    mode, active = "", []
    for time_ns, kind, *details in world.records:
        if kind == "mode":
            mode = details[0]
        elif kind == "fault begins":
            active.append(details[0])
        elif kind == "fault ends":
            active.remove(details[0])
        elif kind == "violation":
            what, *figures = details
            text = f": '{figures[0]}' {figures[1]:.3g}, {figures[2]:.3g} allowed" if figures else ""
            yield f"{1e-9 * time_ns:9.4f} judged: {what}{text}; mode '{mode}'; faults: {', '.join(active) or 'none'}"


def replay(seed: int, output: Path, console: Console, box: Path | None = None) -> None:
    """Play one world again; print its timeline without the motion, and draw it; write what its black box holds."""
    world = play_world(seed, make_runtime=RecordingRuntime) if box else play_world(seed)
    if box:
        _write_box(world, box)
    for time_ns, kind, *details in world.records:
        if kind != "arm":
            text = " ".join(f"{x:.4f}" if isinstance(x, float) else str(x) for x in details)
            console.print(f"{1e-9 * time_ns:9.4f} {kind}: {text}", markup=False, highlight=False, soft_wrap=True)
    motion = world.motion
    console.print(
        f"joint speed at most {motion.max_speed_ratio:.2f} of the limit, tip speed {motion.max_tip_speed:.2f} m/s, "
        f"travel after a stop {motion.max_travel_after_stop:.2f} rad or m, "
        f"contact force {motion.max_contact_force:.0f} N",
        soft_wrap=True,
    )
    for line in describe_violations(world):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    draw(world, output)
    console.print(f"drawn: {output}", soft_wrap=True)
    outcome = {
        "seed": seed,
        "commanded_seconds": round(world.commanded_seconds, 2),
        "judged_stops": world.motion_judge.judged_stops,
        "violations": world.violations,
    }
    print(json.dumps(outcome))


def _write_box(world: World, path: Path) -> None:
    """Write what the black box of the node that was started last holds at the end.

    Raises:
        InputError: mcap is not installed, the file cannot be written, or the node is dead.
    """
    runtime = world.node.runtime
    recording = runtime.box.take("the world ends", world.now) if isinstance(runtime, RecordingRuntime) else None
    if recording is None:
        raise InputError("box", "the node is dead at the end of this world")
    try:
        black_box_file.write(recording, path)
    except OSError as error:
        raise InputError("box", f"'{path}' cannot be written: {error}") from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--faults", type=int, default=1000, help="number of faults; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="seed of the campaign; default: %(default)s")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="local processes; default: %(default)s")
    where.add_argument("--scheduler", default="", metavar="ADDRESS", help="Dask scheduler, as tcp://host:8786")
    parser.add_argument("--replay", type=int, metavar="SEED", help="play the world of this seed, print and draw it")
    parser.add_argument("--output", type=Path, default=Path("world.png"), help="drawing of --replay")
    parser.add_argument("--box", type=Path, metavar="FILE", help="with --replay: write the node's black box, as MCAP")


def run(arguments: argparse.Namespace) -> None:
    """Play the campaign, with its progress on stderr; print its result as JSON in the last line.

    Raises:
        InputError: an argument is out of range, or the scheduler does not answer.
    """
    if arguments.workers < 1:
        raise InputError("workers", f"expected a positive number, got {arguments.workers}")
    console = Console(stderr=True)
    arms = arm_names()
    if arms == (OWN_ARM,):
        console.print("example-robot-data is not installed: all worlds have the arm of this package")
    if arguments.replay is not None:
        replay(arguments.replay, arguments.output, Console(), arguments.box)
        return
    columns = TextColumn("faults"), BarColumn(), TextColumn(DONE), TimeElapsedColumn(), TimeRemainingColumn()
    progress = Progress(*columns, console=console, refresh_per_second=2)  # each time takes 5 ms, also into a file
    with open_executor(arguments.workers, arguments.scheduler) as executor, progress as bar:
        task = bar.add_task("faults", total=arguments.faults)
        result = run_campaign(
            arguments.faults, arguments.seed, executor, lambda faults: bar.update(task, advance=faults)
        )
    for seed in result.failing_seeds[:5]:
        console.print(f"a rule was broken: python -m ros2_dyn campaign --replay {seed}")
    print(json.dumps(result.as_dict()))
