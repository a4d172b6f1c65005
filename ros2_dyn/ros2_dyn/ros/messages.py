# SPDX-License-Identifier: Apache-2.0
"""From messages to the runtime's samples, for those that are read the ordinary way, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Inertia, Point, Vector3, Wrench
from ros2_dyn_interfaces.msg import HybridTarget
from ros2_dyn_interfaces.msg import Payload as PayloadMessage
from ros2_dyn_interfaces.srv import SetPayload
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload
from ros2_dyn.model.inertia import MOMENTS
from ros2_dyn.runtime import HybridSample, JointSample, PayloadRequest
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.payload_run import EstimatedPayload
from ros2_dyn.runtime.trajectory_effort import TrajectorySample


def joint_sample(message: JointState) -> JointSample:
    """Return the sample of a message."""
    stamp = nanoseconds(message.header.stamp)
    return JointSample(stamp, list(message.name), message.position, message.velocity, message.effort)


def trajectory_sample(message: JointTrajectory) -> TrajectorySample:
    """Return the sample of a message."""
    points = message.points
    return TrajectorySample(
        list(message.joint_names),
        [1e-9 * nanoseconds(point.time_from_start) for point in points],
        [point.positions for point in points],
        [point.velocities for point in points],
        [point.accelerations for point in points],
    )


def hybrid_sample(message: HybridTarget, received: int) -> HybridSample:
    """Return the sample of a message that was received at a time of the clock of stamps, ns."""
    p, o, wrench = message.pose.position, message.pose.orientation, message.wrench
    pose = [p.x, p.y, p.z, o.x, o.y, o.z, o.w]
    numbers, axes = [*xyz(wrench.force), *xyz(wrench.torque)], [bool(each) for each in message.force_axes]
    return HybridSample(nanoseconds(message.header.stamp), message.header.frame_id, pose, numbers, axes, received)


def payload_request(request: SetPayload.Request) -> PayloadRequest:
    """Return the payload of a request; none for a mass of zero.

    Raises:
        InputError: a number makes no sense.
    """
    inertia, parameters = request.inertia, list(NO_PAYLOAD)
    if inertia.m != 0:
        I_com = np.array(
            [
                [inertia.ixx, inertia.ixy, inertia.ixz],
                [inertia.ixy, inertia.iyy, inertia.iyz],
                [inertia.ixz, inertia.iyz, inertia.izz],
            ]
        )
        parameters = Payload(inertia.m, xyz(inertia.com), I_com).parameters.tolist()
        if np.linalg.eigvalsh(I_com)[0] < -1e-9:
            raise InputError("inertia", "expected an inertia about the centre of mass that a body can have")
    return PayloadRequest(request.link, parameters, request.ramp_time)


def payload_message(estimated: EstimatedPayload) -> PayloadMessage:
    """Return what was estimated as a message."""
    payload, message = estimated.payload, PayloadMessage()
    message.header.stamp, message.header.frame_id = time_message(estimated.stamp), estimated.link
    message.inertia = inertia_message(payload.mass, payload.com, payload.inertia)
    message.inertia_observed, message.standard_deviation = payload.inertia_observed, list(payload.deviation)
    return message


def inertia_message(mass: float, com: Sequence[float], moments: Sequence[float]) -> Inertia:
    """Return mass, kg, centre of mass, m, shape (3,), and `MOMENTS` about it, kg m^2, shape (6,), as a message."""
    x, y, z = com
    return Inertia(m=mass, com=Vector3(x=x, y=y, z=z), **dict(zip(MOMENTS, moments)))


def xyz(vector: Point | Vector3) -> list[float]:
    """Return the three numbers of a vector."""
    return [vector.x, vector.y, vector.z]


def put_wrench(message: Wrench, wrench: Sequence[float]) -> None:
    """Put [force; moment], N and N m, into a message."""
    force, torque = message.force, message.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench


def nanoseconds(time: Any) -> int:
    """Return a Time or Duration message as ns."""
    return int(time.sec) * 10**9 + int(time.nanosec)


def time_message(stamp: int) -> Time:
    """Return a stamp, ns, as a message."""
    return Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
