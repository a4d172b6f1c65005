"""External efforts at each measured state, and whether they are a collision."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from ros2_dyn.errors import MessageError
from ros2_dyn.estimation.collision import CollisionDetector, Thresholds
from ros2_dyn.estimation.filters import FilteredDerivative
from ros2_dyn.estimation.momentum_observer import DirectObserver, MomentumObserver
from ros2_dyn.estimation.wrench_estimator import ContactLink, TipWrench, isolate_contact, tip_wrench
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.ros.effort_convention import total_effort
from ros2_dyn.ros.parameters import Settings
from ros2_dyn.ros.state_intake import MeasuredState

if TYPE_CHECKING:
    from ros2_dyn.ros.robot import Efforts, Robot


class CollisionMonitor:
    """The observer and the detector of one robot."""

    def __init__(self, model: RobotModel, settings: Settings, tip_link: str) -> None:
        self.model, self._settings, self._tip_link = model, settings, tip_link
        self.detector = CollisionDetector(
            _thresholds(model, settings), settings.collision_samples, settings.collision_hysteresis
        )
        self.state: MeasuredState | None = None
        """The newest that was used."""
        self.t = 0.0
        """Its stamp, s."""
        self._given = settings.measured_effort == "external"
        directly = self._given or settings.observer == "direct"
        bandwidth = settings.observer_bandwidth
        self._observer = DirectObserver(bandwidth) if directly else MomentumObserver(bandwidth)
        self._qdd: FilteredDerivative | None = None
        """Where something depends on accelerations."""
        if settings.observer == "direct" or self.detector.thresholds.per_acceleration:
            self._qdd = FilteredDerivative(settings.acceleration_cutoff, [False] * model.n)
        self._tip = tip_kernel(model, tip_link)

    @property
    def residual(self) -> list[float]:
        """External joint efforts, N m or N, in the model's order."""
        return self._observer.value

    @property
    def restarts(self) -> int:
        """How often the observer began anew after the first time."""
        return self._observer.restarts

    def succeed(self, before: CollisionMonitor) -> None:
        """A collision stays one until it is reset."""
        self.detector.collision = before.detector.collision

    def update(self, state: MeasuredState, efforts: Efforts, robot: Robot, now: float) -> bool:
        """Take a state; whether a collision begins.

        Args:
            state: measured.
            efforts: the model's, at that state.
            robot: that computed them.
            now: time of a steady clock, s.

        Raises:
            MessageError: a measured effort is not finite.
        """
        if state.effort is None:
            return False
        if not all(map(isfinite, state.effort)):
            raise MessageError("effort", "not finite", f"got {list(state.effort)}; collisions cannot be seen")
        t = state.stamp[0] + 1e-9 * state.stamp[1]
        qdd = self._qdd.update(t, state.qd) if self._qdd is not None else None
        if not self._observe(t, state, efforts, qdd, robot, now):
            return False
        self.state, self.t = state, t
        return self.detector.update(self.residual, state.qd, qdd)

    def _observe(
        self, t: float, state: MeasuredState, efforts: Efforts, qdd: list[float] | None, robot: Robot, now: float
    ) -> bool:
        observer, effort = self._observer, state.effort or []
        if self._given and isinstance(observer, DirectObserver):
            return observer.observe(t, [0.0] * len(effort), effort)
        tau = total_effort(self._settings.measured_effort, effort, efforts.inverse_dynamics, efforts.gravity)
        if isinstance(observer, DirectObserver):
            return observer.observe(t, tau, tau if qdd is None else robot.effort(state.q, state.qd, qdd, now))
        return observer.observe(
            t, tau, efforts.momentum, efforts.coriolis_transpose_qd, efforts.gravity, efforts.friction
        )

    def contact(self) -> ContactLink:
        """The link that was touched."""
        threshold = [e if out else np.inf for e, out in zip(self.detector.threshold, self.detector.exceeded)]
        return isolate_contact(self.model, self.residual, threshold)

    def wrench(self) -> TipWrench:
        """What pushes the tip, in the tip link's axes."""
        if self.state is None:
            return TipWrench((), "no measured effort yet")
        touched = self.contact().link
        if touched and self.model.link_frame(touched).body != self.model.link_frame(self._tip_link).body:
            return TipWrench((), f"'{touched}' is touched, not the tip")
        J, pose = self._tip(self.state.q)
        found = tip_wrench(J, self.residual, self._settings.wrench_damping, self._settings.singularity_threshold)
        if not found.wrench:
            return found
        R = np.array(pose)[:3, :3]
        f, m = np.reshape(found.wrench, (2, 3)) @ R
        return TipWrench((*f.tolist(), *m.tolist()), "")


@lru_cache(maxsize=16)
def tip_kernel(model: RobotModel, tip_link: str) -> Kernel:
    """Jacobian and pose of the tip, or of another link; one that was made before is at hand."""
    return compile_kernel(model, ("jacobian", "pose"), "python", ("q",), tip_link)


def _thresholds(model: RobotModel, settings: Settings) -> Thresholds:
    def in_order(numbers: Sequence[float], default: float) -> tuple[float, ...]:
        return tuple(settings.in_order(numbers, model, default))

    return Thresholds(
        in_order(settings.collision_threshold, np.inf),
        in_order(settings.collision_threshold_velocity, 0.0) if settings.collision_threshold_velocity else (),
        in_order(settings.collision_threshold_acceleration, 0.0) if settings.collision_threshold_acceleration else (),
    )
