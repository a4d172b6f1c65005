# SPDX-License-Identifier: Apache-2.0
"""What drivers measure in tests: arms that stand, obey or swing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from robots import mock_arm
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import RobotModel

MODEL = mock_arm()
HOME = np.array([0.3, -1.2, 1.4, -1.8, -1.57, 0.2])


class Arm(Protocol):
    """What the driver measures."""

    def measure(self, t: float) -> tuple[Any, Any, Any]:
        """Return positions, velocities and efforts at a time, s, each of shape (n,); efforts may be empty."""

    def command(self, effort: list[float]) -> None:
        """Take the newest command, N m or N."""


class StandingArm:
    """An arm that stays where it is, whatever is commanded. Its velocities never repeat, so that it is not frozen."""

    def __init__(self, q: Any = HOME, speed: float = 0.01, model: RobotModel = MODEL) -> None:
        self.q, self.speed, self.model = np.array(q), speed, model
        self.effort: Any = None
        """Measured efforts, N m or N; None: those that carry it."""

    def measure(self, t: float) -> tuple[Any, Any, Any]:
        """See `Arm`."""
        qd = self.speed * np.cos(t + np.arange(self.model.n))
        return self.q, qd, gravity(self.model, self.q) if self.effort is None else self.effort

    def command(self, effort: list[float]) -> None:
        """See `Arm`."""


class ObedientArm(StandingArm):
    """A standing arm whose joints exert what is commanded."""

    def command(self, effort: list[float]) -> None:
        """See `Arm`."""
        if len(effort) == self.model.n:
            self.effort = effort


def swing(t: float, joints: int = 6, amplitude: float = 0.3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations at a time, s, of the first joints that swing about home."""
    w, a = np.array([2.0, 3.0, 2.5, 4.0, 5.0, 3.5])[:joints], amplitude
    return HOME[:joints] + a * np.sin(w * t), a * w * np.cos(w * t), -a * w**2 * np.sin(w * t)


class SwingingArm:
    """An arm that swings about home with efforts that fit its motion, pushed from outside if wanted."""

    def __init__(self, inverse_dynamics: Callable[[Any, Any, Any], Any], amplitude: float = 0.3) -> None:
        self.inverse_dynamics, self.amplitude = inverse_dynamics, amplitude
        self.push: Callable[[np.ndarray], Any] = lambda q: np.zeros(len(q))
        """External effort at joint positions, N m or N."""
        self.q = HOME

    def measure(self, t: float) -> tuple[Any, Any, Any]:
        """See `Arm`."""
        self.q, qd, qdd = swing(t, amplitude=self.amplitude)
        return self.q, qd, self.inverse_dynamics(self.q, qd, qdd) - self.push(self.q)

    def command(self, effort: list[float]) -> None:
        """See `Arm`."""
