# SPDX-License-Identifier: Apache-2.0
"""The inputs of the runtime, one type each: messages as plain numbers, in their sender's order, requests and time.

Stamps are integers, ns. They serve for matching and order. Times are `now`, s, and increase.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ros2_dyn.control.modes.base import HandoverStep
from ros2_dyn.errors import MessageError, Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import FailsafeConfig, LastCommand, WorkDone

MAX_NAMES = 1000
"""Names in a message. Humanoids with hands have some 100 joints; each name costs time at every message."""
CLOCK_JUMP = 1.0
"""A stamp that lies further back than this, s, is no late message: the clock was set back."""
STAMP_AHEAD = 0.02
"""A stamp that is further ahead of the clock, s, does not make later messages old."""


class JointSample(NamedTuple):
    """A message of measured joint states, of all joints or some, in any order, with others besides."""

    stamp: int
    """When it was measured, ns; 0: the message has no stamp."""
    names: Sequence[str]
    position: Sequence[float]
    """rad or m, one for each name."""
    velocity: Sequence[float] = ()
    """rad/s or m/s, one for each name; or none at all."""
    effort: Sequence[float] = ()
    """In the driver's unit, one for each name; or none at all."""
    received: int | None = None
    """When it arrived by the clock that stamps are of, ns; None: that clock is `now`."""


class DesiredSample(NamedTuple):
    """A desired state: the first point of a trajectory message."""

    stamp: int
    """The measured state that it belongs to, ns; 0: none in particular."""
    names: Sequence[str]
    positions: Sequence[float] = ()
    """rad or m, one for each name; none: the measured ones."""
    velocities: Sequence[float] = ()
    """rad/s or m/s, one for each name; none: the measured ones."""
    accelerations: Sequence[float] = ()
    """rad/s^2 or m/s^2, one for each name."""


class WrenchSample(NamedTuple):
    """A desired wrench."""

    stamp: int
    """When it was desired, ns; 0: the message has no stamp."""
    frame: str
    """The link in whose axes it is; empty: the base link."""
    wrench: Sequence[float]
    """[force; moment], N and N m, shape (6,)."""
    received: int | None = None
    """When it arrived by the clock that stamps are of, ns; None: that clock is `now`."""


class PoseSample(NamedTuple):
    """A desired pose of the tip."""

    stamp: int
    """When it was desired, ns; 0: the message has no stamp."""
    frame: str
    """The link in whose frame it is; empty: the base link."""
    pose: Sequence[float]
    """[x, y, z, qx, qy, qz, qw], m and a unit quaternion, shape (7,)."""
    received: int | None = None
    """When it arrived by the clock that stamps are of, ns; None: that clock is `now`."""


class HybridSample(NamedTuple):
    """A desired pose of the tip, and a wrench along the axes along which it is not held."""

    stamp: int
    """When it was desired, ns; 0: the message has no stamp."""
    frame: str
    """The link in whose frame it is; empty: the base link."""
    pose: Sequence[float]
    """As of `PoseSample`."""
    wrench: Sequence[float]
    """[force; moment], N and N m, shape (6,)."""
    force_axes: Sequence[bool]
    """Which components of the wrench are exerted, shape (6,)."""
    received: int | None = None
    """When it arrived by the clock that stamps are of, ns; None: that clock is `now`."""


class PayloadRequest(NamedTuple):
    """What a link is to carry.

    While a mode commands, the ramp takes at least `MIN_RAMP_TIME`. A payload that the limits cannot carry, or one on
    another link, is refused then.
    """

    link: str
    """Empty: the tip link."""
    parameters: Sequence[float]
    """Inertial parameters in the link's frame, shape (10,), as `Payload.parameters`; zeros: nothing."""
    ramp_time: float = 0.0
    """Duration over which the efforts change, s."""
    request: Hashable = None
    """Name of the request, which its reply bears."""


class PayloadQuestion(NamedTuple):
    """What is to be estimated of a payload, while the arm moves; a question replaces the one before.

    The reply's value is an `EstimatedPayload`, or None after a tare.
    """

    link: str = ""
    """Link that carries it; empty: the tip link."""
    duration: float = 0.0
    """Duration of the motion, s, at most 300; 0: a usual one, 10."""
    tare: bool = False
    """Whether the arm carries nothing, so that later estimates count from there."""
    request: Hashable = None
    """Name of the request."""


def check_names(names: Sequence[str]) -> None:
    """Check the number of names in a message, before they are searched.

    Raises:
        MessageError: there are too many.
    """
    if len(names) > MAX_NAMES:
        raise MessageError("name", "too many", f"expected at most {MAX_NAMES} names")


class CommandLink(NamedTuple):
    """What is known of the other side of the commands."""

    subscribers: int = 1
    """Number of subscribers of the commands."""
    other_publishers: tuple[str, ...] = ()
    """Nodes that publish commands, too."""
    topic: str = "~/command"
    failsafe_alive: bool = True
    """Whether the failsafe process that was armed still runs."""
    failsafe_commands: bool = False
    """Whether that failsafe process has taken over, so that this node must be silent."""


class EnableSignal(NamedTuple):
    """The enabling signal, which some modes need; its release or its silence stops them."""

    pressed: bool


class StatePublishers(NamedTuple):
    """How many nodes publish joint states."""

    number: int


class TimePassed(NamedTuple):
    """Nothing but the time, every `RAMP_DOWN_PERIOD` while commands leave, and now and then otherwise."""


class CommandExpired(NamedTuple):
    """The newest command was not published before it expired."""


class ClockJump(NamedTuple):
    """The clock of the stamps was set, which stops modes."""

    detail: str
    """By how much, in words."""


class ModeRequest(NamedTuple):
    """A mode to enter; monitor leaves one.

    Where a failsafe process is needed and not armed, the update asks for it, and the reply comes with `FailsafeArmed`.
    A refusal is a `ModeRefused`, or an `InputError` where there is no such mode.
    """

    mode: str
    request: Hashable = None
    """Name of the request."""


class FailsafeArmed(NamedTuple):
    """A failsafe process is armed, or cannot be."""

    config: FailsafeConfig
    problem: Ros2DynError | None = None


class TakeOver(NamedTuple):
    """The node that commanded is gone or held up: its arm is stopped from here on, beginning at its newest command."""

    last: LastCommand
    """Its age is that of now."""
    reason: str


class HandoverInput(NamedTuple):
    """A step of a handover to or from another controller, see `HandoverStep`; `runtime/handover.py` takes them."""

    step: HandoverStep


class CollisionReset(NamedTuple):
    """A latched collision is to be forgotten."""

    request: Hashable = None
    """Name of the request."""


class CollisionCalibration(NamedTuple):
    """A free motion is to be observed; the reply's value is the thresholds, N m or N."""

    request: Hashable = None
    """Name of the request."""


class Description(NamedTuple):
    """Another robot, or the text of its URDF. The one before stays until the newest one is ready."""

    description: RobotModel | str


class SettingsChange(NamedTuple):
    """Other parameters, all or none; what needs new kernels takes effect when they are ready.

    They are refused where the robot does not fit them, or one of them cannot be changed while a mode commands.
    """

    settings: Settings
    request: Hashable = None
    """Name of the request."""


Request = ModeRequest | PayloadRequest | PayloadQuestion | CollisionReset | CollisionCalibration | SettingsChange
"""Inputs that are answered by a `Reply` with their name."""
Input = (
    JointSample
    | DesiredSample
    | WrenchSample
    | PoseSample
    | HybridSample
    | CommandLink
    | EnableSignal
    | StatePublishers
    | TimePassed
    | CommandExpired
    | ClockJump
    | FailsafeArmed
    | TakeOver
    | HandoverInput
    | Description
    | WorkDone
    | Request
)
"""All that a runtime can be given."""
