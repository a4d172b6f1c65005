# SPDX-License-Identifier: Apache-2.0
"""A timeline from a black box: a runtime steps through its inputs again, so the page shows what the node knew."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.runtime import black_box_file
from ros2_dyn.runtime.black_box import Recording
from ros2_dyn.runtime.inputs import WrenchSample
from ros2_dyn.runtime.update import Step
from ros2_dyn_tools.recording.replay import Replayed, replay
from ros2_dyn_tools.viewer.live_arm import step_efforts
from ros2_dyn_tools.viewer.picture import LinkWrench, ShownRobot, Status
from ros2_dyn_tools.viewer.recorded_motion import accelerations
from ros2_dyn_tools.viewer.timeline import NOT_TOUCHED, Timeline


class _Collector:
    """Gathers the states of a replay."""

    def __init__(self) -> None:
        self.steps: list[tuple[Step, Replayed]] = []
        self.latched: list[bool] = []
        self.statuses: dict[int, Status] = {}
        self.commanded: dict[int, LinkWrench | None] = {}

    def take(self, each: Replayed) -> None:
        """Take one input."""
        runtime, number = each.runtime, len(self.steps)
        if runtime.robot is None:
            return
        for step in each.update.steps:
            if len(step.state.q) == runtime.robot.model.n:
                self.steps.append((step, each))
                self.latched.append(runtime.collision_latched)
        status = Status(runtime.mode, runtime.reason)
        if not self.statuses or next(reversed(self.statuses.values())) != status:
            self.statuses[number] = status
        sample = each.given
        if isinstance(sample, WrenchSample):
            frame = sample.frame or runtime.robot.model.base_link
            self.commanded[number] = LinkWrench(runtime.robot.tip_link, frame, np.array(sample.wrench, dtype=float))


def recorded_stop(path: Path, shown: ShownRobot | None = None) -> Timeline:
    """Return the timeline of a black box.

    Args:
        path: the file.
        shown: the robot with what it looks like, where that is known; simple shapes otherwise.

    Raises:
        InputError: the file cannot be read, was recorded by another version, or holds no states.
    """
    recording, about = black_box_file.read(path)
    return timeline_of(recording, f"{path.name}: {about.reason}", shown)


def timeline_of(recording: Recording, source: str, shown: ShownRobot | None = None) -> Timeline:
    """Return the timeline of what a black box held; see `recorded_stop`."""
    found = _Collector()
    last = None
    for each in replay(recording):
        found.take(each)
        last = each.runtime
    if last is None or last.robot is None or not found.steps:
        raise InputError("file", "it holds no states of a robot")
    robot = last.robot
    steps = [step for step, _ in found.steps if len(step.state.q) == robot.model.n]
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
        source,
        np.array(found.latched[: len(steps)]),
        np.array([names.index(link) if link else NOT_TOUCHED for link in touched], dtype=np.int32),
        statuses=found.statuses,
        commanded={i: each for i, each in found.commanded.items() if each is None or each.frame in names},
    )
