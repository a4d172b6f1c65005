# SPDX-License-Identifier: Apache-2.0
"""What the service `~/retime_trajectory` computes, on plain requests and responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Duration
from ros2_dyn_interfaces.srv import RetimeTrajectory
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from ros2_dyn.errors import InputError
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.messages import trajectory_sample
from ros2_dyn.runtime import TrajectorySample
from ros2_dyn.runtime.trajectory_effort import TrajectoryTask
from ros2_dyn_tools.timing import JointTrajectory, MotionBounds, retime
from ros2_dyn_tools.timing.retiming import RATE


class RetimeTask(NamedTuple):
    """What a timing depends on, apart from the request."""

    trajectory: TrajectoryTask
    effort_scale: float
    """Share of the effort limits that commands may use."""


def fill_timing(request: RetimeTrajectory.Request, response: RetimeTrajectory.Response, task: RetimeTask) -> None:
    """Answer `retime_trajectory`.

    Raises:
        InputError: the request is wrong, or no timing keeps the limits: the error names the joint and the place.
        MessageError: an effort would not be finite.
    """
    robot = task.trajectory
    given = _trajectory(trajectory_sample(request.trajectory))
    names, model = given.joint_names, robot.model
    given.ordered(model.joint_names)  # joints are looked at before their limits
    limits = {
        name: _by_model(name, getattr(request, f"{name}_limits"), names, model.joint_names)
        for name in ("acceleration", "jerk")
    }
    bounds = MotionBounds.of(model, **limits).scaled(request.share or 1.0, task.effort_scale)
    loaded = model.with_body(robot.link, SpatialInertia.from_parameters(np.array(robot.payload)))
    timed = retime(loaded, given, bounds, robot.gravity, request.rate or RATE)
    found = timed.trajectory.ordered(names)
    tables = (found.times, found.positions, found.velocities, found.accelerations)
    sample = TrajectorySample(names, *(np.asarray(table).tolist() for table in tables))
    response.trajectory = _message(request.trajectory, sample, robot.effort(sample))
    response.duration, response.duration_before = timed.duration, timed.duration_before


def _trajectory(sample: TrajectorySample) -> JointTrajectory:
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
