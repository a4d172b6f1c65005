"""A recording of a simulated motion, for the examples: all joints swing, and the efforts are those of a model."""

import numpy as np

from ros2_dyn import RobotModel, rnea
from ros2_dyn.dynamics import friction
from ros2_dyn_tools.recording import Recording

RATE = 200.0
"""States per second."""


def record(model: RobotModel, seconds: float, noise: float = 0.0, seed: int = 1) -> Recording:
    """Return a motion of a robot with its friction, and white noise on its efforts, N m or N.

    Each joint is the sum of two sines, so that positions, velocities and accelerations are exact.
    """
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1.0 / RATE)
    q, qd, qdd = np.zeros((3, len(t), model.n))
    for k in range(model.n):
        for frequency in rng.uniform(0.1, 0.5, 2):
            w, size, phase = 2 * np.pi * frequency, rng.uniform(0.3, 0.6), rng.uniform(0, 2 * np.pi)
            q[:, k] += size * np.sin(w * t + phase)
            qd[:, k] += size * w * np.cos(w * t + phase)
            qdd[:, k] -= size * w**2 * np.sin(w * t + phase)
    effort = rnea(model, q, qd, qdd) + friction(model, qd) + noise * rng.standard_normal(q.shape)
    return Recording(t, q, qd, effort)
