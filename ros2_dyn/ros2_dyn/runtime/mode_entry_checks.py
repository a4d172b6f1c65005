# SPDX-License-Identifier: Apache-2.0
"""What a mode needs to begin, beyond the conditions under which it goes on; one function each.

Each returns why the mode may not begin, and what to do about it, or an empty text. The first one that fails is told:
what is wrong with the robot comes first, then its states, a stop or a collision before, its place, what the mode needs
to go on, its controller, what the mode itself asks for, its efforts and its payload; then what a person has to do while
the mode is entered, and last whether the arm exerts what the model expects.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.arm import Arm
from ros2_dyn.control.conditions import enabling_signal, find_technical_violation
from ros2_dyn.control.events import Violation
from ros2_dyn.control.modes import MODES, AnyMode
from ros2_dyn.control.position_limits import positions_beyond
from ros2_dyn.control.soft_limits import WALL_WIDTH
from ros2_dyn.control.state_freshness import max_command_age
from ros2_dyn.control.unmodelled_effort import UnmodelledEffort
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.inputs import CommandLink
from ros2_dyn.runtime.model_monitor import ModelDifference
from ros2_dyn.runtime.payload_change import check_payload
from ros2_dyn.runtime.robot_dynamics import RobotDynamics

FAILSAFE_SUFFIX = "_failsafe"
"""End of the name of a failsafe process's node; the rest is that of the node which it guards."""


class Entry(NamedTuple):
    """A mode that is to begin, and where it would."""

    mode: AnyMode
    arm: Arm
    robot: RobotDynamics
    link: CommandLink
    stamped: bool
    """Whether the newest state has a stamp."""
    applied: Array
    """Efforts that the joints exert, as they would be commanded, N m or N, shape (n,)."""
    gravity: Array
    """Efforts that carry the arm, as they would be commanded, N m or N, shape (n,)."""
    brakes: bool = False
    """Whether a stop has not brought the arm to rest yet."""
    difference: ModelDifference | None = None
    """Mean difference from the model over the newest states; None where efforts are not measured."""
    held: Array | None = None
    """Efforts that have held the arm here at rest, as they would be commanded, N m or N, shape (n,); None: they are not
    known, or a hand or a wall may have borne a part of the arm."""
    before: UnmodelledEffort | None = None
    """What holds it beyond its model by the mode before, which nothing has ended but a request; None: not known."""

    @property
    def unmodelled(self) -> UnmodelledEffort:
        """What holds the arm beyond its model; an arm that is led by a hand while modes change shows nothing new."""
        if self.held is None and self.before is not None:
            return self.before
        found, effort = self.difference, None
        if self.held is not None:
            effort = found.beyond if found is not None and found.in_another_unit else self.held - self.gravity
        return UnmodelledEffort(self.arm.state.q, np.zeros_like(self.gravity) if effort is None else effort)

    @property
    def goes_on(self) -> bool:
        """Whether what held the arm is what the mode goes on with."""
        return self.held is not None and not (self.difference is not None and self.difference.in_another_unit)

    @property
    def first(self) -> Array:
        """The effort that the mode begins from, as it would be commanded, N m or N, shape (n,).

        What the joints exert; where the unit may be another one, what that would be in N m or N, or at least what comes
        nearest to it by the model and friction.
        """
        found = self.difference
        if found is None or not found.in_another_unit:
            return self.applied
        if found.beyond is not None:
            return self.gravity + found.beyond
        return np.clip(self.applied, self.gravity - found.friction, self.gravity + found.friction)


# ---- of the robot, before there is a state


def description_problem(robot: RobotDynamics) -> str:
    """Return what no body or joint is like in the robot description."""
    errors = [str(each) for each in robot.findings if each.severity == "error"]
    more = f" ({len(errors) - 1} more: ros2_dyn audit shows them)" if errors[1:] else ""
    return f"the robot description is wrong: {errors[0]}{more}" if errors else ""


class MissingLimit(NamedTuple):
    """A limit that a joint lacks."""

    joint: str
    kind: str
    value: float
    """In its place."""


def missing_limit(model: RobotModel) -> MissingLimit | None:
    """Return the first limit that the joints of a robot lack; None: they have all that commands need."""
    for name, effort, velocity in zip(model.joint_names, model.effort_limit, model.velocity_limit):
        for kind, limit in (("effort", effort), ("velocity", velocity)):
            if not (isfinite(limit) and limit > 0):
                return MissingLimit(name, kind, limit)
    return None


def limits_problem(robot: RobotDynamics) -> str:
    """Return which limit the robot lacks."""
    found = missing_limit(robot.model)
    if found is None:
        return ""
    return f"joint '{found.joint}' has no {found.kind} limit in the robot description (its value is {found.value:g})"


# ---- of a mode, in the order of `CHECKS`


def state_stream(entry: Entry) -> str:
    """Joint states come with stamps, often enough and young."""
    age, period, timeout = entry.arm.age, entry.arm.loop.period, max_command_age(entry.arm.state_timeout)
    if not entry.stamped:
        return "joint_states has no stamps, so that the age of a state is not known"
    if period == inf:
        return "only one state has come on joint_states yet"
    if not 4 * period <= timeout:  # so that a single state may be lost
        needed = 1.05 * 4 * period * entry.arm.state_timeout / timeout  # it is rounded to two digits
        return f"joint_states come every {period:.3g} s: set states.timeout to {needed:.2g} s or more"
    if abs(age) <= timeout:
        return ""
    side = "behind" if age > 0 else "ahead of"
    return (
        f"the newest of joint_states is {abs(age):.3f} s {side} this node's clock, "
        f"states.timeout allows {timeout:.3g} s: does the driver run, do clocks and use_sim_time agree?"
    )


def plausible_state(entry: Entry) -> str:
    """The newest state can be believed."""
    return f"joint_states cannot be believed: {entry.arm.problem}" if entry.arm.problem else ""


def standstill(entry: Entry) -> str:
    """A stop before has brought the arm to rest: what holds it beyond its model is known then."""
    return "the arm has not come to rest after a stop: request the mode again when it rests" if entry.brakes else ""


def no_collision(entry: Entry) -> str:
    """No collision is latched."""
    return "a collision is latched: ~/reset_collision ends it" if entry.arm.collision else ""


def within_limits(entry: Entry) -> str:
    """No joint is beyond its limits, or as far as the walls of a mode are wide that can bring it back."""
    arm, allowed = entry.arm, WALL_WIDTH if entry.mode.needs.begins_behind_walls else 0.0
    if not (beyond := positions_beyond(arm.positions, arm.state.q, allowed)):
        return ""
    if positions_beyond(arm.positions, arm.state.q, WALL_WIDTH):
        return f"{beyond}: move it back first"
    bringing_back = [name for name, mode in MODES.items() if mode.needs.begins_behind_walls]
    return f"{beyond}: {' or '.join(bringing_back)} can bring it back"


def going_on(entry: Entry) -> str:
    """The mode may go on once it has begun, if a person wants it."""
    return _refusal(find_technical_violation(entry.mode, entry.arm))


def known_delay(entry: Entry) -> str:
    """The delay of the commands is measured or declared, where the mode needs that."""
    if not entry.mode.needs.known_delay or entry.difference is not None or entry.arm.commands.delay > 0:
        return ""
    return (
        "the delay of the commands is not known, for efforts are not measured: set commands.delay to the time from a "
        "command to the effort of the joints, s; and by as much more as stamps of joint_states may be of a later clock"
    )


def controller(entry: Entry) -> str:
    """One controller receives the commands, and no other node commands it."""
    link = entry.link
    if link.subscribers == 0:
        remedy = "remap ~/command to the controller's topic, and start the controller"
        return f"there is no subscriber on {link.topic}: {remedy}"
    for name in link.other_publishers:
        if name.endswith(FAILSAFE_SUFFIX):
            remedy = f"it took over from a node that ended or was held up; {name}/release ends that"
            return f"'{name}' commands on {link.topic}: {remedy}"
        return f"'{name}' publishes on {link.topic}, too: two commanders would fight"
    return ""


def own_conditions(entry: Entry) -> str:
    """What the mode itself asks for."""
    return entry.mode.why_not_begin(entry.arm)


def margins(entry: Entry) -> str:
    """No joint bears more than its limits allow."""
    limits = entry.arm.limits
    for i, name in enumerate(limits.joint_names):
        for what, effort in (("exerts", entry.applied[i]), ("needs against gravity", entry.gravity[i])):
            if not abs(effort) <= limits.effort[i]:
                allowed = f"commands.effort_scale allows {limits.effort[i]:.4g}"
                return f"joint '{name}' {what} {effort:.4g} N m or N, {allowed}"
    return ""


def payload(entry: Entry) -> str:
    """The limits carry the payload where the arm is, and it has taken effect: what holds the arm is known then."""
    try:
        check_payload(entry.robot, entry.arm.state.q.tolist(), entry.robot.payload.target, nearby=0.0)
    except InputError as error:
        return error.problem
    changes = entry.robot.payload.share(entry.arm.now) < 1
    return "another payload is taking effect: request the mode again when its ramp is over" if changes else ""


def button(entry: Entry) -> str:
    """A person holds the button of a mode that requires it."""
    return _refusal(enabling_signal(entry.mode, entry.arm))


def _refusal(found: Violation | None) -> str:
    """Return a condition that does not hold, and what to do about it, in words; empty for None."""
    if found is None:
        return ""
    return f"{found.kind}{found.detail}; {found.remedy}" if found.remedy else found.kind + found.detail


def model(entry: Entry) -> str:
    """The joints exert what the model expects; without measured efforts nothing can be checked."""
    found = entry.difference
    if found is None:
        return ""
    i = found.worst
    if float(found.ratio[i]) <= 1.0:
        if not (found.in_another_unit and found.is_loaded):
            return ""
        remedy = "efforts are in N m or N: check states.effort_gain, states.measured_effort and the payload"
        return f"the joints exert {100 * found.share:.0f} % of what bears their weight by the model; {remedy}"
    joint, difference = found.joint_names[i], found.difference[i]
    side = "more" if difference > 0 else "less"
    return (
        f"joint '{joint}' exerts {abs(difference):.3g} N m or N {side} than the model expects, "
        f"commands.model_tolerance and friction allow {found.allowed[i]:.3g}: check the payload, the gravity vector, "
        "states.measured_effort, states.effort_gain and the joint's sign; nothing may touch the arm"
    )


CHECKS: tuple[Callable[[Entry], str], ...] = (
    state_stream,
    plausible_state,
    standstill,
    no_collision,
    within_limits,
    going_on,
    known_delay,
    controller,
    own_conditions,
    margins,
    payload,
    button,
    model,
)
"""In the order in which they are told."""


def entry_problem(entry: Entry) -> str:
    """Return why a mode may not begin; empty: it may."""
    return next((problem for check in CHECKS if (problem := check(entry))), "")
