"""What the motors of an arm exert, part by part: inertia, Coriolis and gravity add up to inverse dynamics.

You learn `rnea` and its terms, batches of states, and that forward dynamics undoes inverse dynamics.
"""

import numpy as np
from arm import arm

from ros2_dyn import RobotModel, coriolis, forward_dynamics, gravity, mass_matrix, rnea


def main(model: RobotModel | None = None) -> dict[str, np.ndarray]:
    """Print the parts of one effort; return the errors of three identities."""
    model = model or arm()
    middle = (np.clip(model.lower, -np.pi, np.pi) + np.clip(model.upper, -np.pi, np.pi)) / 2
    q, qd, qdd = middle + 0.3, np.full(model.n, 0.5), np.full(model.n, 1.0)

    tau = rnea(model, q, qd, qdd)
    parts = {"inertia": mass_matrix(model, q) @ qdd, "Coriolis": coriolis(model, q, qd), "gravity": gravity(model, q)}
    for name, effort in {**parts, "sum": tau}.items():
        print(f"{name:9}", " ".join(f"{x:8.2f}" for x in effort), "N m")

    many = np.linspace(q, q + 0.5, 1000)  # leading axes are a batch: a thousand states in one call
    efforts = rnea(model, many, qd, qdd)
    return {
        "parts": sum(parts.values()) - tau,
        "undone": forward_dynamics(model, q, qd, tau) - qdd,
        "batch": efforts[500] - rnea(model, many[500], qd, qdd),
    }


if __name__ == "__main__":
    main()
