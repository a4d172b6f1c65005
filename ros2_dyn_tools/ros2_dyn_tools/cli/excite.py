# SPDX-License-Identifier: Apache-2.0
"""`ros2_dyn excite`: design a motion that shows a robot's parameters, within its limits, for `identify`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.console import Console

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.mount import upright
from ros2_dyn.runtime.parameter_files import read_arm
from ros2_dyn_tools.cli.recording_arguments import add_parameters_argument
from ros2_dyn_tools.identification.excitation_collision import SelfCollision
from ros2_dyn_tools.identification.excitation_design import CHECK_RATE, Excitation, excite
from ros2_dyn_tools.identification.excitation_files import write_csv, write_trajectory
from ros2_dyn_tools.identification.excitation_limits import whole_effort
from ros2_dyn_tools.identification.excitation_options import ExcitationOptions, start_posture


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    default = ExcitationOptions()
    add = parser.add_argument
    add("urdf", type=Path, metavar="ROBOT.urdf", help="the description of the robot")
    add_parameters_argument(parser)
    add("--output", type=Path, default=Path("excitation"), metavar="NAME", help="NAME.yaml, NAME.csv (excitation)")
    add("--joints", nargs="+", metavar="JOINT", help="the joints that move; the others are locked at 0 (all)")
    add("--posture", type=float, nargs="+", metavar="Q", help="start and end, rad or m (the middle of the limits)")
    add("--duration", type=float, default=default.duration, help=f"s ({default.duration:g})")
    add("--base-frequency", type=float, metavar="HZ", help="a multiple of 1 / duration (about 0.1 Hz)")
    add("--harmonics", type=int, default=default.harmonics, help=f"of the base frequency ({default.harmonics})")
    add("--rate", type=float, default=default.rate, metavar="HZ", help=f"of points and states ({default.rate:g})")
    add("--share", type=float, default=default.share, help=f"of velocity and effort limits ({default.share:g})")
    add("--margin", type=float, default=default.margin, help=f"to position limits, rad or m ({default.margin:g})")
    add("--floor", type=float, metavar="Z", help="height that links stay above, m, in the base frame (no floor)")
    add("--acceleration", type=float, nargs="+", metavar="A", help="limits, rad/s^2 or m/s^2 (of the effort limits)")
    add("--noise", type=float, nargs="+", help="of measured efforts, N m or N (1 %% of the effort limits)")
    add("--seed", type=int, default=default.seed, help=f"of the random starts ({default.seed})")
    add("--starts", type=int, default=default.starts, help=f"number of random starts ({default.starts})")
    add("--iterations", type=int, default=default.iterations, help=f"from each start ({default.iterations})")


def run(arguments: argparse.Namespace) -> None:
    """Write the trajectory, and print what it uses of the limits and what it tells.

    Raises:
        ModelError: the description is no robot.
        InputError: an option is wrong for this robot.
        OSError: a file cannot be written.
    """
    console = Console(soft_wrap=True, highlight=False, markup=False)
    model, settings = read_arm(arguments.urdf, arguments.parameters)
    model = upright(model, settings.robot.gravity)
    if arguments.joints:
        model = model.reduced(arguments.joints)
    options = _options(arguments)
    collision = _self_collision(console, arguments, model, options)
    found = excite(model, options, collision, lambda k: console.print(f"start {k} of {options.starts} is done"))
    _print_use(console, model, found)
    _print_quality(console, options, found)
    for suffix, write in ((".yaml", write_trajectory), (".csv", write_csv)):
        path = arguments.output.with_name(arguments.output.name + suffix)
        write(found.trajectory, model.joint_names, options.rate, path)
        console.print(f"written: {path}")


def _options(arguments: argparse.Namespace) -> ExcitationOptions:
    given = {name: getattr(arguments, name) for name in ExcitationOptions.__dataclass_fields__}
    for name in ("acceleration", "noise"):
        if given[name] and len(given[name]) == 1:
            given[name] = given[name][0]
    return ExcitationOptions(**given)


def _self_collision(
    console: Console, arguments: argparse.Namespace, model: RobotModel, options: ExcitationOptions
) -> SelfCollision | None:
    try:
        posture = start_posture(model, options.posture)
        collision = SelfCollision(arguments.urdf, model, posture, arguments.floor)
    except InputError as error:
        if error.argument != "self-collision" or arguments.floor is not None:
            raise
        console.print(f"Self-collision is NOT checked: {error.problem}")
        return None
    console.print(f"Self-collision is checked of {len(collision.pairs)} pairs of links, by their convex hulls")
    for first, second in collision.touching:
        console.print(f"  not of {first} and {second}: they touch in the posture at the start")
    return collision


def _print_use(console: Console, model: RobotModel, found: Excitation) -> None:
    """Print positions, and which shares of the limits are used, joint by joint."""
    trajectory, limits = found.trajectory, found.limits
    q, qd, qdd = trajectory.at(np.arange(0.0, 1 / trajectory.base_frequency, 1 / CHECK_RATE))
    highest = [np.max(np.abs(x), axis=0) for x in (qd, qdd, whole_effort(model, q, qd, qdd))]
    width = max(len(name) for name in model.joint_names)
    console.print(f"{'':{width}}  {'position':>15}{'velocity':>15}{'acceleration':>15}{'effort':>15}")
    for i, name in enumerate(model.joint_names):
        cells = [f"{np.min(q[:, i]):.3g} to {np.max(q[:, i]):.3g}"]
        bounds = (limits.velocity, limits.acceleration, limits.effort)
        cells += [f"{most[i]:.3g} of {bound[i]:.3g}" for most, bound in zip(highest, bounds)]
        console.print(f"{name:{width}}  " + "".join(f"{cell:>15}" for cell in cells))


def _print_quality(console: Console, options: ExcitationOptions, found: Excitation) -> None:
    """Print condition number and standard errors, the weakest parameters first."""
    noise = ", ".join(f"{each:.3g}" for each in found.deviations)
    errors = found.quality.standard_errors
    periods = options.duration * options.frequency
    console.print(
        f"{len(found.base)} base parameters, {periods:.0f} periods of {1 / options.frequency:.4g} s, "
        f"{options.harmonics} harmonics; condition number {found.quality.condition:.3g}"
    )
    console.print(f"standard errors for white noise of {noise} N m or N at {options.rate:g} Hz, the weakest first:")
    order = np.argsort(-errors / np.maximum(np.abs(found.beta), 1e-12))
    words = found.base.combinations()
    for k in order[:10]:  # the others are known better
        console.print(f"  {found.beta[k]:10.4g} +- {errors[k]:<9.2g} {words[k]}")
