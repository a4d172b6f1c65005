# SPDX-License-Identifier: Apache-2.0
"""A simulated arm: ``M(q) qdd = tau + J^T F - h(q, qd)``, with contact forces F and friction in h."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import Presliding
from ros2_dyn.errors import DivergenceError, InputError
from ros2_dyn.kernels import Kernel, compile_kernel
from ros2_dyn.kernels.compile_aside import scalar_backend
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, clip
from ros2_dyn.simulation.contact import Contact
from ros2_dyn.simulation.contact_efforts import ContactEfforts
from ros2_dyn.simulation.demo_trajectory import DemoTrajectory
from ros2_dyn.simulation.leapfrog import MIN_SPEED, compile_leapfrog

MAX_STATE = 1e6
"""Positions and velocities above this, rad or m and s, count as divergence."""


class EffortLaw(Protocol):
    """The law of the motors: joint efforts from time, state, mass matrix M and h = c + g + friction + springs."""

    @property
    def uses_dynamics(self) -> bool:
        """Whether the efforts depend on M and h. Zeros are passed where they do not."""

    @property
    def damping(self) -> Array | float:
        """Damping of each joint by the law, N m s/rad or N s/m, shape (n,), or 0.

        It only stabilises the integrator; give it where an explicit integrator could become unstable.
        """

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the joint efforts, N m or N, shape (n,)."""


class Motion(NamedTuple):
    """One instant of a motion; arrays have shape (n,)."""

    t: float
    """Time since the start, s."""
    q: Array
    """Positions, rad or m."""
    qd: Array
    """Velocities, rad/s or m/s."""
    qdd: Array
    """Accelerations, rad/s^2 or m/s^2."""
    tau: Array
    """Efforts of the motors, N m or N."""
    external: Array
    """Efforts of the contacts, J^T F, N m or N."""


class SimulatedArm:
    """An arm driven by an effort law and pushed by contacts, in simulated time, with the friction of its drives.

    The law is evaluated in the middle of each step, as a continuous controller is. The integrator is of second order
    and needs one kernel evaluation a step; see `compile_leapfrog`. It remembers the last acceleration.
    """

    def __init__(
        self,
        model: RobotModel,
        law: EffortLaw,
        q: ArrayLike,
        qd: ArrayLike | None = None,
        *,
        step: float = 1e-3,
        contacts: Iterable[Contact] = (),
    ) -> None:
        """Place the arm in a state.

        Args:
            model: the robot.
            law: the law of the motors; may be replaced at any time.
            q: joint positions, rad or m, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,); None: at rest.
            step: integration step, s.
            contacts: initial contacts. Contacts may be appended to the attribute `contacts` at any time; those that
                have ended are removed from it.

        Raises:
            InputError: the step is not positive.
        """
        if not 0 < step < np.inf:
            raise InputError("step", f"expected a positive number of seconds, got {step}")
        self.law = law
        self.step = step
        self.contacts = list(contacts)
        self._no_M, self._no_h = np.zeros((model.n, model.n)), np.zeros(model.n)
        self.replace_model(model)
        self.place(q, qd)

    def replace_model(self, model: RobotModel) -> None:
        """Go on with another model of the same joints, in the same state: a payload was taken up or lost."""
        self.model = model
        self._presliding = Presliding(model)
        self._stuck = np.zeros(model.n)  # of presliding, at this step
        self._contact_efforts = ContactEfforts(model)
        self._leapfrog = compile_leapfrog(model, self.step)

    def place(self, q: ArrayLike, qd: ArrayLike | None = None, t: float = 0.0) -> None:
        """Place the arm in a state at a time, s, which is rounded to whole steps."""
        self._steps = round(t / self.step)
        self.t = self._steps * self.step
        self.q = np.array(q, dtype=float)
        self.qd = np.zeros(self.model.n) if qd is None else np.array(qd, dtype=float)
        self._qdd: tuple[float, ...] = (0.0,) * self.model.n  # of the last step
        self._presliding.restart()
        self._follow_presliding(self.q.tolist())

    def motion(self) -> Motion:
        """Return the motion at this instant.

        Raises:
            DivergenceError: the joints have become too fast for the step.
        """
        M, net, tau, external = self._efforts(self.t, self.q, self.qd)
        return Motion(self.t, self.q.copy(), self.qd.copy(), np.linalg.solve(M, net), tau, external)

    def motor_effort(self) -> Array:
        """Return the efforts of the motors at this instant, as `motion` does, N m or N, shape (n,)."""
        return self._efforts(self.t, self.q, self.qd)[2]

    def contact_wrench(self) -> Array:
        """Return the wrench of all contacts at this instant; see `ContactEfforts.wrench`."""
        return self._contact_efforts.wrench(self.contacts, self.t, self.q, self.qd)

    def contact_effort(self) -> Array:
        """Return the efforts of all contacts at the joints at this instant, N m or N, shape (n,)."""
        return self._contact_efforts(self.contacts, self.t, self.q, self.qd)

    def tip_position(self) -> Array:
        """Return the position of the default tip in the base frame, m, shape (3,)."""
        return self._contact_efforts.position(self.model.default_tip, self.q)

    def advance(self, steps: int = 1) -> None:
        """Integrate over a number of steps.

        Raises:
            DivergenceError: the joints have become too fast for the step.
        """
        half = self.step / 2
        q, qd, given = self.q.tolist(), self.qd.tolist(), self.law.damping
        damping = [given] * len(q) if isinstance(given, float) else given.tolist()
        held = self.law.tau if type(self.law) is HeldEffort else None
        for _ in range(steps):
            if self.contacts:
                self.contacts[:] = [contact for contact in self.contacts if contact.end > self.t]
            q = [x + half * v for x, v in zip(q, qd)]
            speed = [v + half * a for v, a in zip(qd, self._qdd)]
            speed = self._turning(speed)
            if not (min(q) > -MAX_STATE and max(q) < MAX_STATE and min(speed) > -MAX_STATE and max(speed) < MAX_STATE):
                self.q, self.qd = np.array(q), np.array(qd)
                raise _too_fast(self.t)
            tau = self._efforts_in_the_middle(self.t + half, q, speed) if held is None or self.contacts else held
            if self._presliding:
                self._follow_presliding(q)
                tau = tau - self._stuck
            self._qdd = self._leapfrog(q, qd, speed, damping, tau.tolist())[0]
            qd = [v + self.step * a for v, a in zip(qd, self._qdd)]
            q = [x + half * v for x, v in zip(q, qd)]
            self._steps += 1
            self.t = self._steps * self.step
        self.q, self.qd = np.array(q), np.array(qd)

    def _turning(self, speed: list[float]) -> list[float]:
        """Return speeds at which every drive turns."""
        drives = self.model.drives
        if drives.coupled:
            speed = (drives.coupling @ speed).tolist()
        speed = [v if abs(v) > MIN_SPEED else MIN_SPEED for v in speed]
        return (drives.inverse @ speed).tolist() if drives.coupled else speed

    def _efforts_in_the_middle(self, t: float, q: list[float], speed: list[float]) -> Array:
        M, h = self._mass_matrix_and_bias(q, speed) if self.law.uses_dynamics else (self._no_M, self._no_h)
        positions, velocities = np.array(q), np.array(speed)
        tau = self.law(t, positions, velocities, M, h)
        return tau + self._contact_efforts(self.contacts, t, positions, velocities) if self.contacts else tau

    def _efforts(self, t: float, q: Array, qd: Array) -> tuple[Array, Array, Array, Array]:
        """Return the mass matrix, the accelerating efforts, and the efforts of motors and contacts."""
        state = q.tolist(), qd.tolist()
        if not all(-MAX_STATE < x < MAX_STATE for numbers in state for x in numbers):
            raise _too_fast(t)
        M, h = self._mass_matrix_and_bias(*state)
        tau = self.law(t, q, qd, M, h)
        external = self._contact_efforts(self.contacts, t, q, qd)
        return M, tau + external - h - self._stuck, tau, external

    def _mass_matrix_and_bias(self, q: list[float], qd: list[float]) -> tuple[Array, Array]:
        M, h = _dynamics_kernel(self.model)(q, qd)
        return np.array(M), np.array(h)

    def _follow_presliding(self, q: list[float]) -> None:
        if self._presliding:
            self._stuck = np.array(self._presliding.update(q))


@lru_cache(maxsize=256)
def _dynamics_kernel(model: RobotModel) -> Kernel:
    """Compile mass matrix and effort, which the integrator mostly does without."""
    return compile_kernel(model, ("mass_matrix", "effort"), scalar_backend(), ("q", "qd"))


def _too_fast(t: float) -> DivergenceError:
    return DivergenceError(t, "joints are too fast for the integration step; apply smaller efforts and forces")


class ComputedTorque:
    """Track a trajectory: ``tau = M (qdd_d + Kd (qd_d - qd) + Kp (q_d - q)) + h`` (Craig section 10.4)."""

    uses_dynamics = True
    damping = 0.0

    def __init__(self, trajectory: DemoTrajectory, bandwidth: float = 20.0) -> None:
        """Track a trajectory with critically damped errors of the given bandwidth, rad/s."""
        self.trajectory = trajectory
        self.Kp = bandwidth**2
        self.Kd = 2 * bandwidth

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        q_d, qd_d, qdd_d = self.trajectory.at(t)
        return M @ (qdd_d + self.Kd * (qd_d - qd) + self.Kp * (q_d - q)) + h


class HeldEffort:
    """Apply constant efforts, as a forward_command_controller holds its last command for ever."""

    uses_dynamics = False
    damping = 0.0

    def __init__(self, tau: ArrayLike, limit: ArrayLike) -> None:
        """Hold `tau`, saturated at the effort limits, N m or N, both of shape (n,)."""
        self.tau = clip(np.asarray(tau, dtype=float), -np.asarray(limit), limit)

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Return the efforts; see `EffortLaw`."""
        return self.tau
