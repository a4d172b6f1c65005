# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn retime`: time a trajectory's path anew, as fast as velocity, acceleration, jerk and effort limits allow."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rich.console import Console

from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.cli.recording_arguments import add_parameters_argument
from ros2_dyn_tools.timing.limit_use import AT_LIMIT
from ros2_dyn_tools.timing.motion_bounds import MotionBounds
from ros2_dyn_tools.timing.retiming import RATE, Retimed, retime
from ros2_dyn_tools.timing.trajectory_files import read_trajectory, write_trajectory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("trajectory", type=Path, metavar="TRAJECTORY", help="JointTrajectory as .yaml, or .csv, as excite writes them")
    add("--urdf", type=Path, required=True, help="the robot as URDF")
    add_parameters_argument(parser)
    add("--output", type=Path, metavar="FILE", help="the timed trajectory, .yaml or .csv (only printed)")
    add("--joints", nargs="+", metavar="JOINT", help="the joints that move; the others are locked at 0 (all)")
    add("--payload", type=float, nargs="+", metavar="NUMBER", help="mass, kg, and centre X Y Z in its link, m (none)")
    add("--payload-link", metavar="LINK", help="the link that carries the payload (the farthest)")
    add("--gravity", type=float, nargs=3, metavar=("X", "Y", "Z"), help="in the base frame, m/s^2 (as in --parameters)")
    add("--limits", type=Path, metavar="FILE", help="joint_limits.yaml, as of MoveIt, instead of the description's")
    add("--acceleration", type=float, nargs="+", metavar="A", help="limits, rad/s^2 or m/s^2, one or by joint (none)")
    add("--jerk", type=float, nargs="+", metavar="J", help="limits, rad/s^3 or m/s^3, one or by joint (none)")
    add("--share", type=float, default=1.0, help="of velocity, acceleration and jerk limits (1)")
    add("--effort-share", type=float, default=1.0, metavar="SHARE", help="of effort limits (1)")
    add("--rate", type=float, default=RATE, metavar="HZ", help=f"of the points ({RATE:g})")


def run(arguments: argparse.Namespace) -> None:
    """Write the timed trajectory, and print the durations and what limits the motion where.

    Raises:
        ModelError: the description is no robot.
        InputError: a file or an option is wrong, toppra is not installed, or no speed keeps the limits.
    """
    console = Console(soft_wrap=True, highlight=False, markup=False)
    arm = read_arm(arguments.urdf, arguments.parameters)
    model = arm.model
    if arguments.joints:
        model = model.reduced(arguments.joints)
    model = model.carrying(_payload(arguments))
    bounds = _bounds(arguments, model)
    trajectory = read_trajectory(arguments.trajectory)
    started = time.perf_counter()
    timed = retime(model, trajectory, bounds, arguments.gravity or arm.settings.robot.gravity, arguments.rate)
    elapsed = time.perf_counter() - started
    console.print(
        f"duration: {timed.duration_before:.3f} s given, {timed.duration:.3f} s now; "
        f"{timed.duration_by_velocity:.3f} s by the velocity limits alone (computed in {elapsed:.2f} s)"
    )
    _print_use(console, model, bounds, timed)
    if arguments.output:
        write_trajectory(timed.trajectory, arguments.output)
        console.print(f"written: {arguments.output}, {len(timed.trajectory.times)} points")


def _payload(arguments: argparse.Namespace) -> Payload | None:
    if not arguments.payload:
        if arguments.payload_link:
            raise InputError("payload-link", "expected --payload with the mass, too")
        return None
    if len(arguments.payload) not in (1, 4):
        raise InputError("payload", f"expected MASS or MASS X Y Z, got {len(arguments.payload)} numbers")
    mass, *com = arguments.payload
    return Payload(mass, com or (0.0, 0.0, 0.0), link=arguments.payload_link)


def _bounds(arguments: argparse.Namespace, model: RobotModel) -> MotionBounds:
    """Return the limits: those of the description, of the file and of the options, the latter before the former."""
    none = np.full(model.n, np.inf)
    bounds = MotionBounds(model.velocity_limit, none, none, model.effort_limit)
    if arguments.limits:
        bounds = bounds.with_file(arguments.limits, model)
    options = {name: numbers for name in ("acceleration", "jerk") if (numbers := getattr(arguments, name))}
    options = {name: numbers[0] if len(numbers) == 1 else numbers for name, numbers in options.items()}
    return MotionBounds.of(model, **{**vars(bounds), **options}).scaled(arguments.share, arguments.effort_share)


def _print_use(console: Console, model: RobotModel, bounds: MotionBounds, timed: Retimed) -> None:
    """Print the largest value of each quantity, joint by joint, and what limits the motion, the longest first."""
    use = timed.use
    names = list(use.shares)
    width = max(len(name) for name in model.joint_names)
    console.print(f"{'':{width}}  " + "".join(f"{name:>18}" for name in names))
    for j, joint in enumerate(model.joint_names):
        cells = []
        for name in names:
            limit, share = getattr(bounds, name)[j], float(np.max(use.shares[name][:, j]))
            cells.append(f"{share * limit:.3g} of {limit:.3g}" if np.isfinite(limit) else "no limit")
        console.print(f"{joint:{width}}  " + "".join(f"{cell:>18}" for cell in cells))
    found = []
    for name in names:
        for j, held in enumerate(use.time_at_limit(name)):
            if held > 0:
                first = use.times[np.argmax(use.shares[name][:, j] >= AT_LIMIT)]
                found.append((float(held), model.joint_names[j], name, float(first)))
    console.print("what limits the motion, the longest first:" if found else "no limit is reached for long")
    for held, joint, name, first in sorted(found, reverse=True):
        share = held / timed.duration
        console.print(f"  {joint:{width}}  {name:<12} {held:7.3f} s ({share:4.0%}), first at {first:.3f} s")
