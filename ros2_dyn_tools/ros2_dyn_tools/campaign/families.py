# SPDX-License-Identifier: Apache-2.0
"""Families of worlds: what each presupposes, as the ranges that its worlds are drawn from, and what it promises.

Nothing that makes a promise void is drawn in a family. What no premise covers, a mixture of everything, is a family of
its own, whose only promises are those that hold always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn_tools.campaign import promises
from ros2_dyn_tools.campaign.arm_pool import VARIANTS
from ros2_dyn_tools.campaign.commander_faults import COMMANDER_FAULTS
from ros2_dyn_tools.campaign.driver_faults import DRIVER_FAULTS
from ros2_dyn_tools.campaign.faults import ABSURD, FAULTS, WRONG_MODELS
from ros2_dyn_tools.campaign.promise import Disturbances, Promise
from ros2_dyn_tools.campaign.promises import ALWAYS, rest
from ros2_dyn_tools.campaign.target_generator import TARGET_FAULTS

QUIET = (2.0, 4.0)
"""Shortest and longest time of quiet after a fault, s."""
MIN_GAP, MAX_GAP = 0.1, 0.5
"""Shortest and longest time from one fault to the next, s."""
UNPREMISED = "unpremised"
"""Name of the family that no premise covers."""
REQUESTS = ("mode toggled", "enable lost", "settings changed", "stiffness changed")
PROCESSES = (
    "node killed",
    "node killed while it brakes",
    "node terminated",
    "node hangs",
    "node stopped",
    "interpreter held",
)
COMMANDERS = (*COMMANDER_FAULTS, "commands lost")
PUSHES = ("arm pushed",)
HANDS, WALLS = (*PUSHES, "arm leaned on", "arm led"), ("wall", "wall pressed", "spring blocked")
PAYLOADS = ("payload declared",)
HANDOVERS = ("handed over", "handover fails")
STATES = (*(kind for kind in DRIVER_FAULTS if kind != "names swapped"), "states late", "states lost", "clocks jump")
STEADY = (promises.velocity_limit, promises.swings)
SLIPS = ("encoder slips",)
ENCODERS = ("positions step", *SLIPS)
"""Faults that no arm of servos has: a servo goes where its encoder goes, whatever is commanded."""
SLOW = (promises.tip_speed, promises.joint_speed, *STEADY)
HELD = (promises.travel, promises.stopped_speed)
STOPPED = (*HELD, promises.left_at_rest, promises.position_limit)
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
    """Variants of the arms, see `variant`: odd ones carry something, the friction of 2 is not described."""
    near_limits: float = 0.0
    """Share of the worlds that begin with a joint near its position limit."""
    forces: tuple[float, float] = (0.0, 10.0)
    """Smallest and largest amplitude of the desired force along each axis, N."""
    clock: float = 0.0
    """Largest difference of the driver's clock, s."""
    unmeasured: float = 0.0
    """Share of the drivers that measure no efforts."""
    one_convention: bool = False
    """Whether robots tell efforts as they take them, with gravity or without. They go by a model of their own, which is
    better than one that users are wrong in: nobody could convert one into the other."""
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
            (*STOPPED, promises.brakes, *SLOW, promises.enable),
            rest=1.0,
            near_limits=0.3,
            quiet=0.1,
        ),
        Family(
            "targets",
            0.1,
            tuple(TARGET_FAULTS),
            (*STOPPED, promises.brakes, *SLOW),
            slew_rates=(5.0, 40.0),
            near_limits=0.5,
            modes=("feed_forward", "feed_forward", "force", "impedance"),
            quiet=0.1,
        ),
        Family(
            "payload",
            0.05,
            PAYLOADS,
            (promises.payload, *STOPPED, promises.brakes, *SLOW),
            Disturbances(changes=PAYLOADS),
            modes=("gravity",),
            variants=(1, 3),
            faults_per_world=5,
            one_convention=True,
        ),
        Family(
            "wrong model",
            0.1,
            (*WRONG_MODELS, *ABSURD),
            (promises.speeding, promises.left_at_rest, *SLOW),
            Disturbances(ABSURD, WRONG_MODELS),
            faults_per_world=6,
        ),
        Family(
            "untouched",
            0.05,
            ("enable lost", "encoder slips", "messages repeated"),
            (promises.untouched, *STOPPED, *SLOW, promises.enable),
            Disturbances(unseen=SLIPS),
            modes=("gravity", "gravity", "hand_guiding"),
            gaps=(0.5, 1.5),
            faults_per_world=6,
            one_convention=True,
            mistaken=True,
        ),
        Family(
            "states",
            0.15,
            STATES,
            (promises.silence, promises.blind_command, *STOPPED, *SLOW),
            Disturbances(unseen=STATES),
            rest=2.5,
            gaps=(1.5, 2.5),
            faults_per_world=10,
        ),
        Family(
            "processes",
            0.1,
            PROCESSES,
            (*STOPPED, promises.brakes, *SLOW, promises.takeover),
            gaps=(0.6, 1.5),
            faults_per_world=8,
        ),
        Family(
            "other commander",
            0.1,
            COMMANDERS,
            (promises.other_commander, *HELD, *SLOW),
            Disturbances(COMMANDERS),
        ),
        Family(
            "hand",
            0.05,
            (*HANDS, "mode toggled"),
            (promises.left_at_rest, *SLOW, promises.enable),
            Disturbances(HANDS),
            velocity_scales=(0.6, 1.0),
            gaps=(0.5, 1.5),
            modes=("hand_guiding", "impedance", "gravity"),
            patience=(0.0, 6.0),
            faults_per_world=10,
        ),
        Family(
            "collision",
            0.05,
            PUSHES,
            (promises.collision, promises.left_at_rest, *STEADY),
            Disturbances(PUSHES),
            gaps=(0.5, 1.5),
            modes=("feed_forward",),
            thresholds=(0.05,),
            variants=(0, 1, 3),
            faults_per_world=10,
        ),
        Family(
            "wall",
            0.08,
            WALLS,
            (*STOPPED, *SLOW, promises.wall_force),
            Disturbances(WALLS),
            delays=(0.0, 0.03),
            forces=(5.0, 25.0),
            clock=0.03,
            unmeasured=0.5,
            faults_per_world=10,
        ),
        Family(
            "handover",
            0.05,
            HANDOVERS,
            (promises.handover, *STOPPED, *SLOW),
            Disturbances(HANDOVERS),
            modes=("gravity",),
            unmeasured=0.3,
            faults_per_world=2,
        ),
        Family(
            UNPREMISED,
            0.02,
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
