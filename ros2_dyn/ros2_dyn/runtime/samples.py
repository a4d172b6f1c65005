# SPDX-License-Identifier: Apache-2.0
"""What comes in: one message each, as plain numbers, in the order in which the sender gives them.

Stamps are integers, ns. They serve for matching and order. Times are `now`, s, and increase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ros2_dyn.errors import MessageError

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


class TrajectorySample(NamedTuple):
    """A whole trajectory; each field has one list for each point."""

    names: Sequence[str]
    times: Sequence[float]
    """From the start, s."""
    positions: Sequence[Sequence[float]]
    """rad or m."""
    velocities: Sequence[Sequence[float]]
    """rad/s or m/s; empty lists where they are not given."""
    accelerations: Sequence[Sequence[float]]
    """rad/s^2 or m/s^2; empty lists where they are not given."""


class PayloadRequest(NamedTuple):
    """What a link is to carry."""

    link: str
    """Empty: the tip link."""
    parameters: Sequence[float]
    """Inertial parameters in the link's frame, shape (10,), as `Payload.parameters`; zeros: nothing."""
    ramp_time: float = 0.0
    """Duration over which the efforts change, s."""


class PayloadQuestion(NamedTuple):
    """What is to be estimated of a payload, while the arm moves."""

    link: str = ""
    """Link that carries it; empty: the tip link."""
    duration: float = 0.0
    """Duration of the motion, s; 0: a usual one."""
    tare: bool = False
    """Whether the arm carries nothing, so that later estimates count from there."""


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
