"""What the services of the node compute, on plain requests and responses."""

from __future__ import annotations

from geometry_msgs.msg import Point, Vector3
from ros2_dyn_interfaces.srv import GetJacobian, WrenchToTorque

from ros2_dyn.dynamics import gravity, jacobian, jacobian_dot, manipulability, singular_values, static_torque
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.joint_order import MeasuredState


def fill_jacobian(
    request: GetJacobian.Request,
    response: GetJacobian.Response,
    model: RobotModel,
    state: MeasuredState,
    tip: str,
    singularity_threshold: float,
) -> None:
    """Answer `get_jacobian`.

    Raises:
        InputError: the robot has no such link or frame, or the point is not finite.
    """
    where = (request.link or tip, _xyz(request.point), request.frame or None)
    J = jacobian(model, state.q, *where)
    response.jacobian_dot = jacobian_dot(model, state.q, state.qd, *where).ravel().tolist()
    response.jacobian = J.ravel().tolist()
    sigma = singular_values(J)
    response.singular_values = sigma.tolist()
    response.manipulability = float(manipulability(J))
    response.near_singularity = bool(sigma[-1] < singularity_threshold)


def fill_torque(
    request: WrenchToTorque.Request,
    response: WrenchToTorque.Response,
    model: RobotModel,
    state: MeasuredState,
    tip: str,
    a_g: tuple[float, ...],
) -> None:
    """Answer `wrench_to_torque`, with a_g the acceleration of free fall in the base frame, m/s^2.

    Raises:
        InputError: the robot has no such link or frame, or a number is not finite.
    """
    wrench = request.wrench.wrench
    F = [*_xyz(wrench.force), *_xyz(wrench.torque)]
    where = (request.link or tip, _xyz(request.point), request.wrench.header.frame_id or None)
    effort = static_torque(model, state.q, F, *where)
    if request.include_gravity:
        effort = effort + gravity(model, state.q, a_g)
    response.effort = effort.tolist()


def _xyz(vector: Point | Vector3) -> list[float]:
    return [vector.x, vector.y, vector.z]
