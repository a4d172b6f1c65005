# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn collision-report`: the collision detector over a recorded motion, in numbers and in a picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ros2_dyn_tools.cli.recording_arguments import add_recording_arguments, conditions_of, read_motion, read_robot
from ros2_dyn_tools.report.collision_report import CollisionReport, Step, collision_report


def draw(report: CollisionReport, paths: Sequence[Path]) -> None:
    """Residuals against thresholds, with detections and artificial contacts, a row for each joint, as image files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n = report.model.n
    figure, axes = plt.subplots(n, 1, sharex=True, figsize=(9, 1.4 * n + 1), layout="constrained", squeeze=False)
    t, thresholds = report.recording.t, np.array([report.thresholds.at(qd) for qd in report.recording.qd.tolist()])
    for i, (axis, name) in enumerate(zip(axes[:, 0], report.model.joint_names)):
        axis.fill_between(t, -thresholds[:, i], thresholds[:, i], color="0.9", label="threshold")
        axis.plot(t, report.residuals[:, i], color="tab:blue", linewidth=0.8, label="external effort")
        for k, alarm in enumerate(report.alarms):
            axis.axvline(alarm, color="tab:red", linewidth=1, label=None if k else "detected")
        for k, start in enumerate(step.start for step in report.steps if step.joint == name):
            axis.axvline(start, color="tab:green", linestyle="--", linewidth=1, label=None if k else "contact begins")
        axis.set_ylabel("N" if report.model.joints[i].type == "prismatic" else "N m")
        axis.set_title(name, fontsize=9, loc="left", pad=2, parse_math=False)
        axis.legend(fontsize=6, loc="upper right", ncol=4)
    axes[-1, 0].set_xlabel("s")
    for path in paths:
        figure.savefig(path, dpi=120)
    plt.close(figure)


def show(report: CollisionReport, console: Console) -> None:
    """The same in numbers."""
    table = Table("joint", "threshold", "greatest residual", "smallest step always detected", title="N m or N")
    greatest = np.max(np.abs(report.residuals), axis=0)
    for row in zip(report.model.joint_names, report.thresholds.constant, greatest, report.smallest):
        table.add_row(row[0], *(f"{x:.3g}" for x in row[1:]))
    console.print(table)
    for step, delay in zip(report.steps, report.delays):
        told = "missed" if delay is None else f"detected after {1e3 * delay:.0f} ms"
        console.print(f"{step.joint}: {step.effort:g} at {step.start:g} s: {told}")
    span = report.recording.t[-1] - report.recording.t[0]
    console.print(f"{len(report.alarms)} collisions detected in {span:.1f} s")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_recording_arguments(parser)
    parser.add_argument("--calibrate-on", type=float, default=0.5, help="share of the recording; default: %(default)s")
    parser.add_argument("--bandwidth", type=float, default=25.0, help="of the observer, 1/s; default: %(default)s")
    parser.add_argument("--observer", choices=["momentum", "direct"], default="momentum", help="default: %(default)s")
    parser.add_argument("--no-fit", action="store_true", help="take the friction that is given, fit none")
    parser.add_argument(
        "--inject",
        nargs=3,
        action="append",
        default=[],
        metavar=("JOINT", "EFFORT", "TIME"),
        help="an artificial contact of 1 s: N m or N, s since the recording began; may be repeated",
    )
    parser.add_argument("--output", type=Path, default=Path("collision_report"), help="picture, without .png and .pdf")


def run(arguments: argparse.Namespace) -> None:
    """Read, report, draw.

    Raises:
        InputError: what `read_motion` and `collision_report` raise.
        ModelError: the URDF is wrong.
    """
    arm = read_robot(arguments)
    recording = read_motion(arm, arguments)
    steps = [Step(joint, float(effort), float(start)) for joint, effort, start in arguments.inject]
    report = collision_report(
        arm.model,
        recording,
        arguments.calibrate_on,
        arguments.bandwidth,
        arguments.observer,
        not arguments.no_fit,
        steps,
        conditions=conditions_of(arm.settings, arguments.zero_phase),
    )
    console = Console()
    show(report, console)
    paths = [arguments.output.with_suffix(suffix) for suffix in (".png", ".pdf")]
    draw(report, paths)
    console.print(f"drawn: {paths[0]}, {paths[1]}")
