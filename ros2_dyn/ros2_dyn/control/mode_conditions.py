# SPDX-License-Identifier: Apache-2.0
"""The conditions under which a mode continues. A new condition of a mode is added here."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.modes import CONTACT_MODES, TRACKING_MODES, Mode
from ros2_dyn.model.spatial import Array

MAX_REDUCED_TIME = 1.0
"""Maximum time for which the delay may allow less than the desired wrench, s."""


@dataclass(frozen=True)
class ModeConditions:
    """Limits of the conditions."""

    target_timeout: float = 0.1
    """Maximum age of the target of a tracking mode, s."""
    tracking_tolerance: float = 0.3
    """Maximum distance of a joint from its target, rad or m."""
    collision_stop_modes: tuple[str, ...] = ("gravity", "feed_forward")
    """Modes that a collision stops. Contact is expected in the others."""
    detector_timeout: float = 0.1
    """Maximum time without external efforts in a mode that relies on them, s."""
    singularity_threshold: float = 0.02
    """Minimum singular value of the tip's Jacobian in mode force."""
    max_tip_speed: float = inf
    """Maximum speed of the tip in `CONTACT_MODES`, m/s."""
    force_travel_limit: float = inf
    """Maximum distance of the tip from where mode force began, or along what mode impedance leaves free, m."""
    require_enable: tuple[str, ...] = ()
    """Modes that need an enabling signal."""
    enable_timeout: float = 0.2
    """Maximum age of the enabling signal, s."""
    energy_budget: float = 0.02
    """Maximum energy that late commands may have fed into the arm, J."""


class GuardInput(NamedTuple):
    """Input of the conditions at one state."""

    now: float
    """Time, s."""
    age: float
    """Age of the state by its stamp, s."""
    q: Array
    """Joint positions, rad or m, shape (n,)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (n,)."""
    target_age: float = 0.0
    """Age of the target, s; inf without one."""
    target_distance: float = 0.0
    """Maximum distance of a joint from its target, rad or m."""
    collision: bool = False
    """Whether a collision is latched."""
    min_singular_value: float = inf
    """Smallest singular value of the tip's Jacobian."""
    problem: str = ""
    """Why no command may be based on the state; empty where it fits the states before."""
    velocity_problem: str = ""
    """Why the driver's velocities were replaced; empty where they fit the positions."""
    detector_age: float = 0.0
    """Time since external efforts were observed, s; 0 in a mode that does not rely on them."""
    tip_speed: float = 0.0
    """Speed of the tip, m/s."""
    limit_ahead: str = ""
    """Which joint is beyond a position limit or cannot stop before it; empty: none."""
    target_beyond: str = ""
    """Which desired position is beyond its limits; empty: none."""
    tip_travel: float = 0.0
    """Distance of the tip from where mode force began, or along what mode impedance leaves free, m."""
    contact_lost: bool = False
    """Whether the tip has lost what it pressed on."""
    enable_age: float = inf
    """Age of the newest enabling signal, s; inf where the newest one is a release, or there is none."""
    doubt: Violation | None = None
    """What speaks against the model or the controller; see `model_doubt`."""
    fed_energy: float = 0.0
    """Energy that late commands have fed into the arm, J; see `PassivityObserver`."""
    delay: float = 0.0
    """Longest delay of the loop, s."""
    reduced_for: float = 0.0
    """For how long the delay has allowed less than the desired wrench, s."""
    inert: bool = False
    """Whether the joints are measured to exert nothing, although efforts are commanded."""


class Violation(NamedTuple):
    """A condition that does not hold."""

    kind: str
    """A short constant phrase to count by."""
    detail: str = ""
    """The joint, the value and the limit, with a leading colon."""


def find_violation(mode: Mode, seen: GuardInput, limits: CommandLimits, conditions: ModeConditions) -> Violation | None:
    """Return the first condition of a mode that does not hold, or None."""
    if mode in conditions.require_enable and not seen.enable_age <= conditions.enable_timeout:
        how = f"{seen.enable_age:.3f} s old" if isfinite(seen.enable_age) else "released"
        return Violation("enable released", f": the enabling signal is {how}")
    if seen.doubt is not None:
        return seen.doubt
    too_fast = np.abs(seen.qd) > limits.velocity
    if too_fast.any():
        i = int(too_fast.argmax())
        allowed = f"{limits.velocity[i]:.3g} rad/s or m/s are allowed"
        return Violation("too fast", f": '{limits.joint_names[i]}' moves with {seen.qd[i]:.3g}, {allowed}")
    if seen.velocity_problem:
        return Violation("velocity implausible", f": {seen.velocity_problem}")
    if seen.limit_ahead:
        return Violation("position limit", f": {seen.limit_ahead}")
    if mode in CONTACT_MODES and not seen.tip_speed <= conditions.max_tip_speed:
        allowed = f"{conditions.max_tip_speed:.3g} m/s are allowed"
        return Violation("tip too fast", f": it moves with {seen.tip_speed:.3g} m/s, {allowed}")
    if seen.collision and mode in conditions.collision_stop_modes:
        return Violation("collision")
    if seen.detector_age > conditions.detector_timeout:
        return Violation("detector blind", f": joint_states gave no usable effort for {seen.detector_age:.3f} s")
    if mode in TRACKING_MODES and not seen.target_age <= conditions.target_timeout:
        return Violation("target stale", f": {seen.target_age:.3f} s old")
    if seen.target_beyond:
        return Violation("target beyond limit", f": {seen.target_beyond}")
    if mode in TRACKING_MODES and not seen.target_distance <= conditions.tracking_tolerance:
        return Violation("target far", f": {seen.target_distance:.3g} rad or m from it")
    if mode == "force" and seen.contact_lost:
        return Violation("contact lost")
    if not seen.tip_travel <= conditions.force_travel_limit:
        return Violation("travel limit", f": the tip is {seen.tip_travel:.3g} m from where it began")
    if mode == "force" and seen.min_singular_value < conditions.singularity_threshold:
        return Violation("singularity", f": smallest singular value {seen.min_singular_value:.3g}")
    if seen.fed_energy > conditions.energy_budget:
        allowed = f"commands.energy_budget allows {conditions.energy_budget:.3g} J"
        late = f"commands that come {1e3 * seen.delay:.0f} ms late"
        return Violation("energy", f": {late} fed {seen.fed_energy:.3g} J into the arm, {allowed}")
    if mode == "force" and seen.reduced_for > MAX_REDUCED_TIME:
        return Violation("delay", f": {1e3 * seen.delay:.0f} ms allow less than the desired wrench")
    return None
