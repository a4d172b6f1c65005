# SPDX-License-Identifier: Apache-2.0
"""A request to carry another payload: whether it is allowed, and the work that a payload on another link needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ros2_dyn.errors import InputError, Ros2DynError
from ros2_dyn.runtime.inputs import PayloadRequest
from ros2_dyn.runtime.payload_check import MIN_RAMP_TIME, check_payload
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, no_robot
from ros2_dyn.runtime.update import Reply, Work, WorkDone


@dataclass(frozen=True, eq=False)
class PayloadLinkWork(Work):
    """The kernels of a robot with its payload on another link."""

    robot: RobotDynamics
    payload: PayloadRequest

    def compute(self) -> RobotDynamics:
        """Return the robot that carries nothing on that link yet."""
        return RobotDynamics(self.robot.description, self.robot.settings, PayloadRamp(self.payload.link))


class PayloadChange(NamedTuple):
    """What becomes of a request."""

    replies: tuple[Reply, ...] = ()
    work: tuple[Work, ...] = ()
    changed: bool = False
    """Whether the robot carries something else from now on."""
    robot: RobotDynamics | None = None
    """A robot to go on with, whose payload is on another link."""


def change_payload(
    robot: RobotDynamics | None, asked: PayloadRequest, q: Sequence[float] | None, mode: str, now: float
) -> PayloadChange:
    """Begin the ramp to another payload, or return the work that one on another link needs; see `checked_payload`."""
    try:
        payload = checked_payload(robot, asked, q, mode, now)
    except Ros2DynError as error:
        return PayloadChange((Reply(asked.request, error),))
    assert robot is not None
    if payload.link != robot.payload.link:
        return PayloadChange(work=(PayloadLinkWork(robot, payload),))
    robot.payload.change(payload.parameters, payload.ramp_time, now)
    return PayloadChange((Reply(asked.request),), changed=True)


def finish_payload_change(done: WorkDone, robot: RobotDynamics | None, now: float) -> PayloadChange:
    """Return the robot whose kernels for another link are ready, unless the robot that it was for is gone."""
    work, error = done.work, done.error
    assert isinstance(work, PayloadLinkWork)
    if robot is not work.robot:
        error = InputError("link", "the robot or parameters changed meanwhile: ask again")
    if error is not None:
        return PayloadChange((Reply(work.payload.request, error),))
    made: RobotDynamics = done.value
    made.payload.change(work.payload.parameters, work.payload.ramp_time, now)
    return PayloadChange((Reply(work.payload.request),), changed=True, robot=made)


def checked_payload(
    robot: RobotDynamics | None, payload: PayloadRequest, q: Sequence[float] | None, mode: str, now: float
) -> PayloadRequest:
    """Return a request with its link, and with a ramp that is long enough where a mode commands.

    Args:
        robot: that is to carry it.
        payload: what is to be carried.
        q: where the arm is, rad or m, shape (n,); None: it is not known.
        mode: that commands; empty: none does.
        now: time, s.

    Raises:
        MessageError: there is no robot yet.
        InputError: the link cannot carry a payload, the ramp is wrong, or the limits cannot carry it amid a mode.
    """
    if robot is None:
        raise no_robot("link")
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
