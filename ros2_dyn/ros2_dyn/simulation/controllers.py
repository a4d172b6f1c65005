"""The controllers of the mock arm, of which one at a time is active: as those of ros2_control, with their manners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import mass_matrix
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.joint_trajectory import JointTrajectory, Knot
from ros2_dyn.simulation.simulated_arm import ComputedTorque, HeldEffort, SimulatedArm

DEMO = "demo_controller"
EFFORT = "effort_controller"
TRAJECTORY = "trajectory_controller"
NAMES = (DEMO, EFFORT, TRAJECTORY)


class FeedForwardTracking:
    """Track a trajectory without a model: ``tau = effort_d + p (q_d - q) + d (qd_d - qd)``, saturated."""

    compensates_friction = False

    def __init__(self, trajectory: JointTrajectory, p: Array, d: Array, limit: Array) -> None:
        """Track it with gains p (N m/rad or N/m) and d (N m s/rad or N s/m), up to the effort limit; all (n,)."""
        self.trajectory = trajectory
        self.p = p
        self.damping = d
        self.limit = limit

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """See `EffortLaw`."""
        q_d, qd_d, effort = self.trajectory.at(t)
        tau = effort + self.p * (q_d - q) + self.damping * (qd_d - qd)
        return np.minimum(np.maximum(tau, -self.limit), self.limit)


class Controllers:
    """Switches between the laws that move an arm, and hands commands to the active one.

    - `demo_controller` follows a `DemoTrajectory` from where the arm is, by computed torque.
    - `effort_controller` holds the last command; until the first, the efforts that were there when it was switched on.
    - `trajectory_controller` tracks joint trajectories, see `FeedForwardTracking`. After each it holds the last
      position and effort; until the first, the position where it was switched on, without feed-forward: it sags.
    """

    def __init__(self, arm: SimulatedArm, p: Sequence[float] | Array, d: Sequence[float] | Array) -> None:
        """For an arm under any law; none is active yet.

        Args:
            arm: the arm, whose law is replaced.
            p: the trajectory controller's gains, N m/rad or N/m, shape (n,).
            d: as well, N m s/rad or N s/m.

        Raises:
            InputError: there is not one gain for each joint, or one is negative or not finite.
        """
        self.arm = arm
        self.active = ""
        self._p, self._d = _gains("trajectory_p", p, arm.model.n), _gains("trajectory_d", d, arm.model.n)

    def switch(self, name: str) -> None:
        """Make one of `NAMES` the active controller; where it is already, nothing changes.

        Raises:
            InputError: there is no such controller.
        """
        if name not in NAMES:
            raise InputError("controller", f"expected one of {', '.join(NAMES)}, got '{name}'")
        if name != self.active:
            self._activate(name)

    def restart(self) -> None:
        """Go on after the arm was put somewhere else, and its time started again; a held effort is still held."""
        self._activate(self.active)

    def command(self, efforts: Sequence[float]) -> None:
        """Take a command for the effort controller: all of it or nothing.

        Args:
            efforts: N m or N, in the model's order, shape (n,); saturated at the effort limits.

        Raises:
            InputError: the controller is not active, or these are not n finite numbers; the last command stays.
        """
        self._require(EFFORT)
        if len(efforts) != self.arm.model.n:
            raise InputError("data", f"expected {self.arm.model.n} efforts, got {len(efforts)}")
        if not np.all(np.isfinite(efforts)):
            raise InputError("data", f"not finite: {list(efforts)}")
        self.arm.law = HeldEffort(efforts, self.arm.model.effort_limit)

    def follow(self, knots: Sequence[Knot], start: float | None = None) -> None:
        """Let the trajectory controller track a trajectory instead of the one before.

        Where its first knot is in the future, the arm is led there from its measured state, with an effort from zero.

        Args:
            knots: their times are relative to the start.
            start: s, on the arm's clock; None: now.

        Raises:
            InputError: the controller is not active, or the trajectory is over already.
        """
        self._require(TRAJECTORY)
        now = self.arm.t
        start = now if start is None else start
        moved = [knot._replace(t=start + knot.t) for knot in knots]
        if moved[-1].t < now:
            raise InputError("header.stamp", f"the trajectory ended {now - moved[-1].t:.3f} s ago")
        if moved[0].t > now:
            moved.insert(0, Knot(now, self.arm.q.copy(), self.arm.qd.copy(), np.zeros(len(self.arm.q))))
        self._track(moved)

    def _activate(self, name: str) -> None:
        model, q = self.arm.model, self.arm.q.copy()
        if name == DEMO:
            home = np.clip(q, model.lower, model.upper)
            self.arm.law = ComputedTorque(DemoTrajectory(model, home, self.arm.t))
        elif name == EFFORT:
            self.arm.law = HeldEffort(self.arm.motion().tau, model.effort_limit)
        else:
            self._track([Knot(self.arm.t, q, None, np.zeros(len(q)))])
        self.active = name

    def _track(self, knots: Sequence[Knot]) -> None:
        limit = self.arm.model.effort_limit
        self.arm.law = FeedForwardTracking(JointTrajectory(knots), self._p, self._d, limit)

    def _require(self, name: str) -> None:
        if self.active != name:
            raise InputError("controller", f"{name} is not active, but {self.active}")


def gains_of_inertia(model: RobotModel, q: ArrayLike, bandwidth: float = 40.0) -> tuple[Array, Array]:
    """Gains p and d, each (n,), with which each joint alone would be damped critically.

    Args:
        model: the robot.
        q: where its inertias are taken, rad or m, shape (n,).
        bandwidth: rad/s.

    Raises:
        InputError: q has the wrong shape or is not finite.
    """
    inertia = np.diag(mass_matrix(model, q))
    return bandwidth**2 * inertia, 2 * bandwidth * inertia


def _gains(name: str, values: Sequence[float] | Array, n: int) -> Array:
    gains = np.asarray(values, dtype=float)
    if gains.shape != (n,) or not np.all(np.isfinite(gains) & (gains >= 0)):
        raise InputError(name, f"expected {n} finite numbers, not negative, got {values}")
    return gains
