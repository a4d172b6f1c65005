# SPDX-License-Identifier: Apache-2.0
"""The checks before a mode is entered. Each returns, or raises ModeRefused with the condition that does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot, inf, isfinite

from ros2_dyn.control.effort_limiter import CommandLimits
from ros2_dyn.control.mode_conditions import GuardInput, ModeConditions
from ros2_dyn.control.modes import CONTACT_MODES, Mode
from ros2_dyn.control.position_limits import PositionLimits, positions_beyond
from ros2_dyn.control.state_freshness import COMMAND_AGE_FRACTION
from ros2_dyn.errors import ModeRefused
from ros2_dyn.model import Finding, RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.control_laws import MAX_FREE_SPEED
from ros2_dyn.runtime.inputs import CommandLink
from ros2_dyn.runtime.model_monitor import ModelDifference

FAILSAFE_SUFFIX = "_failsafe"
"""End of the name of a failsafe process's node; the rest is that of the node which it guards."""
STATES_WITHIN_TIMEOUT = 4
"""Number of states that have to come within the state timeout, so that a single one may be lost."""


def check_description(mode: Mode, findings: Iterable[Finding]) -> None:
    """Check that the robot description holds nothing that no body or joint is like."""
    errors = [str(each) for each in findings if each.severity == "error"]
    if errors:
        more = f" ({len(errors) - 1} more: ros2_dyn audit shows them)" if errors[1:] else ""
        raise ModeRefused(mode, f"the robot description is wrong: {errors[0]}{more}")


def check_limits(mode: Mode, model: RobotModel, command_joints: Sequence[str]) -> None:
    """Check that the robot has limits, and the joints that are to be commanded."""
    for name, effort, velocity in zip(model.joint_names, model.effort_limit, model.velocity_limit):
        for kind, limit in (("effort", effort), ("velocity", velocity)):
            if not (isfinite(limit) and limit > 0):
                raise ModeRefused(
                    mode, f"joint '{name}' has no {kind} limit in the robot description (its value is {limit:g})"
                )
    for name in command_joints:
        if name not in model.joint_names:
            joints = list(model.joint_names)
            raise ModeRefused(mode, f"commands.joints names '{name}', which is none of the robot's joints: {joints}")


def check_state_stream(mode: Mode, age: float, period: float, stamped: bool, state_timeout: float) -> None:
    """Check that joint states come with stamps, often enough and young.

    Args:
        mode: the mode.
        age: of the newest state, s.
        period: of the states, s.
        stamped: whether the newest state has a stamp.
        state_timeout: maximum age of a state that a command may be based on, s.
    """
    timeout = COMMAND_AGE_FRACTION * state_timeout
    if not stamped:
        raise ModeRefused(mode, "joint_states has no stamps, so that the age of a state is not known")
    if period == inf:
        raise ModeRefused(mode, "only one state has come on joint_states yet")
    if not period * STATES_WITHIN_TIMEOUT <= timeout:
        needed = 1.05 * STATES_WITHIN_TIMEOUT * period / COMMAND_AGE_FRACTION  # it is rounded to two digits
        raise ModeRefused(mode, f"joint_states come every {period:.3g} s: set states.timeout to {needed:.2g} s or more")
    if not abs(age) <= timeout:
        side = "behind" if age > 0 else "ahead of"
        raise ModeRefused(
            mode,
            f"the newest of joint_states is {abs(age):.3f} s {side} this node's clock, "
            f"states.timeout allows {timeout:.3g} s: does the driver run, do clocks and use_sim_time agree?",
        )


def check_target(mode: Mode, seen: GuardInput, conditions: ModeConditions) -> None:
    """Check that nothing latched or desired stands against the mode at this state."""
    if seen.collision:
        raise ModeRefused(mode, "a collision is latched: ~/reset_collision ends it")
    if seen.detector_age > conditions.detector_timeout:
        needs = "it relies on external efforts (collision_threshold, guiding_assist_gain)"
        raise ModeRefused(mode, f"{needs}, and joint_states gives no usable effort of all joints")
    if not seen.target_age <= conditions.target_timeout:
        topic = "~/desired_wrench" if mode == "force" else "~/desired"
        found = f"the newest is {seen.target_age:.3f} s old" if isfinite(seen.target_age) else "none is usable"
        raise ModeRefused(mode, f"it follows {topic}, and {found}: publish there first")
    if not seen.target_distance <= conditions.tracking_tolerance:
        distance, allowed = f"{seen.target_distance:.3g} rad or m away", conditions.tracking_tolerance
        raise ModeRefused(mode, f"the desired positions are {distance}, tracking_tolerance is {allowed}")
    if mode == "force" and seen.min_singular_value < conditions.singularity_threshold:
        raise ModeRefused(mode, f"near a singularity: smallest singular value {seen.min_singular_value:.3g}")


def check_positions(mode: Mode, limits: PositionLimits, q: Sequence[float], margin: float) -> None:
    """Check that no joint is beyond its limits; hand_guiding may begin a margin beyond them, to come back.

    Args:
        mode: the mode.
        limits: of the positions.
        q: joint positions, rad or m, shape (n,).
        margin: width of the soft walls, rad or m.
    """
    if beyond := positions_beyond(limits, q, margin if mode == "hand_guiding" else 0.0):
        remedy = "hand_guiding can bring it back" if not positions_beyond(limits, q, margin) else "move it back first"
        raise ModeRefused(mode, f"{beyond}: {remedy}")


def check_motion(mode: Mode, seen: GuardInput, conditions: ModeConditions) -> None:
    """Check that no joint runs into a limit, that no target is beyond one, and that the tip is slow enough."""
    if seen.limit_ahead:
        raise ModeRefused(mode, f"a position limit is ahead: {seen.limit_ahead}")
    if seen.target_beyond:
        raise ModeRefused(mode, f"a desired position is beyond its limits: {seen.target_beyond}")
    if mode in CONTACT_MODES and not seen.tip_speed <= conditions.max_tip_speed:
        raise ModeRefused(
            mode, f"the tip moves with {seen.tip_speed:.3g} m/s, {conditions.max_tip_speed:.3g} m/s are allowed"
        )


def check_enabled(mode: Mode, seen: GuardInput, conditions: ModeConditions) -> None:
    """Check that the mode is enabled, where it has to be."""
    if mode in conditions.require_enable and not seen.enable_age <= conditions.enable_timeout:
        raise ModeRefused(
            mode,
            "it needs an enabling signal, true on ~/enable at 10 Hz or more, as from a button that is held. To try it: "
            "ros2 topic pub -r 20 /dynamics/enable std_msgs/msg/Bool '{data: true}'",
        )


def check_delay(mode: Mode, delay: float, free_speed: float, wrench: Array) -> None:
    """Check that a tip under the desired wrench stays slow in free space, however strongly the loop may damp it.

    Args:
        mode: the mode.
        delay: longest delay of the loop, s.
        free_speed: speed to which the wrench accelerates a free tip, m/s.
        wrench: desired [force; moment], N and N m, shape (6,).
    """
    if free_speed > MAX_FREE_SPEED:
        force = hypot(*wrench[:3])
        raise ModeRefused(
            mode,
            f"a delay of {1e3 * delay:.0f} ms allows no force of {force:.3g} N: a tip without contact would move with "
            f"{free_speed:.2g} m/s, {MAX_FREE_SPEED:g} are allowed. Desire at most "
            f"{force * MAX_FREE_SPEED / free_speed:.2g} N, or let joint_states come more often and younger",
        )


def check_margins(mode: Mode, limits: CommandLimits, qd: Array, applied: Array, gravity: Array) -> None:
    """Check that no joint moves or bears more than its limits allow.

    Args:
        mode: the mode.
        limits: of the commands.
        qd: joint velocities, rad/s or m/s, shape (n,).
        applied: efforts that the joints exert, as they would be commanded, N m or N, shape (n,).
        gravity: efforts that carry the arm, as they would be commanded, N m or N, shape (n,).
    """
    for i, name in enumerate(limits.joint_names):
        if abs(qd[i]) > limits.velocity[i]:
            allowed = f"{limits.velocity[i]:.3g} are allowed"
            raise ModeRefused(mode, f"joint '{name}' moves with {qd[i]:.3g} rad/s or m/s, {allowed}")
        for what, effort in (("exerts", applied[i]), ("needs against gravity", gravity[i])):
            if not abs(effort) <= limits.effort[i]:
                allowed = f"commands.effort_scale allows {limits.effort[i]:.4g}"
                raise ModeRefused(mode, f"joint '{name}' {what} {effort:.4g} N m or N, {allowed}")


def check_model(mode: Mode, found: ModelDifference | None) -> None:
    """Check that the joints exert what the model expects; without measured efforts nothing can be checked.

    Args:
        mode: the mode.
        found: mean difference over the newest states.
    """
    if found is None or float(found.ratio[found.worst]) <= 1.0:
        return
    i = found.worst
    joint, difference = found.joint_names[i], found.difference[i]
    side = "more" if difference > 0 else "less"
    raise ModeRefused(
        mode,
        f"joint '{joint}' exerts {abs(difference):.3g} N m or N {side} than the model expects, "
        f"commands.model_tolerance and friction allow {found.allowed[i]:.3g}: check the payload, the gravity vector, "
        "states.measured_effort, states.effort_gain and the joint's sign; nothing may touch the arm",
    )


def check_controller_connected(mode: Mode, link: CommandLink) -> None:
    """Check that one controller receives the commands, and that no other node commands it."""
    if link.subscribers == 0:
        remedy = "remap ~/command to the controller's topic, and start the controller"
        raise ModeRefused(mode, f"there is no subscriber on {link.topic}: {remedy}")
    for name in link.other_publishers:
        if name.endswith(FAILSAFE_SUFFIX):
            remedy = f"it took over from a node that ended or was held up; {name}/release ends that"
            raise ModeRefused(mode, f"'{name}' commands on {link.topic}: {remedy}")
        killed = "if it was killed, DDS lists it for up to 20 s more"
        raise ModeRefused(mode, f"'{name}' publishes on {link.topic}, too: two commanders would fight; {killed}")
