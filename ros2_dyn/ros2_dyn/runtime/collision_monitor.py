# SPDX-License-Identifier: Apache-2.0
"""The stage "observe": the external efforts at each measured state, and whether they are a collision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np

from ros2_dyn.dynamics.singularity import NEAR_SINGULARITY
from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.collision import CollisionDetector, IntendedContact
from ros2_dyn.estimation.momentum_observer import DirectObserver, MomentumObserver
from ros2_dyn.estimation.wrench_estimator import ContactLink, TipWrench, isolate_contact, tip_wrench
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.effort_convention import MeasuredEffort, total_effort
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, Terms
from ros2_dyn.runtime.states import MeasuredState


@dataclass(frozen=True)
class CollisionUpdate:
    """External efforts at one measured state; lists are in the model's order."""

    robot: RobotDynamics
    state: MeasuredState
    residual: Sequence[float]
    """External joint efforts, N m or N, shape (n,)."""
    threshold: Sequence[float]
    """N m or N, shape (n,)."""
    exceeded: Sequence[bool]
    """Which joints exceed their threshold."""
    collision: bool
    """Whether a collision is latched."""
    begins: bool
    """Whether it begins with this state."""
    restarts: int
    """How often the observer was restarted."""

    @cached_property
    def contact(self) -> ContactLink:
        """The link that was touched."""
        exceeded = [e if above else np.inf for e, above in zip(self.threshold, self.exceeded)]
        return isolate_contact(self.robot.model, self.residual, exceeded)

    @cached_property
    def wrench(self) -> TipWrench:
        """The external wrench at the tip, in the tip link's axes."""
        robot, touched = self.robot, self.contact.link
        if touched and robot.model.link_frame(touched).body != robot.model.link_frame(robot.tip_link).body:
            return TipWrench((), f"'{touched}' is touched, not the tip")
        J, pose = robot.kernels.tip(self.state.q)
        found = tip_wrench(J, self.residual, min_singular_value=NEAR_SINGULARITY)
        if not found.wrench:
            return found
        f, m = np.reshape(found.wrench, (2, 3)) @ np.array(pose)[:3, :3]
        return TipWrench((*f.tolist(), *m.tolist()), "")


class CollisionMonitor:
    """The observer and the detector of one robot."""

    def __init__(
        self, model: RobotModel, bandwidth: float, threshold: Sequence[float], measured: MeasuredEffort, cutoff: float
    ) -> None:
        """Create it for a robot.

        Args:
            model: the robot.
            bandwidth: of the observer, 1/s.
            threshold: of each joint, N m or N, shape (n,).
            measured: what the driver calls effort.
            cutoff: cut-off of the driver's low-pass of efforts, Hz; infinite: none.
        """
        self.detector = CollisionDetector(threshold)
        """Latches a collision."""
        self._contact, self._measured = IntendedContact(), measured
        self._given = (model, bandwidth, tuple(threshold), measured, cutoff)
        self._observer = DirectObserver(bandwidth) if measured == "external" else MomentumObserver(bandwidth, cutoff)
        self._last: tuple[MeasuredState, Sequence[float]] | None = None
        """Newest state that was observed, and the payload there."""

    @property
    def has_thresholds(self) -> bool:
        """Whether a collision can be detected."""
        return any(map(isfinite, self.detector.threshold))

    def is_like(self, other: CollisionMonitor) -> bool:
        """Return whether another monitor observes and judges the same in the same way."""
        return self._given == other._given

    def update(
        self, state: MeasuredState, terms: Terms, robot: RobotDynamics, now: float, *, contact_intended: bool = False
    ) -> CollisionUpdate | None:
        """Take a state; return what is observed, or None without a measured effort.

        Args:
            state: measured.
            terms: computed there.
            robot: that computed them.
            now: time, s.
            contact_intended: whether the mode intends contact, which is no collision then.

        Raises:
            MessageError: a measured effort is not finite, or too large.
        """
        if state.effort is None:
            return None
        if not all(map(isfinite, state.effort)):
            raise MessageError("effort", "not finite", f"got {list(state.effort)}; collisions cannot be detected")
        if any(abs(effort) > 1e6 for effort in state.effort):  # no measurement, and it would stay in the observer
            raise MessageError("effort", "too large", f"got {list(state.effort)}; collisions cannot be detected")
        t = 1e-9 * state.stamp
        if not self._observe(t, state, terms, robot, now):
            return None
        residual, detector = self._observer.value, self.detector
        begins = detector.update(residual)
        if self._contact.excuses(contact_intended, any(detector.exceeded), now) and begins:
            detector.collision = begins = False
        exceeded = tuple(detector.exceeded)
        return CollisionUpdate(
            robot,
            state,
            residual,
            detector.threshold,
            exceeded,
            detector.collision,
            begins,
            self._observer.restarts,
        )

    def _observe(self, t: float, state: MeasuredState, terms: Terms, robot: RobotDynamics, now: float) -> bool:
        observer, effort = self._observer, state.effort or []
        if isinstance(observer, DirectObserver):
            return observer.observe(t, [0.0] * len(effort), effort)
        tau = total_effort(self._measured, effort, terms.inverse_dynamics, terms.gravity)
        payload = robot.payload.at(now)
        if self._last is not None and self._last[1] != payload:
            self._change_payload(observer, self._last[0], robot, now)
        self._last = state, payload
        return observer.observe(t, tau, terms.observed)

    def _change_payload(
        self, observer: MomentumObserver, last: MeasuredState, robot: RobotDynamics, now: float
    ) -> None:
        """Take the newest state that was observed for one with the payload of now."""
        terms = robot.terms_at(last, now)
        tau = total_effort(self._measured, last.effort or [], terms.inverse_dynamics, terms.gravity)
        observer.change_model(tau, terms.observed)
