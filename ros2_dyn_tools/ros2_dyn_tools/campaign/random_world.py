# SPDX-License-Identifier: Apache-2.0
"""Random worlds: everything about them, and every fault in them, from one seed."""

from __future__ import annotations

from functools import partial
from typing import get_args

import numpy as np

from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.modes import MODES, MONITOR
from ros2_dyn.dynamics import mass_matrix
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.inputs import PayloadRequest
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.simulation.driver import DriverQuality
from ros2_dyn.simulation.simulated_node import MakeRuntime, NodeQuality
from ros2_dyn_tools.campaign.arm_pool import OWN_ARM, VARIANTS, Variant, arm_names, random_home, singular_home, variant
from ros2_dyn_tools.campaign.faults import FAULTS, LASTING_FAULTS, start_fault
from ros2_dyn_tools.campaign.faults_of_requests import random_spring
from ros2_dyn_tools.campaign.target_generator import TargetQuality, random_axes
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions

FAULTS_PER_WORLD = 20
"""Number of faults in a world."""
START = 0.5
"""Time of the first fault, s."""
MIN_GAP, MAX_GAP, MAX_DURATION = 0.1, 0.5, 0.3
"""Shortest and longest time from one fault to the next, and longest duration of one, s."""
AFTERMATH = 0.5
"""Time from the last fault to the end, s."""
PATIENCE = (0.0, 1.2, 3.1)
"""Times for which operators wait after a stop before they request a mode, s; so long a stop is judged."""
STOP_BEHAVIOURS: tuple[StopBehaviour, ...] = get_args(StopBehaviour)
MONITOR_SHARE = 0.05
"""Share of the requests that are for no mode."""
HYBRID_SHARE = 0.3
"""Share of the worlds whose poses and wrenches come as hybrid targets."""
SINGULAR_SHARE = 0.15
"""Share of the worlds whose arm begins near a singularity."""
PERIODS_WITHIN_TIMEOUT = 6
"""A world's `state_timeout` is at least this many periods of its driver."""


def random_world(seed: int, faults: int = FAULTS_PER_WORLD, make_runtime: MakeRuntime = ArmRuntime) -> World:
    """Return a world with its faults planned, which all have ended at its time `end`.

    Args:
        seed: seed of everything.
        faults: number of faults; those of a smaller number are the first of a larger one.
        make_runtime: makes the runtime at each start of the node.
    """
    plan, chances = (np.random.default_rng(each) for each in np.random.SeedSequence([seed, 1]).spawn(2))
    names = arm_names()
    name = OWN_ARM if plan.random() < 0.2 else names[int(plan.integers(len(names)))]
    real = variant(name, int(plan.integers(VARIANTS)))
    home = (singular_home if plan.random() < SINGULAR_SHARE else random_home)(real.arm, plan)
    options = _options(plan, real, home)
    world = World(seed, real.arm, home, options, real.description, make_runtime=make_runtime, bare_arm=real.bare)
    world.record("world", name, [round(x, 3) for x in home.tolist()])
    if real.payload is not None and plan.random() < 0.7:
        world.declare_payload(PayloadRequest(real.payload.link or "", tuple(real.payload.parameters.tolist())))
    _plan_faults(world, plan, chances, faults)
    return world


def _plan_faults(world: World, plan: np.random.Generator, chances: np.random.Generator, faults: int) -> None:
    kinds, seeds = list(FAULTS), chances.integers(2**63, size=faults)
    world.want_mode(_draw_mode(plan))
    t = START
    for number in range(faults):
        kind, own = kinds[int(plan.integers(len(kinds)))], np.random.default_rng(seeds[number])
        duration = float(plan.uniform(0.02, MAX_DURATION))
        world.at(t, partial(start_fault, world, kind, own, duration))
        if plan.random() < 0.3:
            world.at(t + 0.5 * duration, partial(world.want_mode, _draw_mode(plan)))
        t += float(plan.uniform(MIN_GAP, MAX_GAP)) + LASTING_FAULTS.get(kind, 0.0)
    world.end = t + AFTERMATH


def _draw_mode(rng: np.random.Generator) -> str:
    return MONITOR if rng.random() < MONITOR_SHARE else str(rng.choice(list(MODES)))


def _options(rng: np.random.Generator, real: Variant, home: Array) -> WorldOptions:
    rates = [50.0, 100.0, 125.0, 200.0, 250.0, 500.0, 1000.0]
    rate = float(rng.choice(rates, p=[0.1, 0.25, 0.27, 0.18, 0.14, 0.05, 0.01]))
    unit = float(rng.choice([1.0, 1.0, 0.1]))
    limit = float(np.max(real.arm.effort_limit))
    driver = DriverQuality(
        rate,
        float(10 ** rng.uniform(-6, -4)),
        float(10 ** rng.uniform(-4, -2)),
        float(rng.choice([0.0, 0.003 * limit])),
        float(rng.choice([0.0, 0.002 * limit])),
        unit,
    )
    delay = float(rng.choice([0.0, rng.uniform(0.0, 0.01), rng.uniform(0.0, 0.03)], p=[0.4, 0.4, 0.2]))
    states = ChannelQuality(float(rng.choice([0.0, 0.02])), delay, float(rng.choice([0.0, 0.5 / rate])))
    commands = ChannelQuality(0.0, delay, 0.0)
    targets = TargetQuality(
        amplitude=float(rng.uniform(0.0, 0.15)),
        frequency=float(rng.uniform(0.5, 3.0)),
        force=float(rng.uniform(0.0, 10.0)),
        pose_in_base=bool(rng.random() < 0.5),
        pressed_axes=random_axes(rng) if rng.random() < HYBRID_SHARE else (),
        stamped=bool(rng.random() < 0.3),
    )
    node = NodeQuality(
        latency=float(rng.choice([0.0, rng.uniform(0.0, 0.004)])),
        failsafe_start=float(rng.uniform(0.02, 0.1)),
        restart_time=float(rng.uniform(0.25, 0.4)),
    )
    settings = _settings(rng, real.description, home, 1.0 / rate, unit)
    patience = float(rng.choice(PATIENCE))
    return WorldOptions(settings, driver, states, commands, targets, node, min(2e-3, 1.0 / rate), patience)


def _settings(rng: np.random.Generator, model: RobotModel, home: Array, period: float, effort_unit: float) -> Settings:
    inertia = np.diag(mass_matrix(model, home))
    bandwidth = float(rng.uniform(3.0, 12.0))
    computed_torque = bool(rng.random() < 0.4)
    scale = np.ones(model.n) if computed_torque else inertia
    threshold = float(rng.choice([0.1, 0.3, 1.0])) * model.effort_limit
    order = rng.permutation(model.n) if rng.random() < 0.3 else np.arange(model.n)
    command_effort, per_unit = _commands(rng, model)
    return Settings.from_values(
        {
            "robot.joints": [model.joint_names[i] for i in order],
            "friction.transition_velocity": 0.05,
            "states.estimate": [name for name in ("velocity", "acceleration") if rng.random() < 0.4],
            "states.measured_effort": "gravity_compensated" if rng.random() < 0.2 else "raw",
            "states.effort_gain": (effort_unit,) * model.n,
            "collision.bandwidth": float(rng.choice([0.0, 25.0])),
            "collision.threshold": threshold[order].tolist(),
            "commands.command_effort": command_effort,
            "commands.effort_per_unit": per_unit[order].tolist(),
            "commands.effort_scale": float(rng.uniform(0.6, 1.0)),
            "commands.slew_rate": float(10 ** rng.uniform(0.0, 1.3)),
            "commands.ramp_time": float(rng.choice([0.0, 0.1, 0.3])),
            "states.timeout": float(max(rng.choice([0.05, 0.1, 0.2]), PERIODS_WITHIN_TIMEOUT * period)),
            "commands.target_timeout": float(rng.choice([0.05, 0.1])),
            "commands.stop_behaviour": STOP_BEHAVIOURS[int(rng.choice(3, p=[0.75, 0.2, 0.05]))],
            "gravity.damping": float(rng.uniform(0, 2)),
            "feed_forward.law": "computed_torque" if computed_torque else "joint_pd",
            "feed_forward.stiffness": (bandwidth**2 * scale)[order].tolist(),
            "feed_forward.damping": (2 * bandwidth * scale)[order].tolist(),
            "hand_guiding.assist_gain": float(rng.choice([0.0, 0.5])),
            "force.damping": float(rng.uniform(50, 200)),
            **random_spring(rng),
        }
    )


def _commands(rng: np.random.Generator, model: RobotModel) -> tuple[str, Array]:
    """Return what the controller takes, and the numbers of its motors: servos sag by 0.1 to 0.4 rad or m at most."""
    sag, constant = rng.uniform(0.1, 0.4, model.n), 10 ** rng.uniform(-1.0, 0.5, model.n)
    kinds = ("raw", "gravity_compensated", "position_offset", "current")
    kind = str(rng.choice(kinds, p=[0.56, 0.14, 0.2, 0.1]))
    return kind, model.effort_limit / sag if kind == "position_offset" else constant
