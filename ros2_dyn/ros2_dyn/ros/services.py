"""What the services of the node compute, on plain requests and responses."""

from __future__ import annotations

from math import isfinite

import numpy as np
from geometry_msgs.msg import Inertia, Point, Vector3
from ros2_dyn_interfaces.srv import GetDynamics, GetJacobian, SetPayload, WrenchToTorque

from ros2_dyn.dynamics import jacobian, jacobian_dot, manipulability, singular_values, static_torque
from ros2_dyn.errors import InputError, MessageError
from ros2_dyn.model import Payload
from ros2_dyn.ros.robot import Robot
from ros2_dyn.ros.state_intake import MeasuredState


def fill_jacobian(
    request: GetJacobian.Request, response: GetJacobian.Response, robot: Robot, state: MeasuredState, now: float
) -> None:
    """Answer `get_jacobian`.

    Raises:
        InputError: the robot has no such link or frame, or the point is not finite.
    """
    where = (request.link or robot.tip_link, _xyz(request.point), request.frame or None)
    J = jacobian(robot.model, state.q, *where)
    response.jacobian_dot = jacobian_dot(robot.model, state.q, state.qd, *where).ravel().tolist()
    response.jacobian = J.ravel().tolist()
    sigma = singular_values(J)
    response.singular_values = sigma.tolist()
    response.manipulability = float(manipulability(J))
    response.near_singularity = bool(sigma[-1] < robot.settings.singularity_threshold)


def fill_torque(
    request: WrenchToTorque.Request, response: WrenchToTorque.Response, robot: Robot, state: MeasuredState, now: float
) -> None:
    """Answer `wrench_to_torque`.

    Raises:
        InputError: the robot has no such link or frame, or a number is not finite.
    """
    wrench = request.wrench.wrench
    F = [*_xyz(wrench.force), *_xyz(wrench.torque)]
    where = (request.link or robot.tip_link, _xyz(request.point), request.wrench.header.frame_id or None)
    effort = static_torque(robot.model, state.q, F, *where)
    if request.include_gravity:
        effort = effort + robot.terms(state, [0.0] * len(state.q), now)["gravity"]
    response.effort = effort.tolist()


def fill_dynamics(
    request: GetDynamics.Request, response: GetDynamics.Response, robot: Robot, state: MeasuredState, now: float
) -> None:
    """Answer `get_dynamics`.

    Raises:
        MessageError: the acceleration has the wrong length or is not finite, or the state is too large.
    """
    terms = robot.terms(state, _acceleration(request, robot), now)
    values = {name: np.ravel(value).tolist() for name, value in terms.items()}
    if not all(isfinite(number) for numbers in values.values() for number in numbers):
        raise MessageError("state", "too large", "a result would not be finite")
    for name, numbers in values.items():
        setattr(response, name, numbers[0] if name.endswith("_energy") else numbers)


def _acceleration(request: GetDynamics.Request, robot: Robot) -> list[float]:
    """In the model's order: the request's is that of its state, where it gives one."""
    joints, given = robot.model.joint_names, list(request.acceleration)
    if not given:
        return [0.0] * len(joints)
    names = list(request.state.name) or list(joints)
    if len(given) != len(names) or not all(map(isfinite, given)):
        raise MessageError("acceleration", "wrong", f"expected {len(names)} finite numbers, got {given}")
    return [given[names.index(joint)] for joint in joints]


def set_payload(request: SetPayload.Request, robot: Robot, now: float) -> None:
    """Answer `set_payload`.

    Raises:
        InputError: the robot has no such link, a number makes no sense, or another link carries a payload already.
    """
    inertia = request.inertia
    if inertia.m == 0:
        robot.carry(request.link, [0.0] * 10, request.ramp_time, now)
    else:
        I_com = _matrix(inertia)
        if np.any(I_com) and np.linalg.eigvalsh(I_com)[0] < -1e-9:
            raise InputError("inertia", "expected an inertia about the centre of mass that a body can have")
        payload = Payload(inertia.m, _xyz(inertia.com), I_com)
        robot.carry(request.link, payload.parameters.tolist(), request.ramp_time, now)


def _matrix(inertia: Inertia) -> np.ndarray:
    I = np.array(
        [
            [inertia.ixx, inertia.ixy, inertia.ixz],
            [inertia.ixy, inertia.iyy, inertia.iyz],
            [inertia.ixz, inertia.iyz, inertia.izz],
        ]
    )
    if not np.all(np.isfinite(I)):
        raise InputError("inertia", f"expected finite numbers, got {I.tolist()}")
    return I


def _xyz(vector: Point | Vector3) -> list[float]:
    return [vector.x, vector.y, vector.z]
