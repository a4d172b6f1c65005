# SPDX-License-Identifier: Apache-2.0
"""What the page shows at one moment, as plain numbers, whether it comes from a node, a recording or a black box."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from ros2_dyn.errors import ModelError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

MEASURED, INVERSE_DYNAMICS, GRAVITY, CORIOLIS, FRICTION, EXTERNAL, THRESHOLD = range(7)
"""Rows of the efforts of one moment."""
CURVES = 7
"""Number of those rows."""
OK, WARN, ERROR, STALE = range(4)
"""Levels of a diagnostic, as in diagnostic_msgs/DiagnosticStatus."""


class Diagnostic(NamedTuple):
    """One concern of the node."""

    name: str
    level: int
    """`OK` to `STALE`."""
    message: str


class Status(NamedTuple):
    """What is said of the robot in words."""

    mode: str = ""
    """Mode of the node; empty: it is not known."""
    reason: str = ""
    """Why the last mode ended, where it did not end by request."""
    collision: bool = False
    """Whether a collision is latched."""
    contact_link: str = ""
    """Link that was touched, or one further out; empty: it is not known."""
    diagnostics: tuple[Diagnostic, ...] = ()
    source: str = ""
    """What is shown: a topic or a file, and how old its states are."""
    node: str = ""
    """State of the node; empty: none is watched."""


class LinkWrench(NamedTuple):
    """A wrench at the origin of a link."""

    link: str
    frame: str
    """The link in whose axes the numbers are."""
    wrench: Array
    """[force; moment], N and N m, shape (6,)."""


class Picture(NamedTuple):
    """One moment of a robot with n joints."""

    t: float
    """Time of its state, s."""
    q: Array
    """Joint positions, rad or m, shape (n,)."""
    qd: Array
    """Joint velocities, rad/s or m/s, shape (n,)."""
    efforts: Array
    """N m or N, shape (`CURVES`, n); NaN: not known."""
    joint_wrenches: Array
    """[force; moment] through each joint in its child link's axes, N and N m, shape (n, 6)."""
    external: LinkWrench | None = None
    """The wrench of the surroundings on the tip; None: not known."""
    commanded: LinkWrench | None = None
    """The wrench that the tip is to exert on its surroundings; None: none is."""
    status: Status = Status()
    push: Array | None = None
    """[force; moment] of all contacts of a simulated arm about its default tip, base frame, N and N m, shape (6,).

    None: the arm is not simulated.
    """


class EffortWindow(NamedTuple):
    """The efforts of a span of time, for plots."""

    t: Array
    """Time before the newest state, s, at most 0, shape (m,)."""
    efforts: Array
    """N m or N, shape (m, `CURVES`, n)."""


class ShownRobot(NamedTuple):
    """A robot, and how it looks."""

    model: RobotModel
    urdf: str
    """Its URDF text; empty: simple shapes are shown."""
    folder: str
    """Where its meshes are looked for first; empty: in packages alone."""


class Source(Protocol):
    """Where pictures come from."""

    can_reset: bool
    """Whether there is a collision detector to be reset."""

    @property
    def robot(self) -> ShownRobot | None:
        """The robot; another object when it changes; None before there is one."""

    def picture(self) -> Picture | None:
        """Return the moment to be shown; None before there is one."""

    def window(self, span: float, points: int) -> EffortWindow:
        """Return the efforts of the last seconds, in at most so many points."""

    def reset(self) -> str:
        """Forget the collision; return what went wrong, or an empty text."""


def read_robot(path: str | Path) -> ShownRobot:
    """Return the robot of a URDF file.

    Raises:
        ModelError: the file cannot be read, or its content is wrong.
    """
    urdf, model = Path(path), RobotModel.from_urdf_file(path)
    try:
        return ShownRobot(model, urdf.read_text(encoding="utf-8"), str(urdf.parent))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"file '{urdf}'", f"cannot be read: {error}") from error
