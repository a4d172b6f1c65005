# SPDX-License-Identifier: Apache-2.0
"""What the services of the node compute, on plain requests and responses."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from traceback import format_exc
from typing import Any

import numpy as np
from rclpy.node import Node
from ros2_dyn_interfaces.srv import GetCollisionResiduals, GetDynamics, GetJacobian, WrenchToTorque

from ros2_dyn.dynamics import jacobian, jacobian_dot, manipulability, singular_values, static_torque
from ros2_dyn.dynamics.singularity import NEAR_SINGULARITY
from ros2_dyn.errors import MessageError, Ros2DynError
from ros2_dyn.ros.messages import put_wrench, time_message, xyz
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.states import MeasuredState


def respond(node: Node, response: Any, act: Callable[[], None]) -> Any:
    """Fill a response of a node by an action, or with the reason why that failed; return it."""
    try:
        act()
        response.success = True
    except Ros2DynError as error:
        response.message = str(error)
    except Exception as error:
        node.get_logger().error(f"please report this fault:\n{format_exc()}")
        response.message = f"a fault of the node: {error!r}"
    return response


def fill_jacobian(
    request: GetJacobian.Request, response: GetJacobian.Response, robot: RobotDynamics, state: MeasuredState, now: float
) -> None:
    """Answer `get_jacobian`.

    Raises:
        InputError: the robot has no such link or frame, or the point is not finite.
    """
    link, point, frame = request.link or robot.tip_link, xyz(request.point), request.frame or None
    J = jacobian(robot.model, state.q, link, point, frame)
    response.jacobian_dot = jacobian_dot(robot.model, state.q, state.qd, link, point, frame=frame).ravel().tolist()
    response.jacobian = J.ravel().tolist()
    sigma = singular_values(J)
    response.singular_values = sigma.tolist()
    response.manipulability = float(manipulability(J))
    response.near_singularity = bool(sigma[-1] < NEAR_SINGULARITY)


def fill_torque(
    request: WrenchToTorque.Request,
    response: WrenchToTorque.Response,
    robot: RobotDynamics,
    state: MeasuredState,
    now: float,
) -> None:
    """Answer `wrench_to_torque`.

    Raises:
        InputError: the robot has no such link or frame, or a number is not finite.
    """
    wrench = request.wrench.wrench
    F = [*xyz(wrench.force), *xyz(wrench.torque)]
    link, frame = request.link or robot.tip_link, request.wrench.header.frame_id or None
    effort = static_torque(robot.model, state.q, F, link, xyz(request.point), frame=frame)
    if request.include_gravity:
        effort = effort + robot.all_terms(state, [0.0] * len(state.q), now)["gravity"]
    response.effort = effort.tolist()


def fill_dynamics(
    request: GetDynamics.Request, response: GetDynamics.Response, robot: RobotDynamics, state: MeasuredState, now: float
) -> None:
    """Answer `get_dynamics`.

    Raises:
        MessageError: the acceleration has the wrong length or is not finite, or the state is too large.
    """
    terms = robot.all_terms(state, _acceleration(request, robot), now)
    values = {name: np.ravel(value).tolist() for name, value in terms.items()}
    if not all(isfinite(number) for numbers in values.values() for number in numbers):
        raise MessageError("state", "too large", "a result would not be finite")
    for name, numbers in values.items():
        setattr(response, name, numbers[0] if name.endswith("_energy") else numbers)


def fill_residuals(response: GetCollisionResiduals.Response, runtime: ArmRuntime) -> None:
    """Answer `get_collision_residuals`.

    Raises:
        InputError: no external efforts are observed.
    """
    seen = runtime.external_efforts()
    response.joint_names = list(seen.robot.model.joint_names)
    response.stamp = time_message(seen.state.stamp)
    response.residual, response.threshold = list(seen.residual), list(seen.threshold)
    response.exceeded, response.collision = list(seen.exceeded), runtime.collision_latched
    response.contact_link = seen.contact.link if any(seen.exceeded) else ""
    if not seen.wrench.wrench:
        response.message = f"no external_wrench: {seen.wrench.reason}"
        return
    message = response.external_wrench
    message.header.stamp, message.header.frame_id = response.stamp, seen.robot.tip_link
    put_wrench(message.wrench, seen.wrench.wrench)


def _acceleration(request: GetDynamics.Request, robot: RobotDynamics) -> list[float]:
    """Return the request's acceleration in the model's order; it is in the order of its state, where it gives one."""
    joints, given = robot.model.joint_names, list(request.acceleration)
    if not given:
        return [0.0] * len(joints)
    names = list(request.state.name) or list(joints)
    if len(given) != len(names) or not all(map(isfinite, given)):
        raise MessageError("acceleration", "wrong", f"expected {len(names)} finite numbers, got {given}")
    return [given[names.index(joint)] for joint in joints]
