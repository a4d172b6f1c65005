# SPDX-License-Identifier: Apache-2.0
"""The controllers of the mock arm, modelled on those of ros2_control; one at a time is active."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import mass_matrix
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.kernels.compile_aside import scalar_backend
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.handover_protocol import Controller
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.drives import Drive, EffortDrive
from ros2_dyn.simulation.interpolated_trajectory import FeedForwardTracking, InterpolatedTrajectory, Waypoint
from ros2_dyn.simulation.simulated_arm import ComputedTorque, EffortLaw, SimulatedArm

DEMO = "demo_controller"
EFFORT = "effort_controller"
TRAJECTORY = "trajectory_controller"
NAMES = (DEMO, EFFORT, TRAJECTORY)


class OwnGravity:
    """The gravity efforts that a robot computes from its own model."""

    def __init__(self, model: RobotModel, joint_names: Sequence[str]) -> None:
        """Prepare for positions and efforts in another joint order.

        Args:
            model: the robot's own model.
            joint_names: its joints in the order of positions and efforts.
        """
        names = list(joint_names)
        self._kernel = _gravity_kernel(model)
        self._to_model = [names.index(name) for name in model.joint_names]
        self._from_model = [model.joint_names.index(name) for name in names]

    def know(self, model: RobotModel) -> None:
        """Go on with another model of the same joints: one that carries what the robot is told, for example."""
        self._kernel = _gravity_kernel(model)

    def __call__(self, q: Array) -> Array:
        """Return the efforts at joint positions, N m or N, shape (n,)."""
        (efforts,) = self._kernel(q[self._to_model].tolist())
        return np.array(efforts)[self._from_model]


class CompensatedEffort:
    """The efforts of a law on top of the robot's own gravity compensation."""

    def __init__(self, law: EffortLaw, compensation: Callable[[Array], Array]) -> None:
        """Add to a law what a function returns at joint positions, N m or N, shape (n,)."""
        self._law, self._compensation = law, compensation
        self.uses_dynamics, self.damping = law.uses_dynamics, law.damping

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        return self._law(t, q, qd, M, h) + self._compensation(q)


class Controllers:
    """Switch between the laws that move an arm, and pass commands to the active one.

    - `demo_controller` follows a `DemoTrajectory` from the current position, by computed torque.
    - `effort_controller` holds the last command for ever. Until the first command it holds the efforts of the moment
      of its activation.
    - `trajectory_controller` tracks joint trajectories, see `FeedForwardTracking`. After a trajectory it holds the last
      position and effort. Until the first trajectory it holds the position of the moment of its activation without
      feed-forward, so that the arm sags.
    """

    def __init__(
        self,
        arm: SimulatedArm,
        p: Sequence[float] | Array,
        d: Sequence[float] | Array,
        drive: Drive | None = None,
        own_gravity: OwnGravity | None = None,
    ) -> None:
        """Control an arm; no controller is active yet.

        Args:
            arm: the arm, whose law the controllers replace.
            p: position gains of the trajectory controller, N m/rad or N/m, shape (n,).
            d: velocity gains of the trajectory controller, N m s/rad or N s/m, shape (n,).
            drive: what commands of the effort controller do; None: they are efforts.
            own_gravity: what the robot adds to efforts that it is commanded; None: nothing.

        Raises:
            InputError: the number of gains is wrong, or a gain is negative or not finite.
        """
        self.arm = arm
        self.active = ""
        self.drive = drive or EffortDrive(arm.model.effort_limit)
        """What commands do from the next one on; may be replaced at any time."""
        self._own_gravity = own_gravity
        self._p, self._d = _gains("trajectory_p", p, arm.model.n), _gains("trajectory_d", d, arm.model.n)

    def list(self) -> tuple[Controller, ...]:
        """Return all controllers, as a manager lists them."""
        joints = self.arm.model.joint_names
        return tuple(
            Controller(name, name == self.active, joints, name in (EFFORT, TRAJECTORY), name == TRAJECTORY)
            for name in NAMES
        )

    def switch(self, name: str, deactivate: Sequence[str] = ()) -> None:
        """Activate one of `NAMES`; do nothing where it is active already.

        Args:
            name: its name.
            deactivate: those that have to be active now; empty: whichever is.

        Raises:
            InputError: there is no such controller, or another one is active.
        """
        if name not in NAMES:
            raise InputError("controller", f"expected one of {', '.join(NAMES)}, got '{name}'")
        if deactivate and tuple(deactivate) != (self.active,):
            raise InputError("deactivate", f"{', '.join(deactivate)} is not active, but {self.active}")
        if name != self.active:
            self._activate(name)

    def restart(self) -> None:
        """Restart the active controller after the arm was placed elsewhere; a held effort stays."""
        self._activate(self.active)

    def command(self, efforts: Sequence[float]) -> None:
        """Pass a command to the effort controller, whole or not at all.

        Args:
            efforts: efforts in the model's order, N m or N, shape (n,), or what the drive takes; they are saturated at
                the effort limits.

        Raises:
            InputError: the controller is not active, or the efforts are not n finite numbers; the last command stays.
        """
        self._require(EFFORT)
        if len(efforts) != self.arm.model.n:
            raise InputError("data", f"expected {self.arm.model.n} efforts, got {len(efforts)}")
        if not all(map(isfinite, efforts)):
            raise InputError("data", f"not finite: {list(efforts)}")
        self._use(self.drive.command(efforts))

    def follow(self, waypoints: Sequence[Waypoint], start: float | None = None) -> None:
        """Replace the trajectory of the trajectory controller.

        A trajectory that starts in the future is extended back to the current state, with zero effort there.

        Args:
            waypoints: waypoints with times relative to the start.
            start: start on the arm's clock, s; None: now.

        Raises:
            InputError: the controller is not active, or the trajectory has ended already.
        """
        self._require(TRAJECTORY)
        now = self.arm.t
        start = now if start is None else start
        moved = [waypoint._replace(t=start + waypoint.t) for waypoint in waypoints]
        if moved[-1].t < now:
            raise InputError("header.stamp", f"the trajectory ended {now - moved[-1].t:.3f} s ago")
        if moved[0].t > now:
            moved.insert(0, Waypoint(now, self.arm.q.copy(), self.arm.qd.copy(), np.zeros(len(self.arm.q))))
        self._track(moved)

    def _activate(self, name: str) -> None:
        model, q = self.arm.model, self.arm.q.copy()
        if name == DEMO:
            home = np.clip(q, model.lower, model.upper)
            self.arm.law = ComputedTorque(DemoTrajectory(model, home, self.arm.t))
        elif name == EFFORT:
            self.arm.law = self.drive.hold(q, self.arm.motor_effort())
        else:
            self._track([Waypoint(self.arm.t, q, None, np.zeros(len(q)))])
        self.active = name

    def _track(self, waypoints: Sequence[Waypoint]) -> None:
        limit = self.arm.model.effort_limit
        self._use(FeedForwardTracking(InterpolatedTrajectory(waypoints), self._p, self._d, limit))

    def _use(self, law: EffortLaw) -> None:
        self.arm.law = law if self._own_gravity is None else CompensatedEffort(law, self._own_gravity)

    def _require(self, name: str) -> None:
        if self.active != name:
            raise InputError("controller", f"{name} is not active, but {self.active}")


def gains_of_inertia(model: RobotModel, q: ArrayLike, bandwidth: float = 40.0) -> tuple[Array, Array]:
    """Return gains p and d, each (n,), that damp each joint critically when the others stand still.

    Args:
        model: the robot.
        q: joint positions at which the inertias are taken, rad or m, shape (n,).
        bandwidth: bandwidth, rad/s.

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


@lru_cache(maxsize=64)
def _gravity_kernel(model: RobotModel) -> Kernel:
    return compile_kernel(model, ("gravity",), scalar_backend(), ("q",))
