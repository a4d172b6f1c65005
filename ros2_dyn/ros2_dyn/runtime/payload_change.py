# SPDX-License-Identifier: Apache-2.0
"""A request to carry another payload: whether the limits allow it, and the work that one on another link needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.inputs import PayloadRequest
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, no_robot
from ros2_dyn.runtime.update import Reply, Work, WorkDone

MIN_RAMP_TIME = 0.5
"""Shortest ramp of a payload that is changed while a mode commands, s."""


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
    """Begin the ramp to another payload, or return the work that one on another link needs; as `checked_payload`."""
    payload = checked_payload(robot, asked, q, mode, now)
    assert robot is not None
    if payload.link != robot.payload.link:
        return PayloadChange(work=(PayloadLinkWork(robot, payload),))
    robot.payload.change(payload.parameters, payload.ramp_time, now)
    return PayloadChange((Reply(asked.request),), changed=True)


def finish_payload_change(done: WorkDone, robot: RobotDynamics | None, mode: str, now: float) -> PayloadChange:
    """Return the robot whose kernels for another link are ready; not where that robot is gone, or in a mode by now."""
    work, error = done.work, done.error
    assert isinstance(work, PayloadLinkWork)
    if robot is not work.robot:
        error = InputError("link", "the robot or parameters changed meanwhile: ask again")
    elif mode:
        error = InputError("link", f"mode {mode} commands by now, which keeps the payload's link: ask again in monitor")
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
        # A stop may take 0.3 rad or m. A payload above a joint's axis weighs nothing until the joint moves.
        check_payload(robot, q, payload.parameters, nearby=0.3)
    return payload._replace(ramp_time=max(payload.ramp_time, MIN_RAMP_TIME))


def check_payload(robot: RobotDynamics, q: Sequence[float], parameters: Sequence[float], nearby: float) -> None:
    """Check that the limits carry a payload at joint positions, and with each joint moved by `nearby` to either side.

    Args:
        robot: the robot, whose payload link carries it.
        q: joint positions, rad or m, shape (n,).
        parameters: its inertial parameters, shape (10,).
        nearby: distance of one joint, rad or m; 0: only where it stands.

    Raises:
        InputError: a joint needs more effort against gravity than `effort_scale` allows.
    """
    command_limit = robot.limits.effort
    rest = [0.0] * robot.model.n
    for posture in _postures(np.array(q), nearby):
        (tau,) = robot.kernels.effort(posture.tolist(), rest, rest, robot.settings.robot.gravity, parameters)
        needed = np.abs(tau)
        if not np.all(needed <= command_limit):
            i = int(np.argmax(~(needed <= command_limit)))
            allowed = command_limit[i]
            where = f"within {nearby:g} rad or m of where the arm is" if nearby else "where the arm is"
            raise InputError(
                "mass",
                f"with a payload of {parameters[0]:.4g} kg joint '{robot.model.joint_names[i]}' would need "
                f"{needed[i]:.4g} N m or N against gravity {where}, commands.effort_scale allows {allowed:.4g}",
            )


def _postures(q: Array, nearby: float) -> Iterator[Array]:
    yield q
    if nearby:
        for offset in nearby * np.eye(len(q)):
            yield q + offset
            yield q - offset
