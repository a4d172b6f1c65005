# SPDX-License-Identifier: Apache-2.0
"""The conditions under which every mode begins and goes on, one function each; those of one mode are its own.

Several may fail at one state. One is told: what a person did (`enabling_signal`), then the first in `CONDITIONS`: the
model and the controller, which make the rest doubtful; joints and tip that are too fast, or whose velocities are wrong,
or near a limit; a collision; what the law lacks; the energy of late commands. What the mode itself asks for comes last.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.events import Violation
from ros2_dyn.control.modes.base import AnyMode, TargetKind
from ros2_dyn.control.passivity_observer import ENERGY_BUDGET
from ros2_dyn.control.position_limits import limit_ahead

TARGET_TOPICS: dict[TargetKind, str] = {
    "joints": "~/desired",
    "wrench": "~/desired_wrench",
    "pose": "~/desired_pose",
}
"""Where what a mode follows is published."""


def requires_enable(mode: AnyMode | type[AnyMode], commands: CommandSettings) -> bool:
    """Return whether a mode requires an enabling signal."""
    return mode.needs.enabling_signal and commands.require_enable


def target_age(mode: AnyMode | type[AnyMode], arm: Arm) -> float:
    """Return the age of what a mode follows and needs, s; 0 where it needs nothing, inf where there is nothing."""
    if mode.needs.target == "joints":
        return np.inf if arm.desired is None else arm.now - arm.desired_at
    if mode.needs.target == "wrench":
        return np.inf if arm.wrench is None else arm.now - arm.wrench.desired_at
    if mode.needs.target == "pose":
        return np.inf if arm.pose is None else arm.now - arm.pose.desired_at
    return 0.0


def enabling_signal(mode: AnyMode, arm: Arm) -> Violation | None:
    """A person holds the button of a mode that requires it."""
    if not requires_enable(mode, arm.commands) or arm.enable_age <= arm.commands.enable_timeout:
        return None
    how = f"{arm.enable_age:.3f} s old" if isfinite(arm.enable_age) else "released"
    remedy = (
        "it has to be true on ~/enable at 10 Hz or more, as from a button that is held. To try it: "
        "ros2 topic pub -r 20 /dynamics/enable std_msgs/msg/Bool '{data: true}'"
    )
    return Violation("enable released", f": the enabling signal is {how}", remedy)


def trusted_model(mode: AnyMode, arm: Arm) -> Violation | None:
    """Efforts and motion are those of the model, and the controller follows; see `model_doubt`."""
    return arm.doubt


def joint_speed(mode: AnyMode, arm: Arm) -> Violation | None:
    """No joint is faster than its limit, or than the tip may be where no motion of the joints is followed."""
    limits, qd = arm.limits, arm.fastest_qd
    most = limits.velocity if mode.needs.target == "joints" else np.minimum(limits.velocity, arm.max_led_speed)
    too_fast = np.abs(qd) > most
    if not too_fast.any():
        return None
    i = int(too_fast.argmax())
    allowed = f"{most[i]:.3g} rad/s or m/s are allowed"
    return Violation("too fast", f": '{limits.joint_names[i]}' moves with {qd[i]:.3g}, {allowed}")


def plausible_velocity(mode: AnyMode, arm: Arm) -> Violation | None:
    """The driver's velocities fit its positions."""
    return Violation("velocity implausible", f": {arm.velocity_problem}") if arm.velocity_problem else None


def joint_range(mode: AnyMode, arm: Arm) -> Violation | None:
    """Each joint can stop before its limit."""
    ahead = limit_ahead(arm.positions, arm.state, arm.fastest_qd, arm.limits.effort, mode.needs.walls)
    return Violation("position limit", f": {ahead}") if ahead else None


def tip_speed(mode: AnyMode, arm: Arm) -> Violation | None:
    """The tip is slow where no motion of the joints is followed: people lead the arm, or an error of the model does."""
    allowed = arm.commands.max_tip_speed
    if mode.needs.target == "joints" or arm.tip_speed <= allowed:
        return None
    return Violation("tip too fast", f": it moves with {arm.tip_speed:.3g} m/s, {allowed:.3g} m/s are allowed")


def collision(mode: AnyMode, arm: Arm) -> Violation | None:
    """There is no collision, where contact is not expected."""
    return Violation("collision") if arm.collision and not mode.needs.contact else None


def detector(mode: AnyMode, arm: Arm) -> Violation | None:
    """External efforts are observed, where they stop the mode or its law needs them."""
    stops = arm.detects_collisions and not mode.needs.contact
    if not (stops or mode.uses_external_wrench(arm.now)) or arm.detector_age <= arm.state_timeout:
        return None
    since = f"for {arm.detector_age:.3f} s" if isfinite(arm.detector_age) else "yet"
    needed = "collision.threshold or the mode's law needs that of all joints"
    return Violation("detector blind", f": joint_states gave no usable effort {since}", needed)


def target(mode: AnyMode, arm: Arm) -> Violation | None:
    """What the mode follows is young."""
    age, needed = target_age(mode, arm), mode.needs.target
    if needed is None or age <= arm.commands.target_timeout:
        return None
    found = f"{age:.3f} s old" if isfinite(age) else "none is usable"
    return Violation("target stale", f": {found}", f"publish on {TARGET_TOPICS[needed]} first")


def energy(mode: AnyMode, arm: Arm) -> Violation | None:
    """Late commands feed little energy into the arm; see `PassivityObserver`."""
    fed = arm.loop.fed_energy
    if fed <= ENERGY_BUDGET:
        return None
    late = f"commands that come {1e3 * arm.loop.longest:.0f} ms late"
    return Violation("energy", f": {late} fed {fed:.3g} J into the arm, {ENERGY_BUDGET:.3g} J are allowed")


CONDITIONS: tuple[Callable[[AnyMode, Arm], Violation | None], ...] = (
    trusted_model,
    joint_speed,
    plausible_velocity,
    joint_range,
    tip_speed,
    collision,
    detector,
    target,
    energy,
)
"""In the order in which they are told."""


def find_violation(mode: AnyMode, arm: Arm) -> Violation | None:
    """Return the first condition of a mode that does not hold, or None."""
    released = enabling_signal(mode, arm)
    return find_technical_violation(mode, arm) if released is None else released


def find_technical_violation(mode: AnyMode, arm: Arm) -> Violation | None:
    """Return the first condition of a mode that does not hold, whatever the enabling signal is, or None."""
    for condition in CONDITIONS:
        if (violation := condition(mode, arm)) is not None:
            return violation
    return mode.why_not_go_on(arm)
