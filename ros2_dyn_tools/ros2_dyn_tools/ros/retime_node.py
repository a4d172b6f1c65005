# SPDX-License-Identifier: Apache-2.0
"""The node `retiming`: times trajectories with the robot and the parameters of a node `dynamics`.

A request of a thousand points takes a second of the processor, which a node that commands has not got.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from ros2_dyn_interfaces.srv import RetimeTrajectory, SetPayload
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from ros2_dyn.errors import InputError, MessageError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.description import described
from ros2_dyn.ros.executor import ServedNode
from ros2_dyn.ros.messages import payload_request, trajectory_sample
from ros2_dyn.ros.node_base import LATCHED, declare, run_node
from ros2_dyn.ros.services import respond
from ros2_dyn.runtime import Settings
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.robot_dynamics import checked_model
from ros2_dyn.runtime.trajectory_effort import TrajectorySample, TrajectoryTask
from ros2_dyn_tools.ros.settings_reader import SettingsReader
from ros2_dyn_tools.timing import JointTrajectory, MotionBounds, retime
from ros2_dyn_tools.timing.retiming import RATE

LOOK_PERIOD = 0.5
"""How often the node looks whether the node `dynamics` is there, s."""
NICENESS = 5
"""Of the process: a timing takes the processor from nobody who commands."""


class RetimeNode(ServedNode):
    """Offers `~/retime_trajectory`, and `~/set_payload` for what the arm carries along it."""

    def __init__(self) -> None:
        super().__init__("retiming")
        watched = declare(self, "node", "dynamics", "Name of the node whose robot and parameters are used.")
        self._settings: Settings | None = None
        self._description = ""
        self._model: RobotModel | None = None
        self._link, self._payload = "", tuple(NO_PAYLOAD)
        self._reader = SettingsReader(self, watched, self._use_settings, self.get_logger().warning)
        self.create_subscription(String, "robot_description", self._use_description, LATCHED)
        self.create_timer(LOOK_PERIOD, self._reader.look)
        self.create_service(RetimeTrajectory, "~/retime_trajectory", self._retime)
        self.create_service(SetPayload, "~/set_payload", self._set_payload)

    # ---- the robot

    def _use_settings(self, settings: Settings) -> None:
        self._settings = settings
        self._use_robot()

    def _use_description(self, message: String) -> None:
        if message.data != self._description:
            self._description = message.data
            self._use_robot()

    def _use_robot(self) -> None:
        """Make the robot, from what the parameters name or from robot_description; the one before stays if it fails."""
        settings = self._settings
        if settings is None:
            return
        try:
            text = described(settings.description)
            if text is None and self._description:
                text = self._description
            if text is not None:
                self._model = checked_model(RobotModel.from_urdf(text), settings)
        except Ros2DynError as error:
            self.get_logger().warning(str(error))

    def _task(self) -> tuple[TrajectoryTask, Settings]:
        """Return what efforts depend on, and the parameters.

        Raises:
            MessageError: there is no robot yet.
        """
        model, settings = self._model, self._settings
        if model is None or settings is None:
            raise MessageError("trajectory", "no robot yet", "the node `dynamics` has not been found, or has no robot")
        link = self._link or settings.robot.tip_link or model.default_tip
        return TrajectoryTask(
            model, link, self._payload, settings.robot.gravity, settings.commands.convention
        ), settings

    # ---- services

    def _set_payload(self, request: SetPayload.Request, response: SetPayload.Response) -> SetPayload.Response:
        def act() -> None:
            payload, model = payload_request(request), self._task()[0].model
            if payload.link:
                model.link_frame(payload.link)  # which may be missing
            self._link, self._payload = payload.link, tuple(payload.parameters)

        return respond(self, response, act)

    def _retime(
        self, request: RetimeTrajectory.Request, response: RetimeTrajectory.Response
    ) -> RetimeTrajectory.Response:
        def act() -> None:
            task, settings = self._task()
            fill_timing(request, response, task, settings.commands.effort_scale)

        return respond(self, response, act)


def fill_timing(
    request: RetimeTrajectory.Request, response: RetimeTrajectory.Response, task: TrajectoryTask, effort_scale: float
) -> None:
    """Answer `retime_trajectory`.

    Args:
        request: the path.
        response: what is filled.
        task: what efforts depend on.
        effort_scale: share of the effort limits that commands may use.

    Raises:
        InputError: the request is wrong, or no timing keeps the limits: the error names the joint and the place.
        MessageError: an effort would not be finite.
    """
    given, model = _path(trajectory_sample(request.trajectory)), task.model
    names = given.joint_names
    given.ordered(model.joint_names)  # joints are looked at before their limits
    limits = {
        name: _by_model(name, getattr(request, f"{name}_limits"), names, model.joint_names)
        for name in ("acceleration", "jerk")
    }
    bounds = MotionBounds.of(model, **limits).scaled(request.share or 1.0, effort_scale)
    loaded = model.with_body(task.link, SpatialInertia.from_parameters(np.array(task.payload)))
    timed = retime(loaded, given, bounds, task.gravity, request.rate or RATE)
    found = timed.trajectory.ordered(names)
    tables = (found.times, found.positions, found.velocities, found.accelerations)
    sample = TrajectorySample(names, *(np.asarray(table).tolist() for table in tables))
    response.trajectory = _message(request.trajectory, sample, task.effort(sample))
    response.duration, response.duration_before = timed.duration, timed.duration_before


def _path(sample: TrajectorySample) -> JointTrajectory:
    """Return the path of a request."""
    count = len(sample.names)
    tables = {}
    for field in ("positions", "velocities"):
        rows = getattr(sample, field)
        if not any(len(row) for row in rows):
            continue
        for i, row in enumerate(rows):
            if len(row) != count:
                raise InputError(f"points[{i}].{field}", f"expected {count} numbers, got {len(row)}")
        tables[field] = np.array(rows, dtype=float)
    if "positions" not in tables:
        raise InputError("points", "expected points, each with positions")
    return JointTrajectory(tuple(sample.names), np.array(sample.times), **tables)


def _by_model(name: str, given: Sequence[float], names: Sequence[str], joints: Sequence[str]) -> Array:
    """Return limits in the order of the model's joints; infinite ones where none are given."""
    if not len(given):
        return np.full(len(joints), np.inf)
    if len(given) != len(names):
        raise InputError(f"{name}_limits", f"expected {len(names)} numbers, got {len(given)}")
    return np.array([given[names.index(joint)] for joint in joints])


def _message(given: JointTrajectoryMessage, sample: TrajectorySample, effort: Array) -> JointTrajectoryMessage:
    message = JointTrajectoryMessage(header=given.header, joint_names=given.joint_names)
    for t, q, qd, qdd, tau in zip(sample.times, sample.positions, sample.velocities, sample.accelerations, effort):
        sec, nanosec = divmod(round(1e9 * t), 10**9)
        point = JointTrajectoryPoint(time_from_start=Duration(sec=sec, nanosec=nanosec))
        point.positions, point.velocities, point.accelerations = q, qd, qdd
        point.effort = tau.tolist()
        message.points.append(point)
    return message


def main() -> int:
    """The executable `retime_node`."""
    os.nice(NICENESS)
    return run_node(RetimeNode)


if __name__ == "__main__":
    sys.exit(main())
