"""A model without any masses, found from a motion: least squares on the base parameters.

You learn the regressor `Y` with `tau = Y theta`, and that combinations of inertias are all that it takes.
"""

import numpy as np
from arm import MOCK_ARM, arm
from recorded import record

from ros2_dyn import RobotModel, rnea
from ros2_dyn.dynamics import inertial_parameters, regressor
from ros2_dyn_tools.identification.base_parameters import base_parameters


def main(model: RobotModel | None = None) -> dict[str, np.ndarray]:
    """Fit one motion, and predict another one; return the errors of the parameters and of the prediction."""
    model = model or arm(MOCK_ARM)
    base = base_parameters(model)
    t, q, qd, effort = record(model, seconds=10.0)
    qdd = np.gradient(qd, t, axis=0)
    inside = slice(5, -5)  # differences are one-sided at the ends
    Y = regressor(model, q[inside], qd[inside], qdd[inside]).reshape(-1, 10 * model.n)
    theta, *_ = np.linalg.lstsq(base.columns(Y), effort[inside].ravel(), rcond=None)
    true = base.of(inertial_parameters(model))
    print(f"{10 * model.n} inertial parameters, of which {len(base)} combinations act on the efforts, such as")
    print("   ", base.combinations()[0])

    other_q, other_qd, other_qdd = np.random.default_rng(7).uniform(-2, 2, (3, 100, model.n))
    predicted = base.columns(regressor(model, other_q, other_qd, other_qdd).reshape(-1, 10 * model.n)) @ theta
    exact = rnea(model, other_q, other_qd, other_qdd)
    worst = np.max(np.abs(predicted - exact.ravel()))
    print(f"efforts of other states, up to {np.abs(exact).max():.0f} N m, are predicted within {worst:.2g} N m")
    return {"theta": theta - true, "predicted": predicted - exact.ravel(), "count": np.array(len(base))}


if __name__ == "__main__":
    main()
