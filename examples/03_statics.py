"""Which efforts hold a force at the tip, and why: the Jacobian, its transpose, and virtual work.

You learn the order of Jacobian rows (linear first), `static_torque`, and what a singularity does to forces.
"""

import numpy as np
from arm import MOCK_ARM, arm

from ros2_dyn import RobotModel, jacobian, static_torque
from ros2_dyn.dynamics import singularity


def main(model: RobotModel | None = None) -> dict[str, np.ndarray]:
    """Press down with 20 N; return errors of the principle of virtual work, and the effort at the stretched elbow."""
    model = model or arm(MOCK_ARM)
    q = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0])
    press = np.array([0, 0, -20, 0, 0, 0])  # N, N m: what the tip exerts, in the base's axes

    tau = static_torque(model, q, press)
    print("efforts that press with 20 N:", np.round(tau, 2), "N m, beside those that carry the arm")
    dq = 1e-3 * np.array([1, -2, 3, -1, 2, 1])
    twist = jacobian(model, q) @ dq
    print("work of the motors", tau @ dq, "J, of the tip", press @ twist, "J")

    stretched = np.array([0.0, -1.2, 0.0, -1.8, -1.57, 0.0])
    found = singularity(model, stretched)
    print(f"with the elbow stretched the arm is at a singularity: {found.kind}")
    lost = np.linalg.svd(jacobian(model, stretched))[0][:, -1]  # the direction in which the tip cannot move
    return {"work": np.array(tau @ dq - press @ twist), "lost": static_torque(model, stretched, lost)}


if __name__ == "__main__":
    main()
