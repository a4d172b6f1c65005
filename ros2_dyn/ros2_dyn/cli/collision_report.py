"""`ros2_dyn collision-report`: the collision detector over a recorded motion, in numbers and in a picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ros2_dyn.errors import InputError
from ros2_dyn.estimation.collision import Thresholds
from ros2_dyn.estimation.friction_identification import identify_friction
from ros2_dyn.estimation.recording import Recording, read_recording
from ros2_dyn.estimation.replay import calibrate, detect, observe, smallest_step, with_step
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


@dataclass(frozen=True)
class Step:
    """An artificial contact: an external effort on one joint for a time."""

    joint: str
    effort: float
    """N m or N."""
    start: float
    """s since the recording began."""
    duration: float = 1.0
    """s."""


@dataclass(frozen=True)
class CollisionReport:
    """What the detector makes of the part of a recording that its thresholds were not calibrated on."""

    model: RobotModel
    """With the friction that was used."""
    recording: Recording
    """That part, artificial contacts included."""
    residuals: Array
    """External efforts, N m or N, shape (m, n), artificial contacts included."""
    thresholds: Thresholds
    alarms: tuple[float, ...]
    """When a collision was detected, s."""
    steps: tuple[Step, ...]
    delays: tuple[float | None, ...]
    """From the beginning of each step to its detection, s; None: it was missed."""
    smallest: tuple[float, ...]
    """Smallest step of each joint, N m or N, that is detected whenever it sets in; NaN with artificial contacts."""


def collision_report(
    model: RobotModel,
    recording: Recording,
    calibrate_on: float = 0.5,
    bandwidth: float = 25.0,
    observer: str = "momentum",
    fit: bool = True,
    steps: Sequence[Step] = (),
    false_alarms_per_hour: float = 0.01,
) -> CollisionReport:
    """Calibrate on the first part of a recording during which nothing touched the arm, and watch the rest.

    Args:
        model: the robot.
        recording: in the order of its joints, efforts in N m or N.
        calibrate_on: share of the recording's length, 0 to 1.
        bandwidth: of the observer, 1/s.
        observer: "momentum" or "direct".
        fit: whether friction and armature are fitted to the first part.
        steps: artificial contacts in the rest.
        false_alarms_per_hour: that the calibration allows.

    Raises:
        InputError: a part is too short, or a step is on a joint that is not there, or lies outside of the rest.
    """
    first, rest = recording.between(0.0, calibrate_on), recording.between(calibrate_on, 1.0)
    if fit:
        model = identify_friction(model, first)
    thresholds = calibrate(model, first, observe(model, first, bandwidth, observer), false_alarms_per_hour)
    residuals = observe(model, rest, bandwidth, observer)
    smallest = (np.nan,) * model.n
    if not steps:
        smallest = tuple(smallest_step(rest, residuals, thresholds, i, bandwidth) for i in range(model.n))
    for step in steps:
        effort = _effort(model, rest, step)
        residuals = with_step(rest, residuals, step.start, effort, bandwidth)
        residuals = with_step(rest, residuals, step.start + step.duration, -effort, bandwidth)
    alarms = tuple(float(rest.t[i]) for i in detect(rest, residuals, thresholds))
    delays = tuple(_delay(step, alarms) for step in steps)
    return CollisionReport(model, rest, residuals, thresholds, alarms, tuple(steps), delays, smallest)


def _delay(step: Step, alarms: Sequence[float]) -> float | None:
    return min((t - step.start for t in alarms if step.start < t <= step.start + step.duration), default=None)


def _effort(model: RobotModel, recording: Recording, step: Step) -> Array:
    if step.joint not in model.joint_names:
        raise InputError("inject", f"no joint '{step.joint}'; there are {', '.join(model.joint_names)}")
    if not recording.t[0] <= step.start < recording.t[-1]:
        raise InputError("inject", f"expected a time from {recording.t[0]:.2f} to {recording.t[-1]:.2f} s")
    effort = np.zeros(model.n)
    effort[model.joint_names.index(step.joint)] = step.effort
    return effort


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
        axis.set_title(name, fontsize=9, loc="left", pad=2)
        axis.legend(fontsize=6, loc="upper right", ncols=4)
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
    parser.add_argument("bag", type=Path, help="rosbag2 folder, or .db3 or .mcap file, with sensor_msgs/JointState")
    parser.add_argument("--urdf", type=Path, required=True, help="the robot, as URDF or robot card")
    parser.add_argument("--joints", nargs="+", help="joints of the arm, where it is part of a bigger robot")
    parser.add_argument("--bag-joints", nargs="+", help="what the bag calls them, in the same order, if otherwise")
    parser.add_argument("--topic", default="/joint_states", help="default: %(default)s")
    parser.add_argument("--calibrate-on", type=float, default=0.5, help="share of the recording; default: %(default)s")
    parser.add_argument("--bandwidth", type=float, default=25.0, help="of the observer, 1/s; default: %(default)s")
    parser.add_argument("--observer", choices=["momentum", "direct"], default="momentum", help="default: %(default)s")
    parser.add_argument("--no-fit", action="store_true", help="take friction from the URDF instead of fitting it")
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
        InputError: what `read_recording` and `collision_report` raise.
        ModelError: the URDF is wrong.
    """
    model = RobotModel.from_file(arguments.urdf)
    card = model.card
    if arguments.joints:
        model = model.reduced(arguments.joints)
    names = arguments.bag_joints or model.joint_names
    if arguments.joints and arguments.bag_joints:
        if len(arguments.joints) != len(arguments.bag_joints):
            raise InputError("bag-joints", f"expected {len(arguments.joints)} names, got {len(arguments.bag_joints)}")
        in_bag = dict(zip(arguments.joints, arguments.bag_joints))
        names = [in_bag[name] for name in model.joint_names]
    recording = read_recording(arguments.bag, names, arguments.topic)
    if card is not None:
        recording = recording._replace(effort=recording.effort * card.gains(model.joint_names))
    steps = [Step(joint, float(effort), float(start)) for joint, effort, start in arguments.inject]
    report = collision_report(
        model,
        recording,
        arguments.calibrate_on,
        arguments.bandwidth,
        arguments.observer,
        not arguments.no_fit,
        steps,
    )
    console = Console()
    show(report, console)
    paths = [arguments.output.with_suffix(suffix) for suffix in (".png", ".pdf")]
    draw(report, paths)
    console.print(f"drawn: {paths[0]}, {paths[1]}")
