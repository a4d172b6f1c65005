"""The conditions under which a mode continues. A new condition of a mode is added here."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.modes import TRACKING_MODES, Mode
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
    singularity_threshold: float = 0.02
    """Minimum singular value of the tip's Jacobian in mode force."""
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
    fed_energy: float = 0.0
    """Energy that late commands have fed into the arm, J; see `PassivityObserver`."""
    delay: float = 0.0
    """Longest delay of the loop, s."""
    reduced_for: float = 0.0
    """For how long the delay has allowed less than the desired wrench, s."""


class Violation(NamedTuple):
    """A condition that does not hold."""

    kind: str
    """A short constant phrase to count by."""
    detail: str = ""
    """The joint, the value and the limit, with a leading colon."""


def find_violation(mode: Mode, seen: GuardInput, limits: CommandLimits, conditions: ModeConditions) -> Violation | None:
    """Return the first condition of a mode that does not hold, or None."""
    too_fast = np.flatnonzero(np.abs(seen.qd) > limits.velocity)
    if too_fast.size:
        i = int(too_fast[0])
        allowed = f"{limits.velocity[i]:.3g} rad/s or m/s are allowed"
        return Violation("too fast", f": '{limits.joint_names[i]}' moves with {seen.qd[i]:.3g}, {allowed}")
    if seen.collision and mode in conditions.collision_stop_modes:
        return Violation("collision")
    if mode in TRACKING_MODES and not seen.target_age <= conditions.target_timeout:
        return Violation("target stale", f": {seen.target_age:.3f} s old")
    if mode in TRACKING_MODES and not seen.target_distance <= conditions.tracking_tolerance:
        return Violation("target far", f": {seen.target_distance:.3g} rad or m from it")
    if mode == "force" and seen.min_singular_value < conditions.singularity_threshold:
        return Violation("singularity", f": smallest singular value {seen.min_singular_value:.3g}")
    if seen.fed_energy > conditions.energy_budget:
        allowed = f"energy_budget allows {conditions.energy_budget:.3g} J"
        late = f"commands that come {1e3 * seen.delay:.0f} ms late"
        return Violation("energy", f": {late} fed {seen.fed_energy:.3g} J into the arm, {allowed}")
    if mode == "force" and seen.reduced_for > MAX_REDUCED_TIME:
        return Violation("delay", f": {1e3 * seen.delay:.0f} ms allow less than the desired wrench")
    return None
