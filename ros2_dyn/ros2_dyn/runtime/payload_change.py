# SPDX-License-Identifier: Apache-2.0
"""A request to carry another payload: whether it is allowed, and the work that a payload on another link needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ros2_dyn.errors import InputError
from ros2_dyn.runtime.inputs import PayloadRequest
from ros2_dyn.runtime.payload_check import MIN_RAMP_TIME, check_payload
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.update import Work


@dataclass(frozen=True, eq=False)
class PayloadLinkWork(Work):
    """The kernels of a robot with its payload on another link."""

    robot: RobotDynamics
    payload: PayloadRequest

    def compute(self) -> RobotDynamics:
        """Return the robot that carries nothing on that link yet."""
        return RobotDynamics(self.robot.description, self.robot.settings, PayloadRamp(self.payload.link))


def checked_payload(
    robot: RobotDynamics, payload: PayloadRequest, q: Sequence[float] | None, mode: str, now: float
) -> PayloadRequest:
    """Return a request with its link, and with a ramp that is long enough where a mode commands.

    Args:
        robot: that is to carry it.
        payload: what is to be carried.
        q: where the arm is, rad or m, shape (n,); None: it is not known.
        mode: that commands; empty: none does.
        now: time, s.

    Raises:
        InputError: the link cannot carry a payload, the ramp is wrong, or the limits cannot carry it amid a mode.
    """
    link = robot.check_payload_link(payload.link, now)
    payload = payload._replace(link=link)
    PayloadRamp(link).change(payload.parameters, payload.ramp_time, now)  # refuses a wrong ramp before the work begins
    if not mode:
        return payload
    if link != robot.payload.link:
        known = f"'{robot.payload.link}' is the payload's link"
        raise InputError("link", f"{known}, and it cannot be changed while mode {mode} commands")
    if q is not None:
        check_payload(robot, q, payload.parameters)
    return payload._replace(ramp_time=max(payload.ramp_time, MIN_RAMP_TIME))
