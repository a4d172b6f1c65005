# SPDX-License-Identifier: Apache-2.0
"""Random worlds of a family: the arm, what users have chosen and got wrong, and which faults come when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np

from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.modes import MODES, MONITOR
from ros2_dyn.dynamics import mass_matrix
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.inputs import PayloadRequest
from ros2_dyn.runtime.settings import Settings
from ros2_dyn_tools.campaign.arm_pool import (
    MAX_GRAVITY_FRACTION,
    OWN_ARM,
    UserArm,
    Variant,
    arm_names,
    heaviest_load,
    load_of,
    random_home,
    read_user_arm,
    singular_home,
    variant,
    with_friction,
)
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.driver_faults import without_efforts
from ros2_dyn_tools.campaign.families import ENCODERS, QUIET, Family
from ros2_dyn_tools.campaign.faults import LASTING_FAULTS, random_spring, start_fault
from ros2_dyn_tools.campaign.simulated_node import MakeRuntime, NodeQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality, random_axes
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions

START, AFTERMATH = 0.5, 3.0
"""Time of the first fault, and from the last one to the end, s."""
MAX_DURATION = 0.3
"""Longest duration of a fault that has none of its own, s."""
STOP_BEHAVIOURS: tuple[StopBehaviour, ...] = get_args(StopBehaviour)


def world_of(
    family: Family,
    seed: int,
    faults: int = 0,
    make_runtime: MakeRuntime = ArmRuntime,
    user: UserArm | None = None,
    *,
    make_world: Callable[..., World] = World,
) -> World:
    """Return a world of a family with its faults planned, which all have ended at its time `end`.

    Args:
        family: what is drawn.
        seed: seed of everything.
        faults: number of faults; those of a smaller number are the first of a larger one; 0: those of the family.
        make_runtime: makes the runtime at each start of the node.
        user: the arm, and parameters that are not drawn; None: an arm of the pool.
        make_world: makes it of what `World` takes.
    """
    plan, chances = (np.random.default_rng(each) for each in np.random.SeedSequence([seed, 1]).spawn(2))
    names = arm_names()
    name = OWN_ARM if plan.random() < 0.2 else names[int(plan.integers(len(names)))]
    real = variant(user or name, _draw(plan, family.variants))
    home = (singular_home if family.free and plan.random() < 0.15 else random_home)(real.arm, plan)
    if plan.random() < family.near_limits:
        home = _near_a_limit(real.arm, home, plan)
    if family.mistaken:
        real = real._replace(description=with_friction(real.description, float(plan.uniform(0.5, 1.7))))
    options = _options(family, plan, real, home, user)
    given = seed, real.arm, home, options, real.description
    world = make_world(*given, make_runtime=make_runtime, bare_arm=real.bare)
    world.record("world", real.arm.name if user else name, [round(x, 3) for x in home.tolist()])
    world.driver_clock_offset = round(1e9 * plan.uniform(-family.clock, family.clock))
    if plan.random() < family.unmeasured:
        world.driver.faults.append(without_efforts)
    if real.payload is not None and not ((family.free or family.mistaken) and plan.random() < 0.3):
        world.declare_payload(PayloadRequest(real.payload.link or "", tuple(real.payload.parameters.tolist())))
    _plan_faults(world, family, plan, chances, faults or family.faults_per_world)
    return world


def _near_a_limit(arm: RobotModel, home: Array, rng: np.random.Generator) -> Array:
    """Return joint positions of which one is near a limit, where the arm has limits and its motors hold it there."""
    limited = np.flatnonzero(np.isfinite(arm.lower) & np.isfinite(arm.upper))
    if not len(limited):
        return home
    joint, moved = _draw(rng, limited.tolist()), home.copy()
    moved[joint] = arm.upper[joint] - float(rng.uniform(0.03, 0.1))
    return moved if load_of(arm, moved) < MAX_GRAVITY_FRACTION else home


def _plan_faults(
    world: World, family: Family, plan: np.random.Generator, chances: np.random.Generator, faults: int
) -> None:
    seeds = chances.integers(2**63, size=faults)
    modes = family.modes or (MONITOR, *MODES)
    world.want_mode(_draw(plan, modes))
    of_servos = world.options.settings.commands.command_effort == "position_offset"
    kinds = [kind for kind in family.faults if not (of_servos and kind in ENCODERS)]
    t = START
    for number in range(faults):
        kind, own = _draw(plan, kinds), np.random.default_rng(seeds[number])
        duration = float(plan.uniform(0.02, MAX_DURATION))
        world.at(t, partial(start_fault, world, kind, own, duration))
        if plan.random() < 0.3:
            world.at(t + 0.5 * duration, partial(world.want_mode, _draw(plan, modes)))
        gap = QUIET if plan.random() < family.quiet else family.gaps
        t += float(plan.uniform(*gap)) + LASTING_FAULTS.get(kind, 0.0)
    world.end = t + AFTERMATH


def _draw(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _options(
    family: Family, rng: np.random.Generator, real: Variant, home: Array, user: UserArm | None
) -> WorldOptions:
    rate, unit = float(_draw(rng, family.rates)), float(rng.choice([1.0, 1.0, 0.1]))
    limit = float(np.max(real.arm.effort_limit))
    driver = DriverQuality(
        rate,
        float(10 ** rng.uniform(-6, -4)),
        float(10 ** rng.uniform(-4, -2)),
        float(rng.choice([0.0, 0.003 * limit])),
        float(rng.choice([0.0, 0.002 * limit])),
        unit,
        float(rng.choice([0.0, 0.0, 0.0, 1.5e-3])),
    )
    delay = float(rng.choice([0.0, rng.uniform(*family.delays)]))
    states = ChannelQuality(float(rng.choice([0.0, 0.02])), delay, float(rng.choice([0.0, 0.5 / rate])))
    targets = TargetQuality(
        amplitude=float(rng.uniform(0.0, 0.15)),
        frequency=float(rng.uniform(0.5, 3.0)),
        force=float(rng.uniform(*family.forces)),
        pose_in_base=bool(rng.random() < 0.5),
        pressed_axes=random_axes(rng) if rng.random() < 0.3 else (),
        stamped=bool(rng.random() < 0.3),
    )
    node = NodeQuality(
        latency=float(rng.choice([0.0, rng.uniform(0.0, 0.004)])),
        failsafe_start=float(rng.uniform(0.02, 0.1)),
        restart_time=float(rng.uniform(0.25, 0.4)),
    )
    settings = _settings(family, rng, real, home=home, period=1.0 / rate, effort_unit=unit)
    if user is not None:
        settings = _with(settings, _chosen(user, settings.robot.joints))
    if family.one_convention:
        told = "raw" if settings.commands.convention == "raw" else "gravity_compensated"
        settings = _with(settings, {"states.measured_effort": told})
    if family.mistaken:
        settings = _mistaken(settings, rng)
    if family.clock and rng.random() < 0.5:
        settings = _with(settings, {"commands.delay": delay + node.latency + family.clock})
    commands, step = ChannelQuality(0.0, delay, 0.0), min(2e-3, 1.0 / rate)
    return WorldOptions(settings, driver, states, commands, targets, node, step, _draw(rng, family.patience), True)


def _settings(
    family: Family, rng: np.random.Generator, real: Variant, *, home: Array, period: float, effort_unit: float
) -> Settings:
    model = real.description
    inertia = np.diag(mass_matrix(model, home))
    bandwidth = float(rng.uniform(3.0, 12.0))
    computed_torque = bool(rng.random() < 0.4)
    scale = np.ones(model.n) if computed_torque else inertia
    threshold = float(_draw(rng, family.thresholds))
    order = rng.permutation(model.n) if rng.random() < 0.3 else np.arange(model.n)
    command_effort, per_unit = _commands(rng, real.arm)
    lowest, highest = np.log10(family.slew_rates)
    return Settings.from_values(
        {
            "robot.joints": [model.joint_names[i] for i in order],
            "friction.transition_velocity": 0.05,
            "states.estimate": [name for name in ("velocity", "acceleration") if family.free and rng.random() < 0.4],
            "states.measured_effort": "gravity_compensated" if rng.random() < 0.2 else "raw",
            "states.effort_gain": (effort_unit,) * model.n,
            "collision.bandwidth": 25.0 if threshold < np.inf else 0.0,
            "collision.threshold": (min(threshold, 1.0) * real.arm.effort_limit)[order].tolist(),
            "commands.command_effort": command_effort,
            "commands.effort_per_unit": per_unit[order].tolist(),
            "commands.effort_scale": float(rng.uniform(min(max(0.6, heaviest_load(real.arm)), 1.0), 1.0)),
            "commands.slew_rate": float(10 ** rng.uniform(lowest, highest)),
            "commands.velocity_scale": float(rng.uniform(*family.velocity_scales)),
            "commands.ramp_time": float(rng.choice([0.0, 0.1, 0.3])),
            "states.timeout": float(max(rng.choice([0.05, 0.1, 0.2]), 6 * period)),
            "commands.target_timeout": float(rng.choice([0.05, 0.1])),
            "commands.stop_behaviour": (
                STOP_BEHAVIOURS[int(rng.choice(3, p=[0.75, 0.2, 0.05]))] if family.free else "hold_gravity"
            ),
            "gravity.damping": float(rng.uniform(0, 2)),
            "feed_forward.law": "computed_torque" if computed_torque else "joint_pd",
            "feed_forward.stiffness": (bandwidth**2 * scale)[order].tolist(),
            "feed_forward.damping": (2 * bandwidth * scale)[order].tolist(),
            "hand_guiding.assist_gain": float(rng.choice([0.0, 0.5])),
            "force.damping": float(rng.uniform(50, 200)),
            **random_spring(rng),
        }
    )


def _with(settings: Settings, changes: dict[str, Any]) -> Settings:
    """Return parameters with some of other values."""
    return Settings.from_values(settings.values() | changes)


def _chosen(user: UserArm, joints: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that a user has chosen, for joints in this order.

    Drivers here tell N m or N, so that the unit of efforts is not among them.
    """
    usual, settings = Settings().values(), read_user_arm(user).settings
    kept = {"robot.joints", "states.effort_gain"}
    chosen = {k: v for k, v in settings.values().items() if v != usual[k] and k not in kept}
    theirs = settings.robot.joints  # all of them, where a parameter has numbers of each joint
    for name in chosen:
        if usual[name] == () and name != "states.estimate":
            of_joints = np.reshape(chosen[name], (len(theirs), -1))
            chosen[name] = of_joints[[theirs.index(joint) for joint in joints]].ravel().tolist()
    return chosen


def _mistaken(settings: Settings, rng: np.random.Generator) -> Settings:
    """Return parameters of a user who is wrong about the mount and the unit of efforts.

    Where efforts are told without gravity, nothing at rest shows their unit: it is right then. No arm is of servos,
    which go where an encoder slips to.
    """
    tilt, heading = rng.uniform(0.0, 0.15), rng.uniform(0.0, 2 * np.pi)
    unit, sideways = float(rng.choice([1.0, 1.0, 0.2, 0.1])), 9.81 * np.sin(tilt)
    down = (sideways * np.cos(heading), sideways * np.sin(heading), -9.81 * np.cos(tilt))
    raw, command = settings.commands.convention == "raw", settings.commands.command_effort
    gain = unit if raw else 1.0
    return _with(
        settings,
        {
            "robot.gravity": down,
            "states.effort_gain": tuple(gain * each for each in settings.states.effort_gain),
            "commands.command_effort": "raw" if command == "position_offset" else command,
        },
    )


def _commands(rng: np.random.Generator, model: RobotModel) -> tuple[str, Array]:
    """Return what the controller takes, and the numbers of its motors: servos sag by 0.1 to 0.4 rad or m at most."""
    sag, constant = rng.uniform(0.1, 0.4, model.n), 10 ** rng.uniform(-1.0, 0.5, model.n)
    kinds = ("raw", "gravity_compensated", "position_offset", "current")
    kind = str(rng.choice(kinds, p=[0.56, 0.14, 0.2, 0.1]))
    return kind, model.effort_limit / sag if kind == "position_offset" else constant
