"""A controller of your own on a simulated arm: gravity compensation that takes kinetic energy at a known rate.

You learn the simulated arm, its effort laws, and control laws as functions of a state: `dT/dt = -2 damping T`.
"""

import numpy as np
from arm import MOCK_ARM, arm

from ros2_dyn import RobotModel
from ros2_dyn.control import arm_state, gravity_compensation
from ros2_dyn.dynamics import kinetic_energy
from ros2_dyn.simulation import SimulatedArm

DAMPING = 2.0


class GravityCompensation:
    """The law of the motors, evaluated inside the integrator."""

    uses_dynamics, damping = False, 0.0

    def __init__(self, model: RobotModel) -> None:
        self.model = model

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray, M: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return the efforts; the mass matrix M and h are not needed."""
        return gravity_compensation(arm_state(self.model, q, qd), DAMPING)


def main(model: RobotModel | None = None) -> dict[str, float]:
    """Push an arm off, and watch it come to rest; return its kinetic energy after half a second, and that of theory."""
    model = model or arm(MOCK_ARM)
    q, qd = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0]), np.full(model.n, 0.6)
    pushed = SimulatedArm(model, GravityCompensation(model), q, qd, step=5e-3)
    begin = kinetic_energy(model, q, qd)
    pushed.advance(100)
    end, theory = kinetic_energy(model, pushed.q, pushed.qd), begin * np.exp(-2 * DAMPING * pushed.t)
    print(f"kinetic energy {begin:.4f} J, after {pushed.t:.1f} s {end:.5f} J; in theory {theory:.5f} J")
    return {"energy": float(end), "theory": float(theory)}


if __name__ == "__main__":
    main()
