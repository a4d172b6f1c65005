# SPDX-License-Identifier: Apache-2.0
"""What comes out: all that one input leads to. Nothing is left to be asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, NamedTuple

from ros2_dyn.control.events import Event
from ros2_dyn.control.modes import MONITOR
from ros2_dyn.control.stop.machine import NOTHING_FOUND, StopFindings
from ros2_dyn.errors import Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.runtime.robot_dynamics import Terms
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.states import MeasuredState


class Step(NamedTuple):
    """What was computed for one measured state."""

    state: MeasuredState
    terms: Terms
    collision: CollisionUpdate | None


class Command(NamedTuple):
    """A command, and what a failsafe process has to know of it."""

    effort: Array
    """N m or N, shape (n,), in the model's order."""
    data: Array
    """What the controller is sent, in the order of its joints: the same, or positions or currents."""
    hold: Array
    """Effort that only carries the arm at the same state, N m or N, shape (n,)."""
    state_at: float
    """When the state that it is based on was measured, s."""
    expires: float
    """Time from which on it is too late to publish it, s."""
    payload: tuple[float, ...] = NO_PAYLOAD
    """Inertial parameters of what the arm carries, shape (10,)."""
    stop: StopFindings = NOTHING_FOUND
    """Where a stop stands."""

    def as_last(self, now: float) -> LastCommand:
        """Return what another process has to know of it, if it is published at a time, s."""
        return LastCommand(now - self.state_at, self.effort, self.hold, self.payload, self.stop)


class Reply(NamedTuple):
    """The answer to a request."""

    request: Hashable
    """What the request was called with."""
    error: Ros2DynError | None = None
    """Why it was refused; None: it was done."""
    value: Any = None


class WorkDone(NamedTuple):
    """A piece of work with its outcome: an input of the runtime that asked for it."""

    work: Work
    value: Any = None
    error: Ros2DynError | None = None


class Work(ABC):
    """Slow work, such as compiling kernels, which may be done in another thread: it reads no state of the runtime.

    Each kind of it is a subclass with a method of its own; the runtime goes on by the kind of what is done.
    """

    @abstractmethod
    def compute(self) -> Any:
        """Do it, and return its outcome; a `Ros2DynError` is one, too."""

    def run(self) -> WorkDone:
        """Do it, in the calling thread."""
        try:
            return WorkDone(self, self.compute())
        except Ros2DynError as error:
            return WorkDone(self, None, error)


class LastCommand(NamedTuple):
    """The newest command of a node or its failsafe process, as the other one knows it."""

    age: float
    """Age of the state that it is based on, when it was published, s."""
    effort: Array
    """N m or N, shape (n,), in the model's order."""
    hold: Array
    """Effort that only carries the arm at the same state, N m or N, shape (n,)."""
    payload: tuple[float, ...] = NO_PAYLOAD
    """Inertial parameters of what the arm carries, shape (10,)."""
    stop: StopFindings = NOTHING_FOUND
    """Where a stop stands."""


class FailsafeConfig(NamedTuple):
    """What a failsafe process is started with, so that it can command a stop like the node."""

    description: RobotModel
    settings: Settings
    """As `Settings.of_a_stop` returns them."""
    payload_link: str
    """The link that carries the payload."""


class Update(NamedTuple):
    """All that one input leads to."""

    mode: str = MONITOR
    """The mode after it."""
    commands: bool = False
    """Whether commands leave after it."""
    steps: tuple[Step, ...] = ()
    """One for each measured state that was complete with it, oldest first; mostly one."""
    command: Command | None = None
    """To be published before it expires."""
    events: tuple[Event, ...] = ()
    replies: tuple[Reply, ...] = ()
    work: tuple[Work, ...] = ()
    """To be run by the driver, here or in another thread, and given to the runtime as `WorkDone`."""
    stop_failed: bool = False
    """Whether a stop does not stop the arm: the driver calls `stop_service`."""
    failsafe: FailsafeConfig | None = None
    """A failsafe process to be armed, and reported to the runtime as `FailsafeArmed`."""

    @property
    def terms(self) -> Terms | None:
        """The terms of the newest state."""
        return self.steps[-1].terms if self.steps else None

    @property
    def collision(self) -> CollisionUpdate | None:
        """The external efforts at the newest state, where they are observed."""
        return self.steps[-1].collision if self.steps else None
