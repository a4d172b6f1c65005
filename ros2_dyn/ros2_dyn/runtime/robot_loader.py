# SPDX-License-Identifier: Apache-2.0
"""Making robots in pieces of work, since compiling their kernels is slow. The newest robot counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ros2_dyn.control.events import Event
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.payload_ramp import PayloadRamp
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, checked_model
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import Work, WorkDone


class Loaded(NamedTuple):
    """What became of a piece of work."""

    robot: RobotDynamics | None = None
    """A robot to go on with."""
    work: tuple[Work, ...] = ()
    """Work that is needed instead."""
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, eq=False)
class RobotWork(Work):
    """A robot that has to be made."""

    description: RobotModel | str
    settings: Settings
    payload: PayloadRamp | None

    def compute(self) -> RobotDynamics:
        """Return it; errors as `load_robot`."""
        return load_robot(self.description, self.settings, self.payload)


class RobotLoader:
    """Makes robots, one after the other."""

    def __init__(self) -> None:
        self._newest: Work | None = None
        self._description: RobotModel | str | None = None

    @property
    def busy(self) -> bool:
        """Whether a robot is being made."""
        return self._newest is not None

    def load(self, description: RobotModel | str, settings: Settings, payload: PayloadRamp | None) -> Work:
        """Return the work that makes a robot.

        Args:
            description: the robot, or the text of its URDF.
            settings: all parameters.
            payload: what it carries, if it can.
        """
        self._newest = RobotWork(description, settings, payload)
        return self._newest

    def take(self, description: RobotModel | str, settings: Settings, payload: PayloadRamp | None) -> Work:
        """Return the work that makes another robot; see `load`."""
        self._description = description
        return self.load(description, settings, payload)

    def change_settings(self, settings: Settings, current: RobotDynamics | None) -> Loaded:
        """Return a robot with other parameters, or the work that makes it.

        Args:
            settings: all parameters.
            current: the robot that is in use.

        Raises:
            Ros2DynError: the robot does not fit them.
        """
        if current is None:
            if self._description is None or self.busy:
                return Loaded()
            return Loaded(work=(self.load(self._description, settings, None),))  # it may fit these
        model = checked_model(current.description, settings)
        if self.busy:
            return Loaded()  # the robot that is being made is made again with these
        if model == current.model and (settings.robot.tip_link or model.default_tip) == current.tip_link:
            return Loaded(RobotDynamics(current.description, settings, current.payload))
        return Loaded(work=(self.load(current.description, settings, current.payload),))

    def finish(self, done: WorkDone, current: RobotDynamics | None, settings: Settings) -> Loaded:
        """Return the robot that was made, or the work that is needed because something changed meanwhile.

        Args:
            done: the work.
            current: the robot that is in use.
            settings: all parameters, as they are now.
        """
        if done.work is not self._newest:
            return Loaded()  # a newer robot is being made
        self._newest = None
        payload = None if current is None else current.payload
        if done.error is not None:
            kept = "" if current is None else f"; '{current.model.name}' is kept"
            event = Event("robot rejected", f"robot_description rejected: {done.error}{kept}", "error")
            if current is None or current.settings == settings:
                return Loaded(events=(event,))
            return Loaded(work=(self.load(current.description, settings, payload),), events=(event,))
        robot: RobotDynamics = done.value
        other_payload = payload is not None and payload is not robot.payload and _carries(robot, payload)
        if robot.settings != settings or other_payload:
            return Loaded(work=(self.load(robot.description, settings, payload),))
        return Loaded(robot)


def load_robot(description: RobotModel | str, settings: Settings, payload: PayloadRamp | None) -> RobotDynamics:
    """Return a robot, with its payload where it can carry that.

    Raises:
        Ros2DynError: as `RobotDynamics`, or the URDF is wrong.
    """
    model = RobotModel.from_urdf(description) if isinstance(description, str) else description
    robot = RobotDynamics(model, settings)
    carries = payload is not None and _carries(robot, payload)
    return RobotDynamics(model, settings, payload) if carries else robot


def _carries(robot: RobotDynamics, payload: PayloadRamp) -> bool:
    return any(payload.target) and robot.can_carry(payload.link)


def robot_events(robot: RobotDynamics, before: RobotDynamics | None, warnings: Sequence[str]) -> list[Event]:
    """Return what is to be logged of a robot that is used from now on.

    Args:
        robot: the robot.
        before: the one before; None: there was none.
        warnings: what looks wrong in its description.
    """
    events = []
    if before is not None and robot.payload is not before.payload and any(before.payload.target):
        text = "the payload is gone: no joint moves the link that carried it any more"
        events.append(Event("payload gone", text))
    names, model = ", ".join(robot.model.joint_names), robot.model.name
    text = f"using '{model}' with the joints {names}, tip link '{robot.tip_link}'"
    events.append(Event("robot used", text, "info"))
    if before is None or before.description is not robot.description:
        events += [Event("robot description", f"robot description: {text}") for text in warnings]
    return events
