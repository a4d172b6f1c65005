"""An arm that moves as its model says: ``M(q) qdd = tau - h(q, qd)``, integrated with classical Runge-Kutta."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.mock_arm.demo_trajectory import DemoTrajectory
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array


class EffortLaw(Protocol):
    """What the arm's motors do: joint efforts from time, state, mass matrix M and bias h = c + g."""

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """Joint efforts, N m or N, shape (n,)."""


class Motion(NamedTuple):
    """One instant of a motion; arrays have shape (n,)."""

    t: float
    """s since the start."""
    q: Array
    """rad or m."""
    qd: Array
    """rad/s or m/s."""
    qdd: Array
    """rad/s^2 or m/s^2."""
    tau: Array
    """The efforts that the motors apply, N m or N."""


class SimulatedArm:
    """A rigid arm driven by an effort law, in simulated time.

    The law is evaluated inside the integrator, so that it acts as a continuous controller.
    """

    def __init__(
        self, model: RobotModel, law: EffortLaw, q: ArrayLike, qd: ArrayLike | None = None, step: float = 1e-3
    ) -> None:
        """Put the arm into a state.

        Args:
            model: the robot.
            law: what its motors do; may be replaced at any time.
            q: joint positions, rad or m, shape (n,).
            qd: joint velocities, rad/s or m/s, shape (n,); at rest for None.
            step: integration step, s.

        Raises:
            InputError: the step is not positive.
        """
        if not 0 < step < np.inf:
            raise InputError("step", f"expected a positive number of seconds, got {step}")
        self.model = model
        self.law = law
        self.step = step
        self.t = 0.0
        self.q = np.array(q, dtype=float)
        self.qd = np.zeros(model.n) if qd is None else np.array(qd, dtype=float)
        self._kernel = compile_kernel(model, ("mass_matrix", "bias"), backend="python")
        self._steps = 0

    def motion(self) -> Motion:
        """What the arm does at this instant."""
        qdd, tau = self._accelerate(self.t, self.q, self.qd)
        return Motion(self.t, self.q.copy(), self.qd.copy(), qdd, tau)

    def advance(self, steps: int = 1) -> None:
        """Integrate over a number of steps."""
        for _ in range(steps):
            self._runge_kutta()

    def _accelerate(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        M, h = (np.array(output) for output in self._kernel(q.tolist(), qd.tolist()))
        tau = self.law(t, q, qd, M, h)
        return np.linalg.solve(M, tau - h), tau

    def _runge_kutta(self) -> None:
        t, q, qd, dt = self.t, self.q, self.qd, self.step
        a1, _ = self._accelerate(t, q, qd)
        v2 = qd + dt / 2 * a1
        a2, _ = self._accelerate(t + dt / 2, q + dt / 2 * qd, v2)
        v3 = qd + dt / 2 * a2
        a3, _ = self._accelerate(t + dt / 2, q + dt / 2 * v2, v3)
        v4 = qd + dt * a3
        a4, _ = self._accelerate(t + dt, q + dt * v3, v4)
        self.q = q + dt / 6 * (qd + 2 * v2 + 2 * v3 + v4)
        self.qd = qd + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        self._steps += 1
        self.t = self._steps * dt


class ComputedTorque:
    """Track a trajectory: ``tau = M (qdd_d + Kd (qd_d - qd) + Kp (q_d - q)) + h`` (Craig section 10.4)."""

    def __init__(self, trajectory: DemoTrajectory, bandwidth: float = 20.0) -> None:
        """Track the trajectory with critically damped errors of the given bandwidth, rad/s."""
        self.trajectory = trajectory
        self.Kp = bandwidth**2
        self.Kd = 2 * bandwidth

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """See `EffortLaw`."""
        q_d, qd_d, qdd_d = self.trajectory.at(t)
        return M @ (qdd_d + self.Kd * (qd_d - qd) + self.Kp * (q_d - q)) + h


class HeldEffort:
    """Apply the same efforts whatever happens, as a forward_command_controller holds its last command."""

    def __init__(self, tau: ArrayLike, limit: ArrayLike) -> None:
        """Hold `tau`, saturated at the effort limits, N m or N, both of shape (n,)."""
        self.tau = np.clip(np.asarray(tau, dtype=float), -np.asarray(limit), limit)

    def __call__(self, t: float, q: Array, qd: Array, M: Array, h: Array) -> Array:
        """See `EffortLaw`."""
        return self.tau
