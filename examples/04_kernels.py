"""The same functions, traced once per robot into straight-line code: a hundred times faster, and readable.

You learn `compile_kernel`, its outputs and inputs, and to read the program of a pendulum.
"""

import numpy as np
from arm import arm

from ros2_dyn import RobotModel, compile_kernel, gravity, rnea
from ros2_dyn.model import DHRow


def main(model: RobotModel | None = None) -> dict[str, np.ndarray]:
    """Print the source of a pendulum's kernel; return what kernels of an arm differ by from the book."""
    pendulum = RobotModel.from_dh([DHRow(mass=2.0, com=(0.5, 0, 0), I_com=np.diag([0, 0.1, 0.1]))])
    kernel = compile_kernel(pendulum, ("tau",), "python", inputs=("q", "qdd", "gravity"))
    print(kernel.source.split("def ")[1])
    (tau,) = kernel([0.3], [2.0], (0.0, -9.81, 0.0))
    swinging = 0.6 * 2.0 + 2.0 * 9.81 * 0.5 * np.cos(0.3)  # (I + m l^2) qdd + m g l cos(q)

    model = model or arm()
    q, qd, qdd = (np.random.default_rng(seed).uniform(-1, 1, (50, model.n)) for seed in (1, 2, 3))
    together = compile_kernel(model, ("tau", "gravity"), "numpy")  # one program for both; "c" where there is a compiler
    fast_tau, fast_gravity = together(q, qd, qdd)
    differences = {
        "pendulum": np.array(tau[0] - swinging),
        "tau": fast_tau - rnea(model, q, qd, qdd),
        "gravity": fast_gravity - gravity(model, q),
    }
    largest = max(float(np.max(np.abs(each))) for each in differences.values())
    print(f"kernels of the pendulum and of '{model.name}' differ from the book by {largest:.1g} N m or N at most")
    return differences


if __name__ == "__main__":
    main()
