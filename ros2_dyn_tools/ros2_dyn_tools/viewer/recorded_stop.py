# SPDX-License-Identifier: Apache-2.0
"""A timeline from a black box: a runtime steps through its inputs again, so the page shows what the node knew."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.runtime.inputs import WrenchSample
from ros2_dyn.runtime.update import Step
from ros2_dyn_tools.recording import black_box_reader
from ros2_dyn_tools.recording.replay import replay
from ros2_dyn_tools.viewer.live_arm import step_efforts
from ros2_dyn_tools.viewer.picture import LinkWrench, ShownRobot, Status
from ros2_dyn_tools.viewer.recorded_motion import accelerations
from ros2_dyn_tools.viewer.timeline import NOT_TOUCHED, Timeline


def recorded_stop(path: Path, shown: ShownRobot | None = None) -> Timeline:
    """Return the timeline of a black box.

    Args:
        path: the file.
        shown: the robot with what it looks like, where that is known; simple shapes otherwise.

    Raises:
        InputError: the file cannot be read, was recorded by another version, or holds no states.
    """
    recording, about = black_box_reader.read(path)
    steps: list[Step] = []
    latched: list[bool] = []
    statuses: dict[int, Status] = {}
    commanded: dict[int, LinkWrench | None] = {}
    robot = None
    for each in replay(recording):
        runtime, number = each.runtime, len(steps)
        if runtime.robot is None:
            continue
        robot = runtime.robot
        for step in each.update.steps:
            if len(step.state.q) == robot.model.n:
                steps.append(step)
                latched.append(runtime.collision_latched)
        status = Status(runtime.mode, runtime.reason)
        if not statuses or next(reversed(statuses.values())) != status:
            statuses[number] = status
        if isinstance(each.given, WrenchSample):
            frame = each.given.frame or robot.model.base_link
            if frame in robot.model.link_names:
                commanded[number] = LinkWrench(robot.tip_link, frame, np.array(each.given.wrench, dtype=float))
    if robot is None or not steps:
        raise InputError("file", "it holds no states of a robot")
    names = robot.model.link_names
    stamps = np.array([step.state.stamp for step in steps])
    t = 1e-9 * (stamps - stamps[0])
    q, qd = (np.array([getattr(step.state, name) for step in steps]) for name in ("q", "qd"))
    touched = [step.collision.contact.link if step.collision and any(step.collision.exceeded) else "" for step in steps]
    urdf, folder = (shown.urdf, shown.folder) if shown is not None else ("", "")
    return Timeline(
        ShownRobot(robot.model, urdf, folder),
        t,
        q,
        qd,
        accelerations(t, qd),
        np.array([step_efforts(step, robot.settings) for step in steps]),
        np.asarray(robot.settings.robot.gravity, dtype=float),
        robot.tip_link,
        f"{path.name}: {about.reason}",
        np.array(latched),
        np.array([names.index(link) if link else NOT_TOUCHED for link in touched], dtype=np.int32),
        statuses=statuses,
        commanded=commanded,
    )
