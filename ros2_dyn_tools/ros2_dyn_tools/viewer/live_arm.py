# SPDX-License-Identifier: Apache-2.0
"""A live robot: a runtime that only monitors computes from its joint states what the page shows.

The node `dynamics` computes the same from the same messages. The page does not ask it: a topic that nobody subscribes
to costs the node nothing, so a page that is open costs it nothing either.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

import numpy as np

from ros2_dyn.errors import Ros2DynError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime import ArmRuntime, JointSample, Settings
from ros2_dyn.runtime.effort_convention import total_effort
from ros2_dyn.runtime.inputs import CollisionReset
from ros2_dyn.runtime.update import Step
from ros2_dyn_tools.viewer.history import History
from ros2_dyn_tools.viewer.picture import (
    CURVES,
    EXTERNAL,
    MEASURED,
    THRESHOLD,
    EffortWindow,
    LinkWrench,
    Picture,
    ShownRobot,
    Status,
)


class LiveArm:
    """One robot as its newest joint states show it. Its methods may be called from several threads."""

    def __init__(self, robot: ShownRobot, settings: Settings) -> None:
        """Compile the kernels.

        Args:
            robot: whose `model` is the whole description.
            settings: parameters of the node `dynamics`, or the defaults.

        Raises:
            ModelError: a joint is planar or floating.
            InputError: the robot has not what the settings name.
        """
        self._runtime = ArmRuntime(
            robot.model, settings.with_values({"states.estimate": (*settings.states.estimate, "acceleration")})
        )
        found = self._runtime.robot
        assert found is not None  # it was made with a model
        self.robot = robot._replace(model=found.model)
        """The robot, with the joints of the arm."""
        self.tip = found.tip_link
        """The link at which wrenches act."""
        self._history = History(found.model.n)
        self._lock = threading.Lock()
        self._step: Step | None = None
        self._touched = ""
        """Outermost contact link since the last reset: as the efforts grow and decay, inner ones are named, too."""
        self._received_at = time.monotonic()

    @property
    def collision(self) -> bool:
        """Whether the arm's own detector has latched a collision."""
        return self._runtime.collision_latched

    @property
    def age(self) -> float:
        """Time since the newest usable state, s."""
        return time.monotonic() - self._received_at

    def on_joint_state(self, sample: JointSample) -> None:
        """Take a message of joint states."""
        now = time.monotonic()
        with self._lock:
            for step in self._runtime.step(sample, now).steps:
                self._step, self._received_at = step, now
                self._history.append(1e-9 * step.state.stamp, step_efforts(step, self._runtime.settings))
                if step.collision is not None and any(step.collision.exceeded):
                    self._touched = outermost(self.robot.model, [self._touched, step.collision.contact.link])

    def reset(self) -> None:
        """Forget the collision."""
        with self._lock:
            self._touched = ""
            if self._runtime.collision_latched:
                self._runtime.step(CollisionReset(), time.monotonic())

    def picture(self, status: Status, commanded: LinkWrench | None = None, push: Array | None = None) -> Picture | None:
        """Return the newest state with what is said of it; None before there is one."""
        with self._lock:
            if self._step is None:
                return None
            if status.collision and not status.contact_link:
                status = status._replace(contact_link=self._touched)
            step = self._step
            return Picture(
                1e-9 * step.state.stamp,
                np.array(step.state.q),
                np.array(step.state.qd),
                step_efforts(step, self._runtime.settings),
                np.array(step.terms.joint_wrenches),
                self._external(step),
                commanded,
                status,
                push,
            )

    def _external(self, step: Step) -> LinkWrench | None:
        """Return the wrench of the surroundings on the tip; None where it is not known."""
        try:
            wrench = step.collision.wrench.wrench if step.collision is not None else ()
        except Ros2DynError:
            return None
        return LinkWrench(self.tip, self.tip, np.array(wrench)) if wrench else None

    def window(self, span: float, points: int) -> EffortWindow:
        """Return the efforts of the last seconds, in at most so many points."""
        with self._lock:
            return self._history.window(span, points)


def outermost(model: RobotModel, links: Iterable[str]) -> str:
    """Return the link whose body comes last, which is further out; empty names do not count."""
    return max(filter(None, links), key=lambda link: model.link_frame(link).body, default="")


def step_efforts(step: Step, settings: Settings) -> Array:
    """Return the efforts of a state, N m or N, shape (`CURVES`, n)."""
    terms, efforts = step.terms, np.full((CURVES, len(step.state.q)), np.nan)
    efforts[MEASURED + 1 : EXTERNAL] = terms[:4]
    if step.state.effort is not None:
        kind = settings.states.measured_effort
        efforts[MEASURED] = total_effort(kind, step.state.effort, terms.inverse_dynamics, terms.gravity)
    if step.collision is not None:
        efforts[EXTERNAL], efforts[THRESHOLD] = step.collision.residual, step.collision.threshold
    return efforts
