"""A contact found from joint efforts alone: when, on which link, and with which force.

You learn the momentum observer, its delay `-ln(1 - threshold / step) / bandwidth`, and the wrench at the tip.
"""

import numpy as np
from arm import MOCK_ARM, arm

from ros2_dyn import RobotModel, compile_kernel, gravity, jacobian
from ros2_dyn.estimation import OBSERVER_TERMS, CollisionDetector, MomentumObserver, tip_wrench

BANDWIDTH, PERIOD, THRESHOLD = 25.0, 0.001, 2.0
FORCE = np.array([0.0, 0.0, -30.0, 0.0, 0.0, 0.0])  # N, N m: of the surroundings on the tip


def main(model: RobotModel | None = None) -> dict[str, float | np.ndarray]:
    """Push the tip of an arm at rest; return the delay of the detection, that of theory, and the force found."""
    model = model or arm(MOCK_ARM)
    q, at_rest = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0]), [0.0] * model.n
    pushed = jacobian(model, q).T @ FORCE
    terms = compile_kernel(model, OBSERVER_TERMS, "python", inputs=("q", "qd"))(list(q), at_rest)
    observer = MomentumObserver(bandwidth=BANDWIDTH)
    detector = CollisionDetector((THRESHOLD,) * model.n)

    found = 0.0
    for k in range(1000):  # the contact begins at k = 100, and carries its part of the weight
        measured = gravity(model, q) - (k >= 100) * pushed
        observer.observe(k * PERIOD, measured, terms)
        if detector.update(observer.value):
            found = (k - 99.5) * PERIOD
    theory = -np.log(1 - THRESHOLD / np.abs(pushed).max()) / BANDWIDTH
    wrench = tip_wrench(jacobian(model, q), observer.value).wrench
    print(f"detected after {1e3 * found:.1f} ms; in theory after {1e3 * theory:.1f} ms")
    print("force on the tip:", np.round(wrench[:3], 2), "N; it was", FORCE[:3], "N")
    return {"delay": found, "theory": theory, "wrench": np.array(wrench)}


if __name__ == "__main__":
    main()
