# SPDX-License-Identifier: Apache-2.0
"""A recorded motion as arrays, from which the page draws any moment at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ros2_dyn.dynamics import jacobian, joint_wrenches
from ros2_dyn.errors import Ros2DynError
from ros2_dyn.estimation.wrench_estimator import tip_wrench
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.viewer.history import thin
from ros2_dyn_tools.viewer.live_arm import outermost
from ros2_dyn_tools.viewer.picture import EXTERNAL, EffortWindow, LinkWrench, Picture, ShownRobot, Status

NOT_TOUCHED = -1
T = TypeVar("T")


@dataclass
class Timeline:
    """m states of n joints. A thread may still fill external efforts and collisions while it is shown."""

    robot: ShownRobot
    t: Array
    """Time since the first state, s, shape (m,)."""
    q: Array
    """rad or m, shape (m, n)."""
    qd: Array
    qdd: Array
    """Joint accelerations, rad/s^2 or m/s^2, shape (m, n)."""
    efforts: Array
    """N m or N, shape (m, `CURVES`, n)."""
    gravity: Array
    """Acceleration of gravity in the base frame, m/s^2, shape (3,)."""
    tip: str
    source: str
    """What is shown, in words."""
    collision: Array
    """Whether a collision is latched at each state, shape (m,)."""
    touched: Array
    """Index of the contact link among the robot's links, or `NOT_TOUCHED`, shape (m,)."""
    shown_for: float = 0.0
    """How long a collision is shown after its end, s: a short one is over within a picture or two."""
    statuses: dict[int, Status] = field(default_factory=dict)
    """Mode and reason from each of these states on, in order."""
    commanded: dict[int, LinkWrench | None] = field(default_factory=dict)
    """The commanded wrench from each of these states on, in order."""

    @property
    def duration(self) -> float:
        """Time of the last state, s."""
        return float(self.t[-1])

    def picture(self, at: float) -> Picture:
        """Return the newest state at a time, s."""
        i = self._index(at)
        return Picture(
            float(self.t[i]),
            self.q[i],
            self.qd[i],
            self.efforts[i],
            self._joint_wrenches(i),
            self._external(i),
            _newest(self.commanded, i, None),
            self._status(i),
        )

    def window(self, at: float, span: float, points: int) -> EffortWindow:
        """Return the efforts of the seconds before a time, in at most so many points."""
        first, last = (int(each) for each in np.searchsorted(self.t, [at - span, at], "right"))
        part = slice(first, max(last, first + 1))
        return thin(self.t[part], self.efforts[part], span, points)

    def _index(self, at: float) -> int:
        return max(0, int(np.searchsorted(self.t, at, "right")) - 1)

    def _joint_wrenches(self, i: int) -> Array:
        found = joint_wrenches(self.robot.model, self.q[i], self.qd[i], self.qdd[i], gravity=self.gravity)
        return np.asarray(found)

    def _external(self, i: int) -> LinkWrench | None:
        model, residual = self.robot.model, self.efforts[i, EXTERNAL]
        link = self._touched(i)
        if not np.all(np.isfinite(residual)) or (
            link and model.link_frame(link).body != model.link_frame(self.tip).body
        ):
            return None
        try:
            wrench = tip_wrench(jacobian(model, self.q[i], self.tip, frame=self.tip), residual).wrench
        except Ros2DynError:
            return None
        return LinkWrench(self.tip, self.tip, np.array(wrench)) if wrench else None

    def _status(self, i: int) -> Status:
        first = self._index(self.t[i] - self.shown_for)
        shown = bool(np.any(self.collision[first : i + 1]))
        status = _newest(self.statuses, i, Status())
        return status._replace(collision=shown, contact_link=self._touched(i) if shown else "", source=self.source)

    def _touched(self, i: int) -> str:
        """Return the outermost link that was touched since the collision began, while it is shown."""
        model, first = self.robot.model, self._index(self.t[i] - self.shown_for)
        if not np.any(self.collision[first : i + 1]):
            return ""
        free = np.flatnonzero(~self.collision[: first + 1])
        part = self.touched[free[-1] if len(free) else 0 : i + 1]
        return outermost(model, [model.link_names[each] for each in set(part[part != NOT_TOUCHED].tolist())])


def _newest(values: dict[int, T], i: int, default: T) -> T:
    """Return the value of the last key up to an index."""
    keys = [key for key in values if key <= i]
    return values[keys[-1]] if keys else default
