"""Why a mode cannot be entered."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher

from ros2_dyn.control.effort_guard import Limits, Mode, View
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.control_parameters import ControlSettings
from ros2_dyn.ros.last_will import SUFFIX

GONE = "_NODE_NAME_UNKNOWN_"
"""What rmw calls the node of an endpoint that outlives it, as after SIGKILL; nobody else's for long."""
STATES_WITHIN_TIMEOUT = 4
"""States that have to come within the state timeout, so that a single one may be lost."""


def limits_of(model: RobotModel, control: ControlSettings) -> Limits:
    """What commands may be: shares of what the URDF says."""
    effort = control.effort_scale * model.effort_limit
    return Limits(model.joint_names, effort, control.slew_rate * effort, control.velocity_scale * model.velocity_limit)


def why_no_robot(model: RobotModel, command_joints: Sequence[str]) -> str:
    """What is wrong with a robot that is to be commanded; empty: nothing."""
    for name, effort, velocity in zip(model.joint_names, model.effort_limit, model.velocity_limit):
        for kind, limit in (("effort", effort), ("velocity", velocity)):
            if not (isfinite(limit) and limit > 0):
                return f"joint '{name}' has no {kind} limit in the robot description (it says {limit:g})"
    unknown = [name for name in command_joints if name not in model.joint_names]
    if unknown:
        return f"command_joints names '{unknown[0]}', which is none of the robot's joints: {list(model.joint_names)}"
    return ""


def why_no_state(view: View, timeout: float, stamped: bool, period: float) -> str:
    """What is wrong with measured states that are to be commanded on; empty: nothing."""
    if not stamped:
        return "joint_states bears no stamps, so that nobody can tell how old a state is"
    if not period * STATES_WITHIN_TIMEOUT <= timeout:
        least = STATES_WITHIN_TIMEOUT * period
        return f"joint_states come every {period:.3g} s: set state_timeout to {least:.2g} s or more"
    if not abs(view.age) <= timeout:
        side = "behind" if view.age > 0 else "ahead of"
        return (
            f"the newest of joint_states is {abs(view.age):.3f} s {side} this node's clock, "
            f"state_timeout allows {timeout:.3g} s: does the driver run, do clocks and use_sim_time agree?"
        )
    return ""


def why_not_now(mode: Mode, view: View, target_timeout: float, tolerance: float, min_singular_value: float) -> str:
    """What stands against a mode at a state; empty: nothing."""
    if view.collision:
        return "a collision is latched: ~/reset_collision ends it"
    if not view.target_age <= target_timeout:
        topic = "~/desired_wrench" if mode == "force" else "~/desired"
        seen = f"the newest is {view.target_age:.3f} s old" if isfinite(view.target_age) else "none is usable"
        return f"it follows {topic}, and {seen}: publish there first"
    if not view.target_distance <= tolerance:
        return f"the desired positions are {view.target_distance:.3g} rad or m away, tracking_tolerance is {tolerance}"
    if mode == "force" and view.min_singular_value < min_singular_value:
        return f"near a singularity: smallest singular value {view.min_singular_value:.3g}"
    return ""


def why_too_much(limits: Limits, qd: Array, applied: Array, gravity: Array) -> str:
    """Which joint moves or bears too much for its limits; empty: none."""
    for i, name in enumerate(limits.joint_names):
        if abs(qd[i]) > limits.velocity[i]:
            return f"joint '{name}' moves with {qd[i]:.3g} rad/s or m/s, {limits.velocity[i]:.3g} are allowed"
        for what, effort in (("exerts", applied[i]), ("needs against gravity", gravity[i])):
            if not np.abs(effort) <= limits.effort[i]:
                allowed = f"effort_scale allows {limits.effort[i]:.4g}"
                return f"joint '{name}' {what} {effort:.4g} N m or N, {allowed}"
    return ""


def why_nobody(node: Node, commands: Publisher) -> str:
    """What is wrong with the other side of a topic for commands; empty: nothing."""
    topic = commands.topic_name
    if commands.get_subscription_count() == 0:
        return f"nobody listens on {topic}: remap ~/command to the controller's topic, and start the controller"
    ours = [(name, node.get_namespace()) for name in (node.get_name(), node.get_name() + SUFFIX)]
    for info in node.get_publishers_info_by_topic(topic):
        if (info.node_name, info.node_namespace) not in ours and info.node_name != GONE:
            return f"'{info.node_name}' publishes on {topic}, too: two commanders would fight"
    return ""
