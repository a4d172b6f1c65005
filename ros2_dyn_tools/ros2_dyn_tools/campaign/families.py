# SPDX-License-Identifier: Apache-2.0
"""Families of worlds: what each presupposes, as the ranges that its worlds are drawn from, and what it promises.

Nothing that makes a promise void is drawn in a family. What no premise covers, a mixture of everything, is a family of
its own, whose only promises are those that hold always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from ros2_dyn.control.command_settings import StopBehaviour
from ros2_dyn.control.modes import MODES, MONITOR
from ros2_dyn.dynamics import mass_matrix
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.inputs import PayloadRequest
from ros2_dyn.runtime.settings import Settings
from ros2_dyn_tools.campaign import promises
from ros2_dyn_tools.campaign.arm_pool import (
    OWN_ARM,
    VARIANTS,
    UserArm,
    Variant,
    arm_names,
    random_home,
    read_user_arm,
    singular_home,
    variant,
)
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.driver_faults import DRIVER_FAULTS
from ros2_dyn_tools.campaign.faults import FAULTS, LASTING_FAULTS, WRONG_MODELS, random_spring, start_fault
from ros2_dyn_tools.campaign.promises import ALWAYS, Disturbances, Promise, rest
from ros2_dyn_tools.campaign.simulated_node import MakeRuntime, NodeQuality
from ros2_dyn_tools.campaign.target_generator import TARGET_FAULTS, TargetQuality, random_axes
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions

START, AFTERMATH = 0.5, 3.0
"""Time of the first fault, and from the last one to the end, s."""
QUIET = (2.0, 4.0)
"""Shortest and longest time of quiet after a fault, s."""
MIN_GAP, MAX_GAP, MAX_DURATION = 0.1, 0.5, 0.3
"""Shortest and longest time from one fault to the next, and longest duration of one, s."""
STOP_BEHAVIOURS: tuple[StopBehaviour, ...] = get_args(StopBehaviour)
UNPREMISED = "unpremised"
"""Name of the family that no premise covers."""
REQUESTS = ("mode toggled", "enable lost", "settings changed", "stiffness changed")
PROCESSES = ("node killed", "node terminated", "node hangs", "node stopped", "interpreter held")
COMMANDERS = (
    "subscriber lost",
    "controller switched",
    "controller inactive",
    "second commander",
    "twin commander",
    "commands lost",
)
HANDS, WALLS = ("arm pushed", "arm led"), ("wall", "wall pressed", "spring blocked")
PAYLOADS = ("payload declared",)
HANDOVERS = ("handed over", "handover fails")
STATES = (*DRIVER_FAULTS, "states late", "states lost", "clocks jump")


NOTHING = Disturbances()


@dataclass(frozen=True)
class Family:
    """A premise: the ranges that worlds are drawn from; and what is promised of each."""

    name: str
    share: float
    """Share of the worlds of a campaign."""
    faults: tuple[str, ...]
    """Kinds of faults that are drawn, of `FAULTS`."""
    promises: tuple[Promise, ...]
    """Besides those that hold always."""
    disturbing: Disturbances = NOTHING
    """Faults from whose end on rest is promised anew."""
    rest: float = 1.5
    """Time after a stop or a disturbance within which rest is promised, s; 0: it is not."""
    rates: tuple[float, ...] = (100.0, 125.0, 200.0, 250.0, 500.0)
    """Rates of the joint states, Hz."""
    delays: tuple[float, float] = (0.0, 0.01)
    """Shortest and longest delay of states and of commands, s."""
    slew_rates: tuple[float, float] = (5.0, 20.0)
    """Limits of `slew_rate`, 1/s."""
    faults_per_world: int = 20
    velocity_scales: tuple[float, float] = (0.3, 0.5)
    """Limits of `velocity_scale`."""
    gaps: tuple[float, float] = (MIN_GAP, MAX_GAP)
    """Shortest and longest time from one fault to the next, s."""
    quiet: float = 0.3
    """Share of faults after which it is quiet for `QUIET`, so that rest can be seen."""
    modes: tuple[str, ...] = ()
    """Modes that are requested; empty: all, and none."""
    patience: tuple[float, ...] = (0.0, 3.1)
    """Times for which operators wait after a stop before they request a mode, s."""
    thresholds: tuple[float, ...] = (np.inf, 0.1, 0.3, 1.0)
    """Thresholds of collisions, as fractions of the effort limits; infinite: none is detected."""
    variants: tuple[int, ...] = tuple(range(VARIANTS))
    """Variants of the arms, see `variant`: odd ones carry something."""
    near_limits: float = 0.0
    """Share of the worlds that begin with a joint near its position limit."""
    clock: float = 0.0
    """Largest difference of the driver's clock, s; half of the drivers measure no efforts then."""
    mistaken: bool = False
    """Whether users are wrong about the arm as far as a mode may begin: mount, load, friction, unit of efforts."""
    free: bool = False
    """Whether everything else is drawn from all that users may choose, and not only what brakes the arm in time."""

    @property
    def premise(self) -> str:
        """The ranges in words."""
        return (
            f"states at {self.rates[0]:g} to {self.rates[-1]:g} Hz, {1e3 * self.delays[-1]:g} ms late at most, "
            f"slew rate {self.slew_rates[0]:g} to {self.slew_rates[1]:g}, {self.gaps[0]:g} to {self.gaps[1]:g} s "
            f"between faults; faults: {', '.join(self.faults) if not self.free else 'all'}"
        )

    def kept_promises(self) -> tuple[Promise, ...]:
        """Return all promises."""
        return (*ALWAYS, *((rest(self.rest),) if self.rest else ()), *self.promises)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "right model",
            0.1,
            (*REQUESTS, "targets stop", "joints permuted", "messages repeated"),
            (promises.TRAVEL, promises.UNBRAKED, promises.LIMITS, promises.TIP, promises.JOINTS, promises.ENABLE),
            rest=1.0,
            near_limits=0.3,
            quiet=0.1,
        ),
        Family(
            "targets",
            0.1,
            tuple(TARGET_FAULTS),
            (promises.TRAVEL, promises.LIMITS, promises.TIP, promises.JOINTS),
            slew_rates=(5.0, 40.0),
            near_limits=0.5,
            modes=("feed_forward", "feed_forward", "force", "impedance"),
            quiet=0.1,
        ),
        Family(
            "payload",
            0.05,
            PAYLOADS,
            (promises.PAYLOAD, promises.TIP, promises.JOINTS),
            Disturbances(changes=PAYLOADS),
            modes=("gravity",),
            variants=(1, 3),
            faults_per_world=5,
        ),
        Family(
            "wrong model",
            0.1,
            WRONG_MODELS,
            (promises.TIP, promises.JOINTS),
            Disturbances(changes=WRONG_MODELS),
            faults_per_world=6,
        ),
        Family(
            "untouched",
            0.05,
            ("enable lost", "encoder slips", "messages repeated"),
            (promises.UNTOUCHED, promises.TIP, promises.JOINTS),
            Disturbances(("encoder slips",)),
            modes=("gravity", "gravity", "hand_guiding"),
            gaps=(0.5, 1.5),
            faults_per_world=6,
            mistaken=True,
        ),
        Family(
            "states",
            0.15,
            STATES,
            (promises.SILENCE, promises.ONE_WAY),
            Disturbances(STATES),
            rest=2.5,
            gaps=(1.5, 2.5),
            faults_per_world=10,
        ),
        Family(
            "processes",
            0.1,
            PROCESSES,
            (promises.TRAVEL, promises.TAKEOVER),
            gaps=(0.6, 1.5),
            faults_per_world=8,
        ),
        Family("other commander", 0.1, COMMANDERS, (promises.OTHER,), Disturbances(COMMANDERS)),
        Family(
            "hand",
            0.05,
            HANDS,
            (promises.TIP, promises.JOINTS),
            Disturbances(HANDS),
            velocity_scales=(0.6, 1.0),
            gaps=(0.5, 1.5),
            modes=("hand_guiding", "impedance", "gravity"),
            faults_per_world=10,
        ),
        Family(
            "collision",
            0.05,
            ("arm pushed",),
            (promises.COLLISION,),
            Disturbances(("arm pushed",)),
            gaps=(0.5, 1.5),
            modes=("feed_forward",),
            thresholds=(0.05,),
            faults_per_world=10,
        ),
        Family(
            "wall",
            0.05,
            WALLS,
            (promises.TIP, promises.JOINTS, promises.WALL_FORCE),
            Disturbances(WALLS),
            delays=(0.0, 0.03),
            clock=0.03,
            faults_per_world=10,
        ),
        Family(
            "handover",
            0.05,
            HANDOVERS,
            (promises.HANDOVER, promises.TIP, promises.JOINTS),
            Disturbances(HANDOVERS),
            modes=("gravity",),
            faults_per_world=2,
        ),
        Family(
            UNPREMISED,
            0.05,
            tuple(FAULTS),
            (),
            rates=(50.0, 100.0, 125.0, 200.0, 250.0, 500.0, 1000.0),
            delays=(0.0, 0.03),
            slew_rates=(1.0, 20.0),
            velocity_scales=(0.3, 1.0),
            rest=0.0,
            quiet=0.0,
            free=True,
        ),
    )
}
"""All families by name."""


def family_of(seed: int) -> Family:
    """Return the family of a world of all families, by its seed."""
    chances = np.random.default_rng([seed, 2])
    families = list(FAMILIES.values())
    return families[int(chances.choice(len(families), p=[family.share for family in families]))]


def family_named(name: str) -> Family:
    """Return a family by its name.

    Raises:
        InputError: there is none of this name.
    """
    if name not in FAMILIES:
        raise InputError("family", f"expected one of {', '.join(FAMILIES)}, got '{name}'")
    return FAMILIES[name]


def world_of(
    family: Family, seed: int, faults: int = 0, make_runtime: MakeRuntime = ArmRuntime, user: UserArm | None = None
) -> World:
    """Return a world of a family with its faults planned, which all have ended at its time `end`.

    Args:
        family: what is drawn.
        seed: seed of everything.
        faults: number of faults; those of a smaller number are the first of a larger one; 0: those of the family.
        make_runtime: makes the runtime at each start of the node.
        user: the arm, and parameters that are not drawn; None: an arm of the pool.
    """
    plan, chances = (np.random.default_rng(each) for each in np.random.SeedSequence([seed, 1]).spawn(2))
    names = arm_names()
    name = OWN_ARM if plan.random() < 0.2 else names[int(plan.integers(len(names)))]
    real = variant(user or name, _draw(plan, family.variants))
    home = (singular_home if family.free and plan.random() < 0.15 else random_home)(real.arm, plan)
    if plan.random() < family.near_limits:
        home = _near_a_limit(real.arm, home, plan)
    if family.mistaken:
        real = real._replace(description=_with_friction(real.description, float(plan.uniform(0.5, 1.7))))
    options = _options(family, plan, real, home, user)
    world = World(seed, real.arm, home, options, real.description, make_runtime=make_runtime, bare_arm=real.bare)
    world.record("world", real.arm.name if user else name, [round(x, 3) for x in home.tolist()])
    if family.clock:
        _set_clock(world, family.clock, plan)
    if real.payload is not None and not ((family.free or family.mistaken) and plan.random() < 0.3):
        world.declare_payload(PayloadRequest(real.payload.link or "", tuple(real.payload.parameters.tolist())))
    _plan_faults(world, family, plan, chances, faults or family.faults_per_world)
    return world


def _set_clock(world: World, most: float, rng: np.random.Generator) -> None:
    """Let a driver stamp by another clock, and perhaps measure no efforts."""
    world.driver_clock_offset = round(1e9 * rng.uniform(-most, most))
    if rng.random() < 0.5:
        world.driver.faults.append(lambda samples: [sample._replace(effort=[]) for sample in samples])


def _near_a_limit(arm: RobotModel, home: Array, rng: np.random.Generator) -> Array:
    """Return joint positions of which one is near a limit, where the arm has limits."""
    limited = np.flatnonzero(np.isfinite(arm.lower) & np.isfinite(arm.upper))
    if not len(limited):
        return home
    joint, moved = _draw(rng, limited.tolist()), home.copy()
    moved[joint] = arm.upper[joint] - float(rng.uniform(0.03, 0.1))
    return moved


def _plan_faults(
    world: World, family: Family, plan: np.random.Generator, chances: np.random.Generator, faults: int
) -> None:
    seeds = chances.integers(2**63, size=faults)
    modes = family.modes or (MONITOR, *MODES)
    world.want_mode(_draw(plan, modes))
    t = START
    for number in range(faults):
        kind, own = _draw(plan, family.faults), np.random.default_rng(seeds[number])
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
    )
    delay = float(rng.choice([0.0, rng.uniform(*family.delays)]))
    states = ChannelQuality(float(rng.choice([0.0, 0.02])), delay, float(rng.choice([0.0, 0.5 / rate])))
    targets = TargetQuality(
        amplitude=float(rng.uniform(0.0, 0.15)),
        frequency=float(rng.uniform(0.5, 3.0)),
        force=float(rng.uniform(0.0, 10.0)),
        pose_in_base=bool(rng.random() < 0.5),
        pressed_axes=random_axes(rng) if rng.random() < 0.3 else (),
        stamped=bool(rng.random() < 0.3),
    )
    node = NodeQuality(
        latency=float(rng.choice([0.0, rng.uniform(0.0, 0.004)])),
        failsafe_start=float(rng.uniform(0.02, 0.1)),
        restart_time=float(rng.uniform(0.25, 0.4)),
    )
    settings = _settings(family, rng, real.description, home=home, period=1.0 / rate, effort_unit=unit)
    if user is not None:
        settings = _with(settings, _chosen(user, settings.robot.joints))
    if family.mistaken:
        settings = _mistaken(settings, rng)
    if family.clock and rng.random() < 0.5:
        settings = _with(settings, {"commands.delay": delay + node.latency + family.clock})
    commands, step = ChannelQuality(0.0, delay, 0.0), min(2e-3, 1.0 / rate)
    return WorldOptions(settings, driver, states, commands, targets, node, step, _draw(rng, family.patience), True)


def _settings(
    family: Family, rng: np.random.Generator, model: RobotModel, *, home: Array, period: float, effort_unit: float
) -> Settings:
    inertia = np.diag(mass_matrix(model, home))
    bandwidth = float(rng.uniform(3.0, 12.0))
    computed_torque = bool(rng.random() < 0.4)
    scale = np.ones(model.n) if computed_torque else inertia
    threshold = float(_draw(rng, family.thresholds))
    order = rng.permutation(model.n) if rng.random() < 0.3 else np.arange(model.n)
    command_effort, per_unit = _commands(rng, model)
    lowest, highest = np.log10(family.slew_rates)
    return Settings.from_values(
        {
            "robot.joints": [model.joint_names[i] for i in order],
            "friction.transition_velocity": 0.05,
            "states.estimate": [name for name in ("velocity", "acceleration") if family.free and rng.random() < 0.4],
            "states.measured_effort": "gravity_compensated" if rng.random() < 0.2 else "raw",
            "states.effort_gain": (effort_unit,) * model.n,
            "collision.bandwidth": 25.0 if threshold < np.inf else 0.0,
            "collision.threshold": (min(threshold, 1.0) * model.effort_limit)[order].tolist(),
            "commands.command_effort": command_effort,
            "commands.effort_per_unit": per_unit[order].tolist(),
            "commands.effort_scale": float(rng.uniform(0.6, 1.0)),
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
    chosen = {k: v for k, v in settings.values().items() if v != usual[k]}
    for name in ("robot.joints", "states.effort_gain"):
        chosen.pop(name, None)
    theirs = settings.robot.joints
    order = [theirs.index(joint) for joint in joints] if theirs else []
    for name, numbers in chosen.items():
        if (
            usual[name] == () and theirs and name != "states.estimate" and len(numbers) % len(theirs) == 0
        ):  # so many of each joint
            chosen[name] = np.reshape(numbers, (len(theirs), -1))[order].ravel().tolist()
    return chosen


def _mistaken(settings: Settings, rng: np.random.Generator) -> Settings:
    """Return parameters of a user who is wrong about the mount and the unit of efforts."""
    tilt, heading = rng.uniform(0.0, 0.15), rng.uniform(0.0, 2 * np.pi)
    unit, sideways = float(rng.choice([1.0, 1.0, 0.2, 0.1])), 9.81 * np.sin(tilt)
    down = (sideways * np.cos(heading), sideways * np.sin(heading), -9.81 * np.cos(tilt))
    gain = tuple(unit * each for each in settings.states.effort_gain)
    return _with(settings, {"robot.gravity": down, "states.effort_gain": gain})


def _with_friction(model: RobotModel, share: float) -> RobotModel:
    """Return a robot with a multiple of its friction."""
    drives = {each.name: each.dynamics for each in model.joints if each.mimics is None}
    changed = {k: replace(d, coulomb=share * d.coulomb, viscous=share * d.viscous) for k, d in drives.items()}
    return model.with_joint_dynamics(changed)


def _commands(rng: np.random.Generator, model: RobotModel) -> tuple[str, Array]:
    """Return what the controller takes, and the numbers of its motors: servos sag by 0.1 to 0.4 rad or m at most."""
    sag, constant = rng.uniform(0.1, 0.4, model.n), 10 ** rng.uniform(-1.0, 0.5, model.n)
    kinds = ("raw", "gravity_compensated", "position_offset", "current")
    kind = str(rng.choice(kinds, p=[0.56, 0.14, 0.2, 0.1]))
    return kind, model.effort_limit / sag if kind == "position_offset" else constant
