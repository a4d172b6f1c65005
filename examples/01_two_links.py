"""The planar arm of the textbooks from a DH table: its gravity, mass matrix and Coriolis efforts in closed form.

You learn to make a model without a URDF, and that numbers agree with what can be computed by hand (Craig, example 6.3).
"""

import numpy as np

from ros2_dyn import RobotModel, coriolis, gravity, mass_matrix
from ros2_dyn.model import DHRow

L1, L2, M1, M2, G = 1.0, 0.8, 2.0, 1.5, 9.81


def two_links() -> RobotModel:
    """Return two point masses at the ends of two links that turn about z; the first link begins at the base."""
    rows = [DHRow(mass=M1, com=(L1, 0, 0)), DHRow(a=L1, mass=M2, com=(L2, 0, 0))]
    return RobotModel.from_dh(rows, modified=True)


def by_hand(q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M, c and g of the same arm as Craig writes them; y points up."""
    (q1, q2), (v1, v2) = q, qd
    c2, s2 = np.cos(q2), np.sin(q2)
    m12 = L2**2 * M2 + L1 * L2 * M2 * c2
    M = np.array([[(M1 + M2) * L1**2 + L2**2 * M2 + 2 * L1 * L2 * M2 * c2, m12], [m12, L2**2 * M2]])
    c = M2 * L1 * L2 * s2 * np.array([-(v2**2) - 2 * v1 * v2, v1**2])
    outer = M2 * L2 * G * np.cos(q1 + q2)
    return M, c, np.array([outer + (M1 + M2) * L1 * G * np.cos(q1), outer])


def main() -> dict[str, np.ndarray]:
    """Compute both ways; return the differences."""
    model, q, qd = two_links(), np.array([0.3, -0.9]), np.array([0.7, 1.1])
    M, c, g = by_hand(q, qd)
    found = mass_matrix(model, q), coriolis(model, q, qd), gravity(model, q, gravity=(0, -G, 0))
    for name, ours, exact in zip(("M", "c", "g"), found, (M, c, g)):
        print(f"{name} by ros2_dyn {np.round(ours, 4).tolist()}, by hand {np.round(exact, 4).tolist()}")
    return {"M": found[0] - M, "c": found[1] - c, "g": found[2] - g}


if __name__ == "__main__":
    main()
